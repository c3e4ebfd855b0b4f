/** Replaces plugs for runs without outside effects. */
import { actsWith, type Plug, type PlugContext } from '#core'
import type { PlugAnswer } from '#core/spi'

const SUCCESS = 'Success'

/** Leaves out calls with outside effects; a sensor takes the state `Success` if it has one, so that later nodes run. */
export function dryPlugs(
  plugs: readonly Plug[],
  spared: Set<string>,
  note?: (plug: Plug, context: PlugContext) => void,
): readonly Plug[] {
  return plugs.map((plug) => {
    if (plug.acts === false) return plug
    const execute: Plug['execute'] = (context) => {
      if (!actsWith(plug, context.properties)) return plug.execute(context)
      note?.(plug, context)
      return spare(plug, context, spared)
    }
    return { ...plug, steps: undefined, execute }
  })
}

function spare({ name, kind, states }: Plug, context: PlugContext, spared: Set<string>): PlugAnswer {
  spared.add(context.task.NODE_NAME)
  if (kind === 'actuator') return undefined
  const state = states.includes(SUCCESS) ? SUCCESS : undefined
  context.log.info(
    `${name} has an effect and was not called; ${state === undefined ? 'it has no state' : `its state is assumed to be ${state}`}`,
  )
  return state
}
