/**
 * Keeps the last messages of each row as numbers, for the history of its task. Events are created from them on demand
 * (row-records.ts), or before the task leaves its row. A message costs a few stores and no allocation.
 */
import type { Message } from '../task/origin.ts'
import type { KeptAnswer } from './ordinary-answers.ts'
import type { SensorData, TakenMessage } from './record-events.ts'
import type { MessageHistory } from './row-code.ts'
import { blockAt, FIRED, STATE_BITS } from './row-layout.ts'
import type { RowStore } from './row-store.ts'

/**
 * Offsets within a message's numbers: its number within the row, epoch ms, and state bits before and after it. Stamped
 * messages add their arrival.
 */
const NUMBER = 0
const TIME = 1
const BITS = 2
const SINCE = 3
/** flag above the bits after the message: it had consequences, so the earlier state is stored */
const FOLLOWED = 1 << 30
const NO_MESSAGE = -1

const LEAST_KEPT = 2

export interface TakenMessages {
  /** oldest first */
  readonly taken: readonly KeptTaken[]
  /** whether all requested messages are still available */
  readonly isWhole: boolean
}

export interface KeptTaken extends Omit<TakenMessage, 'of' | 'answers'> {
  readonly answers: KeptAnswer[] | undefined
  /** how many of its first events were emitted as they happened */
  readonly emitted: number
}

export class RowHistory implements MessageHistory {
  /** messages kept per row: fewer when there are many rows, and 0 when there are too many */
  kept: number
  nums = new Float64Array(0)
  readonly #inAll: number
  #rows = 0
  readonly #store: RowStore
  readonly #sensorDataOf: (row: number) => SensorData | undefined
  readonly #size: number
  #ints = new Int32Array(0)
  #messages: (Message | undefined)[] = []
  #sensorData: (SensorData | undefined)[] = []
  #answers: (KeptAnswer[] | undefined)[] = []
  /** by row: number of the last message that was moved out, or that bypassed the row */
  readonly #done: number[] = []
  /** by slot: how many of the message's events were emitted as they happened */
  #emitted = new Map<number, number>()
  #answering = -1
  #answered = 0

  /**
   * `perRow`: messages to keep per row, unless that exceeds `inAll` for all rows. `sensorDataOf`: returns the current
   * results of a row's called sensors
   */
  constructor(
    store: RowStore,
    { perRow, inAll }: { readonly perRow: number; readonly inAll: number },
    sensorDataOf: (row: number) => SensorData | undefined,
  ) {
    this.#store = store
    this.#sensorDataOf = sensorDataOf
    this.#inAll = inAll
    this.kept = 2 ** Math.ceil(Math.log2(Math.max(LEAST_KEPT, perRow)))
    this.#size = SINCE + store.layout.nodes + store.layout.actuators + (store.parts.isStamped ? 1 : 0)
  }

