/**
 * The last messages of each row as numbers, for the history of its task: what it takes to make their events (row-records.ts)
 * when somebody asks, or before the task goes on elsewhere. A message costs a few stores, and nothing for a collector.
 */
import type { Message } from '../task/origin.ts'
import type { KeptAnswer } from './ordinary-answers.ts'
import type { Given } from './record-events.ts'
import type { MessageHistory } from './row-code.ts'
import { blockAt, FIRED, STATE_BITS } from './row-layout.ts'
import type { RowStore } from './row-store.ts'

/** Places in a message's numbers: its number among those of the row, epoch ms, and state bits before and after it. */
const NUMBER = 0
const TIME = 1
const BITS = 2
const SINCE = 3
/** beside the bits after it: something followed, so that it is known what was before */
const FOLLOWED = 1 << 30
const NO_MESSAGE = -1

/** What is kept of a message. */
export interface KeptTaken {
  readonly message: Message
  readonly number: number
  readonly time: number
  readonly before: number
  readonly after: number
  readonly given: Given | undefined
  readonly earlier: readonly number[] | undefined
  readonly answers: KeptAnswer[] | undefined
}

export class RowHistory implements MessageHistory {
  /** messages of a row */
  readonly kept: number
  nums = new Float64Array(0)
  readonly #store: RowStore
  readonly #givenBy: (row: number) => Given | undefined
  /** numbers of a message */
  readonly #size: number
  #ints = new Int32Array(0)
  #messages: (Message | undefined)[] = []
  readonly #given: (Given | undefined)[] = []
  readonly #answers: (KeptAnswer[] | undefined)[] = []
  /** by row: the number of the last message that was handed over, or that the row did not take by itself */
  readonly #done: number[] = []
  /** of the message whose actuators answer: its place, and how many have */
  #answering = -1
  #answered = 0

  /** `kept`: messages of a row that are kept at least. `givenBy`: what called sensors of a row gave with the message at hand */
  constructor(store: RowStore, kept: number, givenBy: (row: number) => Given | undefined) {
    this.#store = store
    this.#givenBy = givenBy
    this.kept = 2 ** Math.ceil(Math.log2(Math.max(2, kept)))
    this.#size = SINCE + store.layout.nodes + store.layout.actuators
  }

  add(row: number, message: Message, number: number, time: number, before: number, after: number): void {
    const slot = this.#slot(row, number)
    if (slot >= this.#messages.length) this.#grow(row)
    const at = slot * this.#size
    const { nums } = this
    const ints = this.#ints
    nums[at + NUMBER] = number
    nums[at + TIME] = time
    ints[2 * (at + BITS)] = before
    ints[2 * (at + BITS) + 1] = after
    this.#messages[slot] = message
    if (this.#given.length > 0) this.#given[slot] = undefined
    if (this.#answers.length > 0) this.#answers[slot] = undefined
    this.#answering = -1
  }

  gave(row: number, number: number): void {
    this.#fill(this.#given)
    this.#given[this.#slot(row, number)] = this.#givenBy(row)
  }

  follows(row: number): void {
    const store = this.#store
    const { nodes, since, actuators } = store.layout
    const at = this.followsAt(row, store.count(row))
    const d = store.at(row) + since
    const p = store.pastAt(row)
    for (let n = 0; n < nodes; n++) this.nums[at + n] = store.nums[d + n] as number
    for (let a = 0; a < actuators; a++)
      this.nums[at + nodes + a] = store.past[p + blockAt(store.layout, a) + FIRED] as number
  }

  followsAt(row: number, number: number): number {
    const at = this.#slot(row, number) * this.#size
    const bits = 2 * (at + BITS) + 1
    this.#ints[bits] = (this.#ints[bits] as number) | FOLLOWED
    return at + SINCE
  }

  answered(row: number, number: number, answer: KeptAnswer): void {
    const slot = this.#slot(row, number)
    if (slot !== this.#answering) {
      this.#answering = slot
      this.#answered = 0
    }
    const place = this.#answered++
    if (answer === undefined) return
    this.#fill(this.#answers)
    ;(this.#answers[slot] ??= [])[place] = answer
  }

  /** The message of a row goes on in the state machine, which tells its events. */
  opened(row: number, number: number): void {
    const slot = this.#slot(row, number)
    if (slot < this.#messages.length) this.nums[slot * this.#size + NUMBER] = NO_MESSAGE
  }

  /** The row is another task's, or its task goes on from elsewhere. */
  forget(row: number): void {
    this.#done[row] = 0
    const first = row * this.kept
    if (first >= this.#messages.length) return
    for (let slot = first; slot < first + this.kept; slot++) {
      this.nums[slot * this.#size + NUMBER] = NO_MESSAGE
      this.#messages[slot] = undefined
      if (this.#given.length > 0) this.#given[slot] = undefined
      if (this.#answers.length > 0) this.#answers[slot] = undefined
    }
  }

  /** Those up to a number that were not handed over before, oldest first. */
  take(row: number, last: number): readonly KeptTaken[] {
    const taken: KeptTaken[] = []
    const from = Math.max((this.#done[row] ?? 0) + 1, last - this.kept + 1)
    for (let number = from; number <= last; number++) {
      const slot = this.#slot(row, number)
      if (this.nums[slot * this.#size + NUMBER] === number) taken.push(this.#at(slot))
    }
    this.#done[row] = Math.max(this.#done[row] ?? 0, last)
    return taken
  }

  #at(slot: number): KeptTaken {
    const { nums } = this
    const at = slot * this.#size
    const after = this.#ints[2 * (at + BITS) + 1] as number
    return {
      message: this.#messages[slot] as Message,
      number: nums[at + NUMBER] as number,
      time: nums[at + TIME] as number,
      before: this.#ints[2 * (at + BITS)] as number,
      after: after & STATE_BITS,
      given: this.#given[slot],
      earlier: (after & FOLLOWED) === 0 ? undefined : [...nums.subarray(at + SINCE, at + this.#size)],
      answers: this.#answers[slot],
    }
  }

  #slot(row: number, number: number): number {
    return row * this.kept + (number & (this.kept - 1))
  }

  #grow(row: number): void {
    const rows = Math.max(row + 1, this.#store.room)
    const nums = new Float64Array(rows * this.kept * this.#size).fill(NO_MESSAGE)
    nums.set(this.nums)
    this.nums = nums
    this.#ints = new Int32Array(nums.buffer)
    this.#fill(this.#messages, rows * this.kept)
  }

  /** A list with holes is slow. */
  #fill(list: unknown[], length = this.#messages.length): void {
    while (list.length < length) list.push(undefined)
  }
}
