/** The events of one input together. They are made as objects when somebody reads them. */
import { ALL_TYPES, typeBit } from './event-filter.ts'
import type { EngineEvent, EventType } from './events.ts'

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
}

/** What is known of the events of one message without making one of them. */
export interface EventRecord {
  /** what no event has as its type */
  readonly type: 'record'
  /** How many there are of some types, as bits. */
  count(types: number): number
  /** All of them, made when this is asked first; `fired` ones with their why, unless the engine makes none. */
  events(): readonly EngineEvent[]
}

/** An event that is there, or those of a message that can be made. */
export type EventPart = EngineEvent | EventRecord

/** How many events a part has of some types, as bits. */
export function countOf(part: EventPart, types: number): number {
  if (part.type === 'record') return part.count(types)
  return (typeBit(part.type) & types) === 0 ? 0 : 1
}

/** Events that are there already, and such that are made when somebody reads them. */
export class PartsBatch implements EventBatch {
  readonly length: number
  readonly #parts: EventPart | readonly EventPart[]
  readonly #types: number
  readonly #why: boolean
  #events: readonly EngineEvent[] | undefined

  /** `types`: those that count, as bits. `why`: whether `fired` events have theirs. `length`: how many there are. */
  constructor(parts: EventPart | readonly EventPart[], length: number, types: number, why: boolean) {
    this.#parts = parts
    this.length = length
    this.#types = types
    this.#why = why
  }

  count(type: EventType): number {
    const types = typeBit(type) & this.#types
    const parts = this.#parts
    if (!isList(parts)) return countOf(parts, types)
    let count = 0
    for (const part of parts) count += countOf(part, types)
    return count
  }

  at(index: number): EngineEvent | undefined {
    return this.#made()[index]
  }

  [Symbol.iterator](): Iterator<EngineEvent> {
    return this.#made().values()
  }

  #made(): readonly EngineEvent[] {
    if (this.#events === undefined) {
      const parts = isList(this.#parts) ? this.#parts : [this.#parts]
      const all = parts.flatMap((part) => (part.type === 'record' ? part.events() : [part]))
      const types = this.#types
      const wanted = types === ALL_TYPES ? all : all.filter(({ type }) => (typeBit(type) & types) !== 0)
      this.#events = this.#why ? wanted : wanted.map(withoutWhy)
    }
    return this.#events
  }
}

export function isList(parts: EventPart | readonly EventPart[] | undefined): parts is readonly EventPart[] {
  return Array.isArray(parts)
}

export function withoutWhy(event: EngineEvent): EngineEvent {
  if (event.type !== 'fired' || event.why === undefined) return event
  const { why: _, ...rest } = event
  return rest
}