  add(
    row: number,
    message: Message,
    number: number,
    time: number,
    before: number,
    after: number,
    arrived = this.#store.clockOf(row, time),
  ): void {
    if (row >= this.#rows) this.#grow(row)
    if (this.kept === 0) return
    const slot = this.#slot(row, number)
    const at = slot * this.#size
    const { nums } = this
    const ints = this.#ints
    nums[at + NUMBER] = number
    nums[at + TIME] = time
    ints[2 * (at + BITS)] = before
    ints[2 * (at + BITS) + 1] = after
    if (this.#store.parts.isStamped) nums[at + this.#size - 1] = arrived
    this.#messages[slot] = message
    if (this.#sensorData.length > 0) this.#sensorData[slot] = undefined
    if (this.#answers.length > 0) this.#answers[slot] = undefined
    if (this.#emitted.size > 0) this.#emitted.delete(slot)
    this.#answering = -1
  }

  /** Returns a message during an actuator call, with the number of finished calls; undefined if it is not kept. */
  atHand(row: number, number: number): { readonly taken: KeptTaken; readonly answered: number } | undefined {
    if (this.kept === 0 || row >= this.#rows) return undefined
    const slot = this.#slot(row, number)
    if (this.nums[slot * this.#size + NUMBER] !== number) return undefined
    return { taken: this.#at(slot), answered: slot === this.#answering ? this.#answered : 0 }
  }

  /** Stores how many of a message's events were emitted as they happened. */
  setEmitted(row: number, number: number, emitted: number): void {
    this.#emitted.set(this.#slot(row, number), emitted)
  }

  sensorsAnswered(row: number, number: number): void {
    if (this.kept === 0) return
    this.#fill(this.#sensorData)
    this.#sensorData[this.#slot(row, number)] = this.#sensorDataOf(row)
  }

  follows(row: number): void {
    if (this.kept === 0) return
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
    if (this.kept === 0) return
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

  /** Drops a message that continues in the state machine, which emits its events. */
  opened(row: number, number: number): void {
    if (row < this.#rows) this.nums[this.#slot(row, number) * this.#size + NUMBER] = NO_MESSAGE
  }

  /** Called when the row changes its task, or the task returns: the next message is the one after `count`. */
  forget(row: number, count: number): void {
    this.#done[row] = count
    if (row >= this.#rows) return
    const first = row * this.kept
    for (let slot = first; slot < first + this.kept; slot++) {
      this.nums[slot * this.#size + NUMBER] = NO_MESSAGE
      this.#messages[slot] = undefined
      this.#emitted.delete(slot)
      if (this.#sensorData.length > 0) this.#sensorData[slot] = undefined
      if (this.#answers.length > 0) this.#answers[slot] = undefined
    }
  }

  /** Returns the messages up to number `last` that were not taken before. */
  take(row: number, last: number): TakenMessages {
    const taken: KeptTaken[] = []
    const done = this.#done[row] ?? 0
    const first = Math.max(done, last - this.kept) + 1
    for (let number = first; number <= last && row < this.#rows; number++) {
      const slot = this.#slot(row, number)
      if (this.nums[slot * this.#size + NUMBER] === number) taken.push(this.#at(slot))
    }
    this.#done[row] = Math.max(done, last)
    return { taken, isWhole: first === done + 1 }
  }

  #at(slot: number): KeptTaken {
    const { nums } = this
    const at = slot * this.#size
    const after = this.#ints[2 * (at + BITS) + 1] as number
    const time = nums[at + TIME] as number
    const { nodes, actuators } = this.#store.layout
    return {
      message: this.#messages[slot] as Message,
      number: nums[at + NUMBER] as number,
      time,
      at: this.#store.parts.isStamped ? (nums[at + this.#size - 1] as number) : time,
      before: this.#ints[2 * (at + BITS)] as number,
      after: after & STATE_BITS,
      sensorData: this.#sensorData[slot],
      earlier: (after & FOLLOWED) === 0 ? undefined : [...nums.subarray(at + SINCE, at + SINCE + nodes + actuators)],
      answers: this.#answers[slot],
      emitted: this.#emitted.get(slot) ?? 0,
    }
  }

  #slot(row: number, number: number): number {
    return row * this.kept + (number & (this.kept - 1))
  }

  #grow(row: number): void {
    if (this.kept === 0) return
    const rows = Math.max(row + 1, Math.min(2 * this.#rows, this.#store.room))
    let { kept } = this
    while (kept > LEAST_KEPT && rows * kept > this.#inAll) kept /= 2
    if (rows * kept > this.#inAll) return this.#giveUp()
    const places = this.#placesIn(kept)
    const nums = new Float64Array(rows * kept * this.#size).fill(NO_MESSAGE)
    const moved = <T>(list: readonly (T | undefined)[]): (T | undefined)[] => {
      const there: (T | undefined)[] = Array.from({ length: list.length === 0 ? 0 : rows * kept }, () => undefined)
      for (const [from, to] of places) there[to] = list[from]
      return there
    }
    for (const [from, to] of places) {
      nums.set(this.nums.subarray(from * this.#size, (from + 1) * this.#size), to * this.#size)
    }
    this.#messages = this.#rows === 0 ? Array.from({ length: rows * kept }, () => undefined) : moved(this.#messages)
    this.#emitted = new Map(
      places.flatMap(([from, to]) => (this.#emitted.has(from) ? [[to, this.#emitted.get(from) ?? 0]] : [])),
    )
    this.#sensorData = moved(this.#sensorData)
    this.#answers = moved(this.#answers)
    this.nums = nums
    this.#ints = new Int32Array(nums.buffer)
    this.#rows = rows
    this.kept = kept
    this.#answering = -1
  }

  #placesIn(kept: number): readonly (readonly [from: number, to: number])[] {
    const places: [from: number, to: number, number: number][] = []
    for (let slot = 0; slot < this.#rows * this.kept; slot++) {
      const number = this.nums[slot * this.#size + NUMBER] as number
      const row = Math.floor(slot / this.kept)
      if (number !== NO_MESSAGE) places.push([slot, row * kept + (number & (kept - 1)), number])
    }
    return places.sort(([, , a], [, , b]) => a - b).map(([from, to]) => [from, to])
  }

  #giveUp(): void {
    this.kept = 0
    this.#rows = 0
    this.nums = new Float64Array(0)
    this.#ints = new Int32Array(0)
    this.#messages = []
    this.#emitted.clear()
    this.#sensorData = []
    this.#answers = []
  }

  /** Fills the list without holes, which would slow it down. */
  #fill(list: unknown[]): void {
    while (list.length < this.#messages.length) list.push(undefined)
  }
}
