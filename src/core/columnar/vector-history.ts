/**
 * Writes the messages of a vectorized batch to the histories of its rows, as if each row had taken them individually.
 */
import type { Message } from '../task/origin.ts'
import type { FiringHistory } from './firing-history.ts'
import type { KeptAnswer } from './ordinary-answers.ts'
import type { MessageHistory } from './row-code.ts'
import { FIRST, type VectorPast } from './vector-past.ts'
import type { VectorSince } from './vector-since.ts'

/** How far the newest message has been processed. */
export interface Reached {
  readonly reached: number
  readonly newest: number
  /** place of the row whose actuator is being called, and the last results of the actuators */
  readonly acting: number | undefined
  readonly answers: readonly KeptAnswer[] | undefined
}

export class VectorHistory {
  readonly #history: MessageHistory
  readonly #rows: readonly number[]
  /** by message: last results of the actuators, if any */
  readonly #answers: (readonly KeptAnswer[] | undefined)[] = []

  constructor(history: MessageHistory, rows: readonly number[]) {
    this.#history = history
    this.#rows = rows
  }

  /** Stores the results when all firings of a message have finished. */
  fired(place: number, answers: readonly KeptAnswer[] | undefined): void {
    if (answers === undefined) return
    this.#answers[place] = answers.slice()
    if (place >= this.#history.kept) this.#answers[place - this.#history.kept] = undefined
  }

  /** Adds the newest messages that are missing to each row's history. */
  settle(
    past: VectorPast,
    messages: readonly (Message | undefined)[],
    firings: FiringHistory,
    nodesSince: VectorSince,
    at: Reached,
  ): void {
    const history = this.#history
    for (const [i, row] of this.#rows.entries()) {
      const last = i < at.reached ? at.newest : at.newest - 1
      const first = Math.max(FIRST, last - history.kept + 1)
      if (first > last) continue
      let before = past.statesAt(i, first - 1)
      // Only these cases need to know when nodes entered their states, which is the costliest part.
      const asksSince = (firings.last[i] as number) >= first
      const since = asksSince ? past.sinceFirst(i) : []
      if (asksSince) nodesSince.set(i, first - 1, since, 0)
      for (let place = first; place <= last; place++) {
        const number = past.numberOf(i, place)
        const after = past.statesAt(i, place)
        const time = past.timeOf(place)
        history.add(row, messages[place] as Message, number, time, before, after, time)
        const fires = firings.has(place, i)
        if (fires) {
          const own = history.followsAt(row, number)
          for (let n = 0; n < since.length; n++) history.nums[own + n] = since[n] as number
        }
        if (fires && (place < at.newest || i !== at.acting)) history.answered(row, number, this.#answerOf(place, i, at))
        if (asksSince) past.goOn(since, before, after, place)
        before = after
      }
    }
  }

  #answerOf(place: number, i: number, { newest, acting, answers }: Reached): KeptAnswer {
    return place === newest && acting !== undefined ? answers?.[i] : this.#answers[place]?.[i]
  }

  /** Clears the results, once they are in the rows. */
  clear(): void {
    this.#answers.length = 0
  }
}
