/** Replaces plugs for shadows: a call with an outside effect is not made, and is answered `simulated`. */
import { actsWith, type Plug } from '#core'
import type { PlugAnswer } from '#core/spi'

const SUCCESS = 'Success'
const SIMULATED = 'simulated'
const made = new WeakMap<readonly Plug[], readonly Plug[]>()
const simulated = new WeakSet<Plug>()

/** Returns the same array for the same plugs. */
export function shadowPlugs(plugs: readonly Plug[]): readonly Plug[] {
  const known = made.get(plugs)
  if (known !== undefined) return known
  const all = plugs.map(shadowPlug)
  made.set(plugs, all)
  return all
}

/** Whether every call of the plug is answered here and at once, whatever the same plug does elsewhere. */
export function isSimulated(plug: Plug): boolean {
  return simulated.has(plug)
}

function shadowPlug(plug: Plug): Plug {
  const { acts } = plug
  if (acts === false) return plug
  if (acts === true) {
    const own: Plug = { ...plug, steps: undefined, execute: () => answerOf(plug) }
    simulated.add(own)
    return own
  }
  // asynchronous for every call, so that a replay takes all outcomes from the log
  const execute: Plug['execute'] = async (context) =>
    actsWith(plug, context.properties) ? answerOf(plug) : await plug.execute(context)
  return { ...plug, steps: undefined, execute }
}

function answerOf({ kind, states }: Plug): PlugAnswer {
  if (kind === 'actuator') return { message: SIMULATED }
  return { ...(states.includes(SUCCESS) && { state: SUCCESS }), rawData: { [SIMULATED]: true } }
}
