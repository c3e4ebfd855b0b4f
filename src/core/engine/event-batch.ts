/** The events of one input together. They are made as objects when somebody reads them. */
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

/** Of events that are there already. */
export class ListBatch implements EventBatch {
  readonly #events: readonly EngineEvent[]

  constructor(events: readonly EngineEvent[]) {
    this.#events = events
  }

  get length(): number {
    return this.#events.length
  }

  count(type: EventType): number {
    let count = 0
    for (const event of this.#events) if (event.type === type) count++
    return count
  }

  at(index: number): EngineEvent | undefined {
    return this.#events[index]
  }

  [Symbol.iterator](): Iterator<EngineEvent> {
    return this.#events.values()
  }
}
