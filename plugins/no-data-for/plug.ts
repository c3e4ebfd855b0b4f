/** A sensor that detects silence: No Data after a duration without a message. */
import { definePlug, endOfWait, isKnown, lengthOf, ofData, type PlugContext, problemsOfCode } from '#plug'

export const noDataFor = definePlug({
  name: 'noDataFor',
  version: '2.0.0',
  compatible: '>=1.0.0 <2',
  kind: 'sensor',
  description:
    'Data when a message arrives, No Data after a duration without one. After a downtime of the host the wait begins again, for at most ten minutes. A run without a message, such as a tick at the start, begins the wait, so that a device that never sends is reported too.',
  category: 'Time',
  tellsSilence: true,
  downtime: 'restart',
  // absence matters too
  parameters: () => undefined,
  states: ['Data', 'No Data'],
  input: {
    duration: {
      type: 'string',
      mandatory: true,
      format: { type: 'duration' },
      description: 'maximal silence: 250ms, 30s, 5m, 2h, 1d, or ISO 8601 such as PT5M',
      example: '10m',
    },
    parameter: {
      type: 'string',
      description:
        'required value of the message; null and other unknown values do not count. Default: any message counts',
      example: 'temperature',
    },
  },
  output: {
    last: {
      type: 'long',
      description: 'arrival of the last message, or begin of the wait, in epoch milliseconds',
      unit: 'ms',
    },
    silence: { type: 'long', description: 'silence so far, in milliseconds', unit: 'ms' },
  },
  check: ({ duration }) => problemsOfCode('duration', duration, lengthOf),
  prepare: ({ duration }) => lengthOf(duration),
  execute(context) {
    const { now, prepared: duration, internalState: kept } = context
    const before = isMemory(kept) ? kept : undefined
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
  /** last arrival of a null or otherwise unknown value */
  blank?: number
}

function arrivalOf(
  context: Pick<PlugContext, 'streamTime' | 'streamValue'>,
  parameter: string | undefined,
  blank: number | undefined,
): { readonly came: number | undefined; readonly blank: number | undefined } {
  const at = context.streamTime(parameter)
  if (parameter === undefined) return { came: at, blank: undefined }
  const value = context.streamValue(parameter)
  if (isKnown(ofData(value))) return { came: at, blank }
  // even outside the scope, it may be the unknown value
  if (value === undefined) return { came: at === blank ? undefined : at, blank }
  return { came: undefined, blank: at }
}

function isMemory(state: unknown): state is Memory {
  return typeof state === 'object' && state !== null && 'last' in state
}
