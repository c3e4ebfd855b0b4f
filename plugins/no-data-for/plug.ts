/** A sensor that notices silence: No Data once nothing came for a duration. */
import { definePlug, endOfWait, isKnown, lengthOf, ofData, type PlugContext, problemsOfCode } from '#plug'

/** `No Data` once no message came for a duration. */
export const noDataFor = definePlug({
  name: 'noDataFor',
  version: '2.0.0',
  compatible: '>=1.0.0 <2',
  kind: 'sensor',
  description:
    'Data when a message arrives, No Data once none has come for a duration. After a downtime of the host the wait begins again, for at most ten minutes. A run without a message, such as a tick at the start, begins the wait, so that a device that never sends is reported too.',
  category: 'Time',
  tellsSilence: true,
  downtime: 'restart',
  // absence is its news
  parameters: () => undefined,
  states: ['Data', 'No Data'],
  input: {
    duration: {
      type: 'string',
      mandatory: true,
      format: { type: 'duration' },
      description: 'how long nothing may come: 250ms, 30s, 5m, 2h, 1d, or ISO 8601 such as PT5M',
      example: '10m',
    },
    parameter: {
      type: 'string',
      description:
        'the value of the message that must come; null and what else is unknown is none. Without it any message will do',
      example: 'temperature',
    },
  },
  output: {
    last: {
      type: 'long',
      description: 'when the last message came, or the wait began, in epoch milliseconds',
      unit: 'ms',
    },
    silence: { type: 'long', description: 'for how long nothing came, in milliseconds', unit: 'ms' },
  },
  check: ({ duration }) => problemsOfCode('duration', duration, lengthOf),
  prepare: ({ duration }) => lengthOf(duration),
  execute(context) {
    const { now, prepared: duration } = context
    const before = isMemory(context.internalState) ? context.internalState : undefined
    const { came, blank } = arrivalOf(context, context.properties.parameter, before?.blank)
    const memory: Memory = {
      last: before === undefined ? (came ?? now) : Math.max(before.last, came ?? before.last),
      ...(blank !== undefined && { blank }),
    }
    const silence = now - memory.last
    const end = endOfWait(memory.last, duration, context.downtime)
    const gone = { last: memory.last, silence: end - memory.last }
    if (now >= end) return { state: 'No Data', rawData: { last: memory.last, silence }, internalState: memory }
    return {
      state: 'Data',
      rawData: { last: memory.last, silence },
      internalState: memory,
      then: { state: 'No Data', after: end - now, whole: duration, rawData: gone },
    }
  },
})

interface Memory {
  last: number
  /** when the value came last as null or else unknown */
  blank?: number
}

/** When the value came last, as far as it was known then, and when it came unknown. */
function arrivalOf(
  context: Pick<PlugContext, 'streamTime' | 'streamValue'>,
  parameter: string | undefined,
  blank: number | undefined,
): { readonly came: number | undefined; readonly blank: number | undefined } {
  const at = context.streamTime(parameter)
  if (parameter === undefined) return { came: at, blank: undefined }
  const value = context.streamValue(parameter)
  if (isKnown(ofData(value))) return { came: at, blank }
  // out of reach it may still be what came unknown
  if (value === undefined) return { came: at === blank ? undefined : at, blank }
  return { came: undefined, blank: at }
}

function isMemory(state: unknown): state is Memory {
  return typeof state === 'object' && state !== null && 'last' in state
}
