/** The events of one input together. They are made as objects when somebody reads them. */
import { FIRED, typeBit } from './event-filter.ts'
import type { EngineEvent, EventType } from './events.ts'
import { firingsOf, withoutWhy, type Firing } from './firing.ts'

/**
 * The events of one input in their order: of a message in all tasks that hear it, of the timers of one moment, of a
 * command, or of an answer that came late. It can be read at any time, also when other inputs came since: nothing of it
 * changes any more. While somebody keeps it, it keeps what its events tell about, such as the message.
 */
export interface EventBatch extends Iterable<EngineEvent> {
  /** how many events there are; never 0 */
  readonly length: number
  /** How many there are of a type, without making one of them. */
  count(type: EventType): number
  /** The event at a place from 0 on, made when it is read; undefined where there is none. */
  at(index: number): EngineEvent | undefined
  /** What fired, in its order, without an event of it: to read who fired and why, of many, costs a fraction of what events do. */
  firings(): readonly Firing[]
}

/** What is known of the events of one message without making one of them. */
export interface EventRecord {
  /** what no event has as its type */
  readonly type: 'record'
  /** How many there are of some types, as bits. */
  count(types: number): number
  /** All of them, made when this is asked first; `fired` ones with their why, unless the engine makes none. */
  events(): readonly EngineEvent[]
  /** What fired, in a list of its own. */
  firings(why: boolean): readonly Firing[]
}

/** An event that is there, or those of a message that can be made. */
export type EventPart = EngineEvent | EventRecord

/** How many events a part has of some types, as bits. */
export function countOf(part: EventPart, types: number): number {
  if (part.type === 'record') return part.count(types)
  return (typeBit(part.type) & types) === 0 ? 0 : 1
}

/** What somebody wants of events. */
export interface Wanted {
  /** as bits */
  readonly types: number
  /** whether `fired` events have their whys */
  readonly why: boolean
}

/** Events of which some are there already. */
export class PartsBatch implements EventBatch {
  readonly length: number
  readonly #parts: readonly EventPart[]
  readonly #wanted: Wanted
  #events: readonly EngineEvent[] | undefined

  /** `length`: how many there are. */
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

/** Events of one record: the most frequent, and the leanest. */
export class RecordBatch implements EventBatch {
  readonly length: number
  readonly #record: EventRecord
  readonly #wanted: Wanted
  #events: readonly EngineEvent[] | undefined = undefined

  /** `length`: how many there are. */
  constructor(record: EventRecord, length: number, wanted: Wanted) {
    this.length = length
    this.#record = record
    this.#wanted = wanted
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
    // Mostly a record has what is wanted and nothing else.
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

/** For who wants no whys. */
export function leavingWhy(event: EngineEvent): EngineEvent {
  return event.type === 'fired' ? withoutWhy(event) : event
}
