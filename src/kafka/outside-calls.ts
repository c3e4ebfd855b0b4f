/** Replaces plugs that call the outside: a call becomes a record of `effects`, and its result returns as an input. */
import type { Plug } from '#core'
import type { Execution } from '#core/spi'
import { isPlainObject } from '#kernel'
import type { EffectRecord } from './contract.ts'
import { PLUGS_WITH_OUTPUTS } from './output-services.ts'

/** What a plug saw when the engine called it; the execution follows when the engine reports the open call. */
export type SeenCall = Omit<EffectRecord, 'partition' | 't' | 'e' | 'x' | 'c'>

type Context = Parameters<Plug['execute']>[0]

/** `called`: receives each call of an outside plug, before the engine reports it as open. */
export function withOutsideCalls(plugs: readonly Plug[], called: (call: SeenCall) => void): readonly Plug[] {
  return plugs.map((plug) => (isOutside(plug) ? Object.freeze({ ...plug, execute: later(plug, called) }) : plug))
}

/** Whether calls end at an unknown time. A plug that is declared async may do anything. */
export function isOutside({ name, execute }: Plug): boolean {
  return execute.constructor.name === 'AsyncFunction' && !PLUGS_WITH_OUTPUTS.has(name)
}

export function effectOf(call: SeenCall, task: string, epoch: number, { id: x, calls: c }: Execution) {
  return { ...call, t: task, e: epoch, x, c }
}

/** Declared async, so that the engine treats it as the plug that it replaces. */
function later({ name, version, kind }: Plug, called: (call: SeenCall) => void): Plug['execute'] {
  return async (context: Context) => {
    const { id, node, task, now, hops, root, properties, streamData } = context
    called({
      effect: id,
      kind,
      plug: `${name}:${version}`,
      node: node.NAME,
      ...(node.RESOURCE !== undefined && { nodeResource: node.RESOURCE }),
      ...(task.RESOURCE !== undefined && { resource: task.RESOURCE }),
      time: now,
      hops,
      ...(root !== undefined && { root }),
      properties: isPlainObject(properties) ? { ...properties } : {},
      streamData: { ...streamData },
    })
    return new Promise<never>(() => undefined)
  }
}
