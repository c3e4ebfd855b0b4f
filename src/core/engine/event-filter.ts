/** Filters events by type and by task. Sets of types are stored as the bits of one number. */
import { AppError } from '#kernel'
import type { EventType } from './events.ts'

/** Selects events; absent fields do not restrict the selection. */
export interface EventFilter {
  readonly types?: readonly EventType[]
  /** only events of tasks with these ids, present and future; other tasks are not slowed down */
  readonly tasks?: readonly string[]
  /** default as `EngineOptions.why`; false: `fired` events lack their why, which is costly to create */
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
export const ALL_TYPES = typeBits(TYPES)
/** Types of events about single messages; `result` only without an error. */
export const DETAIL_TYPES = typeBits(['tick', 'data', 'state', 'gate', 'result'])
/** Types of lifecycle events; `result` only with an error. */
export const RARE_TYPES = typeBits(['started', 'stopped', 'failed', 'log', 'result'])
export const PLAIN_TYPES = typeBits(['fired', 'held', 'evicted'])

export function typeBit(type: EventType): number {
  return BITS.get(type) ?? 0
}

function typeBits(types: readonly EventType[]): number {
  return types.reduce((bits, type) => bits | typeBit(type), 0)
}

/** Returns the types that a filter accepts, as bits. `VALIDATION` for an unknown type. */
export function typesOf({ types }: EventFilter): number {
  if (types === undefined) return ALL_TYPES
  const unknown = types.filter((type) => !BITS.has(type))
  if (unknown.length === 0) return typeBits(types)
  throw new AppError('VALIDATION', `unknown type of events: ${unknown.join(', ')}; use one of ${TYPES.join(', ')}`)
}
