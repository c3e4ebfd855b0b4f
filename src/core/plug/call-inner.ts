/** Calls a sensor from within a call of another plug. */
import { AppError, messageOf } from '#kernel'
import type { Plug, PlugContext } from './plug.ts'
import { finishProperties } from './properties.ts'
import { readAnswer } from './result.ts'

export type InnerResult =
  | { readonly state?: string; readonly rawData?: Readonly<Record<string, unknown>>; readonly internalState?: unknown }
  | { readonly error: string }

/**
 * Calls a sensor with its own properties and the memory that the caller keeps for it, in the caller's context. `part`:
 * number of this call within the caller, which keeps ids distinct. Delayed results apply at once. Never throws: a
 * failure is returned as a value.
 */
export async function callInner(
  plug: Plug,
  outer: PlugContext,
  rendered: Readonly<Record<string, unknown>>,
  internalState: unknown,
  part?: number,
): Promise<InnerResult> {
  try {
    const { properties, problems } = finishProperties(plug, rendered)
    if (problems) throw new AppError('PLUG_FAILED', problems.map(({ message }) => message).join('; '))
    const answer = readAnswer(plug, await plug.execute(innerContext(plug, outer, properties, internalState, part)))
    if (!answer.ok) return { error: answer.error }
    const state = plug.states[answer.state]
    return {
      ...(state !== undefined && { state }),
      ...(answer.rawData && { rawData: answer.rawData }),
      ...(answer.internalState !== undefined && { internalState: answer.internalState }),
    }
  } catch (error) {
    return { error: messageOf(error) }
  }
}

function innerContext(
  plug: Plug,
  outer: PlugContext,
  properties: Readonly<Record<string, unknown>>,
  internalState: unknown,
  part: number | undefined,
): PlugContext {
  return {
    properties,
    prepared: plug.prepare?.(properties),
    internalState,
    number: (name, options) => outer.number(name, options),
    text: (name) => outer.text(name),
    streamValue: (key) => outer.streamValue(key),
    streamTime: (key) => outer.streamTime(key),
    isNew: (key) => outer.isNew(key),
    isNewOf: (label) => outer.isNewOf(label),
    get late() {
      return outer.late
    },
    lookup: (path) => outer.lookup(path),
    random: () => outer.random(),
    get streamData() {
      return outer.streamData
    },
    get rawData() {
      return outer.rawData
    },
    get actuatorData() {
      return outer.actuatorData
    },
    task: outer.task,
    node: outer.node,
    globalSettings: outer.globalSettings,
    now: outer.now,
    id: part === undefined ? outer.id : `${outer.id}.${part}`,
    hops: outer.hops,
    ...(outer.root !== undefined && { root: outer.root }),
    ...(outer.unordered === true && { unordered: true }),
    log: outer.log,
    signal: outer.signal,
  }
}
