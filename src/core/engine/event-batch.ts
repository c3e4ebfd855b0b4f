/** Groups the events of one input into a batch that creates them when they are read. */
import { ALL_TYPES, FIRED, typeBit } from './event-filter.ts'
import type { Graph } from '../graph/graph.ts'
import type { EngineEvent, EventType } from './events.ts'
import { firingsOf, withoutWhy, type Firing } from './firing.ts'

/** The events of one input in order; immutable, and retains what its events refer to, such as the message. */
export interface EventBatch extends Iterable<EngineEvent> {
  /** never 0 */
  readonly length: number
  count(type: EventType): number
  at(index: number): EngineEvent | undefined
  firings(): readonly Firing[]
}

export interface EventRecord {
  readonly type: 'record'
  /** epoch ms of all its events, if they have the same time */
  readonly time?: number
  /** equal for records of one task and graph whose events differ only in times, numbers and data */
  readonly kind?: number | undefined
  readonly graph?: Graph
  count(types: number): number
  /** Creates all events, once. `fired` events contain their why, unless the engine has `why: false`. */
  events(): readonly EngineEvent[]
  firings(why: boolean): readonly Firing[]
}

export type EventPart = EngineEvent | EventRecord

export function countOf(part: EventPart, types: number): number {
  if (part.type === 'record') return part.count(types)
  return (typeBit(part.type) & types) === 0 ? 0 : 1
}

export interface Wanted {
  readonly types: number
  readonly why: boolean
}

export class PartsBatch implements EventBatch {
  readonly length: number
  readonly #parts: readonly EventPart[]
  readonly #wanted: Wanted
  #events: readonly EngineEvent[] | undefined

  constructor(parts: readonly EventPart[], length: number, wanted: Wanted) {
    this.#parts = parts
    this.length = length
    this.#wanted = wanted
  }

  count(type: EventType): number {
    const types = typeBit(type) & this.#wanted.types
    let count = 0
    for (const part of this.#parts) count += countOf(part, types)
    return count
  }

  at(index: number): EngineEvent | undefined {
    return this.#made()[index]
  }

  [Symbol.iterator](): Iterator<EngineEvent> {
    return this.#made().values()
  }

  firings(): readonly Firing[] {
    const { types, why } = this.#wanted
    const firings: Firing[] = []
    if ((types & FIRED) === 0) return firings
    for (const part of this.#parts) {
      for (const firing of part.type === 'record' ? part.firings(why) : firingsOf(part, why)) firings.push(firing)
    }
    return firings
  }

  #made(): readonly EngineEvent[] {
    return (this.#events ??= eventsOf(this.#parts, this.#wanted))
  }
}

export class RecordBatch implements EventBatch {
  readonly length: number
  readonly #record: EventRecord
  readonly #wanted: Wanted
  #events: readonly EngineEvent[] | undefined = undefined

  constructor(record: EventRecord, length: number, wanted: Wanted) {
    this.length = length
    this.#record = record
    this.#wanted = wanted
  }

  get record(): EventRecord {
    return this.#record
  }

  count(type: EventType): number {
    return this.#record.count(typeBit(type) & this.#wanted.types)
  }

  at(index: number): EngineEvent | undefined {
    return this.#made()[index]
  }

  [Symbol.iterator](): Iterator<EngineEvent> {
    return this.#made().values()
  }

  firings(): readonly Firing[] {
    const { types, why } = this.#wanted
    return (types & FIRED) === 0 ? [] : this.#record.firings(why)
  }

  #made(): readonly EngineEvent[] {
    return (this.#events ??= eventsOf([this.#record], this.#wanted))
  }
}

function eventsOf(parts: readonly EventPart[], { types, why }: Wanted): readonly EngineEvent[] {
  const [first] = parts
  if (parts.length === 1 && first?.type === 'record') {
    const all = first.events()
    if (why && all.length === first.count(types)) return all
  }
  const wanted: EngineEvent[] = []
  const add = (event: EngineEvent): void => {
    if ((typeBit(event.type) & types) !== 0) wanted.push(why ? event : leavingWhy(event))
  }
  for (const part of parts) {
    if (part.type === 'record') for (const event of part.events()) add(event)
    else add(part)
  }
  return wanted
}

/** Returns what is known of a batch without creating its events; undefined: nothing. */
export function recordOf(batch: EventBatch): Pick<EventRecord, 'time' | 'kind' | 'graph'> | undefined {
  return batch instanceof RecordBatch ? batch.record : undefined
}

export function batchOf(events: readonly EngineEvent[]): EventBatch {
  return new PartsBatch(events, events.length, { types: ALL_TYPES, why: true })
}

export function leavingWhy(event: EngineEvent): EngineEvent {
  return event.type === 'fired' ? withoutWhy(event) : event
}
