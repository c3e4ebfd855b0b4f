/** Which events somebody wants: by type and by task. Types are bits of one number, so that a set of them is asked at once. */
import { AppError } from '#kernel'
import type { EventType } from './events.ts'

/** What is left out stands for all. */
export interface EventFilter {
  /** events of these types alone */
  readonly types?: readonly EventType[]
  /** events of the tasks with these ids alone, now and whenever there is one; other tasks pay nothing for it */
  readonly tasks?: readonly string[]
  /** default as `EngineOptions.why`; false: `fired` events come without their why, for who does not read it: it is made for each */
  readonly why?: boolean
}

const TYPES = [
  'started',
  'tick',
  'data',
  'state',
  'gate',
  'fired',
  'held',
  'result',
  'evicted',
  'log',
  'stopped',
  'failed',
] as const satisfies readonly EventType[]

const BITS: ReadonlyMap<string, number> = new Map(TYPES.map((type, i) => [type, 1 << i]))

export const DATA = typeBits(['data'])
export const STATE = typeBits(['state'])
export const GATE = typeBits(['gate'])
export const RESULT = typeBits(['result'])
export const FIRED = typeBits(['fired'])
export const HELD = typeBits(['held'])
export const LOG = typeBits(['log'])
/** Every type. */
export const ALL_TYPES = typeBits(TYPES)
/** Types of what happens at every message; `result` only when it has no error. */
export const DETAIL_TYPES = typeBits(['tick', 'data', 'state', 'gate', 'result'])
/** Types of what is rare and worth keeping; `result` only when it has an error. */
export const RARE_TYPES = typeBits(['started', 'stopped', 'failed', 'log', 'result'])
/** Types that are told whatever `EngineOptions.detail` says. */
export const PLAIN_TYPES = typeBits(['fired', 'held', 'evicted'])

export function typeBit(type: EventType): number {
  return BITS.get(type) ?? 0
}

function typeBits(types: readonly EventType[]): number {
  return types.reduce((bits, type) => bits | typeBit(type), 0)
}

/** The types that a filter lets through, as bits. `VALIDATION` for one that there is none of. */
export function typesOf({ types }: EventFilter): number {
  if (types === undefined) return ALL_TYPES
  const unknown = types.filter((type) => !BITS.has(type))
  if (unknown.length === 0) return typeBits(types)
  throw new AppError('VALIDATION', `there are no events of type ${unknown.join(', ')}; it can be ${TYPES.join(', ')}`)
}
