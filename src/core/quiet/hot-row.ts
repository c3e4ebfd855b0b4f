/** The shortest way of a message: a resource to which one task listens that has a seat. */
import type { Message } from '../task/origin.ts'
import type { RowEvents, TakeOne } from './evaluate.ts'
import type { RowStore } from './row-store.ts'

/** What rows of one lane share whose messages have the same fields. */
export interface HotLane {
  readonly rows: RowStore
  readonly lane: RowEvents & CurrentMessage
  readonly takeOne: TakeOne
}

interface CurrentMessage {
  /** messages that rows took */
  taken: number
  /** the message at hand, once something follows from it */
  current: Message | undefined
}

/** The first fields of an object that is looked up for each message: what the message needs lies in one cache line. */
export class HotRow {
  #lane: HotLane | null = null
  #row = 0
  #last: Message | undefined = undefined

  get isHot(): boolean {
    return this.#lane !== null
  }

  /** False, and nothing is done, when the message has to go another way. */
  takeHot(message: Message): boolean {
    const hot = this.#lane
    if (hot === null) return false
    const { lane, takeOne } = hot
    if (!takeOne(hot.rows, lane, this.#row, message)) return false
    this.#last = message
    lane.taken++
    if (lane.current !== undefined) lane.current = undefined
    return true
  }

  protected warm(lane: HotLane, row: number, last: Message): void {
    this.#lane = lane
    this.#row = row
    this.#last = last
  }

  /** Messages go another way. Gives the last one. */
  protected cool(): Message | undefined {
    const last = this.#last
    this.#lane = null
    this.#last = undefined
    return last
  }

  /** The last message that the row counts, or the one before it, while that one is under way. */
  protected hotMessage(isLast: boolean): Message {
    return ((isLast ? this.#lane?.lane.current : undefined) ?? this.#last) as Message
  }
}
