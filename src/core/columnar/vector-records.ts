/** Records of messages that the rows of a vectorized batch take in one pass: one record for all of them. */
import { DATA, FIRED, GATE, RESULT, STATE } from '../engine/event-filter.ts'
import type { EventRecord } from '../engine/event-batch.ts'
import type { EngineEvent } from '../engine/events.ts'
import type { Message } from '../task/origin.ts'
import type { KeptAnswer } from './ordinary-answers.ts'
import { eventsOf, type RecordedTask, type Totals } from './record-events.ts'
import type { EpochSource, RecordEpoch } from './row-code.ts'
import { AFTER, BEFORE, COUNT, TIME } from './row-layout.ts'
import type { RowStore } from './row-store.ts'

/** place of the first message of an epoch; the one before it its rows know themselves */
const FIRST = 2

/** Who is told of the record of the message at hand. */
export interface EpochOwner {
  began(record: VectorRecord): void
  ended(): void
}

/** What records share of messages that rows took together since their own numbers were up to date. */
export class VectorEpoch implements RecordEpoch {
  readonly tasks: readonly RecordedTask[]
  readonly rows: readonly number[]
  readonly totals: Totals
  /** how often gates change in each row with each message */
  readonly gates: number
  readonly #from: EpochSource
  readonly #store: RowStore
  readonly #owner: EpochOwner
  /** the rows' own numbers as they were at the beginning */
  readonly #nums: Float64Array
  readonly #ints: Int32Array
  #record: VectorRecord | undefined

  constructor(
    from: EpochSource,
    store: RowStore,
    tasks: readonly RecordedTask[],
    totals: Totals,
    gates: number,
    owner: EpochOwner,
  ) {
    this.#from = from
    this.#store = store
    this.#owner = owner
    this.rows = from.rows
    this.tasks = tasks
    this.totals = totals
    this.gates = gates
    const { size } = store.layout
    this.#nums = new Float64Array(from.rows.length * size)
    from.rows.forEach((row, i) => {
      const at = store.at(row)
      this.#nums.set(store.nums.subarray(at, at + size), i * size)
    })
    this.#ints = new Int32Array(this.#nums.buffer)
  }

  begin(place: number, message: Message): void {
    this.#record = new VectorRecord(this, place, message)
    this.#owner.began(this.#record)
  }

  end(reached: number, firing: Int32Array | undefined, answers: readonly KeptAnswer[] | undefined): void {
    this.#record?.end(reached, firing, answers)
    this.#record = undefined
    this.#owner.ended()
  }

  /** What the row at place `i` did with the message at a place. */
  eventsAt(i: number, place: number, message: Message, fires: boolean, answer: KeptAnswer): readonly EngineEvent[] {
    return eventsOf({
      of: this.tasks[i] as RecordedTask,
      message,
      number: (this.#nums[this.#at(i) + COUNT] ?? 0) + place - (FIRST - 1),
      time: this.#from.times[place] ?? 0,
      before: this.#statesAt(i, place - 1),
      after: this.#statesAt(i, place),
      given: undefined,
      earlier: fires || this.totals.inner > 0 ? this.#since(i, place) : undefined,
      answers: [answer],
    })
  }

  /** Since when each node had its state before the message at a place. */
  #since(i: number, place: number): readonly number[] {
    const { changes } = this.#from
    const { nodes, since } = this.#store.layout
    const { bits } = this.#store.shape
    const at = this.#at(i)
    const found = Array.from({ length: nodes }, (_, n) => this.#nums[at + since + n] ?? 0)
    let left = 2 ** nodes - 1
    let now = this.#statesAt(i, place - 1)
    for (let from = place - 1; from >= FIRST - 1 && left !== 0; from--) {
      const before = this.#statesAt(i, from - 1)
      const changed = (changes[(before << bits) | now] ?? 0) & left
      for (let n = 0; n < nodes; n++) if ((changed >> n) & 1) found[n] = this.#timeAt(i, from)
      left &= ~changed
      now = before
    }
    return found
  }

  #timeAt(i: number, place: number): number {
    return (place < FIRST ? this.#nums[this.#at(i) + TIME] : this.#from.times[place]) ?? 0
  }

  /** State bits after a message. */
  #statesAt(i: number, place: number): number {
    if (place < FIRST) return this.#ints[2 * this.#at(i) + (place === 0 ? BEFORE : AFTER)] ?? 0
    const { statesAt, limits, values, parameters } = this.#from
    return statesAt(limits, i, values, place * parameters)
  }

  #at(i: number): number {
    return i * this.#store.layout.size
  }
}

export class VectorRecord implements EventRecord {
  readonly epoch: VectorEpoch
  readonly place: number
  readonly message: Message
  /** how many rows have got the message and have not gone on in the state machine */
  #rows = 0
  /** which of them fired, as bits; undefined: none */
  #firing: Int32Array | undefined
  /** by place of the row: what the actuators gave last of those that fired */
  #answers: readonly KeptAnswer[] | undefined
  /** the one with which the rows ended to go together, of a row */
  #lastAnswer: { readonly row: number; readonly answer: KeptAnswer } | undefined
  /** the last of the rows goes on in the state machine */
  isOpened = false
  #fired: number | undefined
  #events: readonly EngineEvent[] | undefined

  constructor(epoch: VectorEpoch, place: number, message: Message) {
    this.epoch = epoch
    this.place = place
    this.message = message
  }

  get type(): 'record' {
    return 'record'
  }

  /** The actuator of a row has answered in another way than the others. */
  answered(row: number, answer: KeptAnswer): void {
    this.#lastAnswer = { row, answer }
  }

  /** Rows before a place have got it. `firing`: which rows fire, `answers`: what they gave, both kept from now on. */
  end(reached: number, firing: Int32Array | undefined, answers: readonly KeptAnswer[] | undefined): void {
    this.#rows = this.isOpened ? reached - 1 : reached
    this.#firing = firing
    this.#answers = answers
  }

  count(types: number): number {
    const { sensors, inner } = this.epoch.totals
    let count = 0
    if ((types & DATA) !== 0) count++
    if ((types & RESULT) !== 0) count += sensors
    if ((types & STATE) !== 0) count += sensors
    if ((types & GATE) !== 0) count += this.epoch.gates
    if ((types & FIRED) !== 0) count += inner
    count *= this.#rows
    const fired = (this.#fired ??= this.#countFired())
    if ((types & RESULT) !== 0) count += fired
    if ((types & FIRED) !== 0) count += fired
    return count
  }

  events(): readonly EngineEvent[] {
    if (this.#events === undefined) {
      const all: EngineEvent[] = []
      for (let i = 0; i < this.#rows; i++) for (const event of this.eventsAt(i)) all.push(event)
      this.#events = all
    }
    return this.#events
  }

  /** Those of the row at place `i`. */
  eventsAt(i: number): readonly EngineEvent[] {
    const { epoch, place, message } = this
    return epoch.eventsAt(i, place, message, this.#fires(i), this.#answerOf(i))
  }

  #answerOf(i: number): KeptAnswer {
    const last = this.#lastAnswer
    return last !== undefined && last.row === this.epoch.rows[i] ? last.answer : this.#answers?.[i]
  }

  #fires(i: number): boolean {
    return (((this.#firing?.[i >> 5] ?? 0) >> (i & 31)) & 1) === 1
  }

  #countFired(): number {
    const firing = this.#firing
    if (firing === undefined) return 0
    const rows = this.#rows
    let count = 0
    for (let w = 0; w << 5 < rows; w++) {
      const left = rows - (w << 5)
      const word = firing[w] ?? 0
      count += ones(left < 32 ? word & ((1 << left) - 1) : word)
    }
    return count
  }
}

/** How many bits are set. */
function ones(word: number): number {
  let bits = word - ((word >>> 1) & 0x55_55_55_55)
  bits = (bits & 0x33_33_33_33) + ((bits >>> 2) & 0x33_33_33_33)
  bits = (bits + (bits >>> 4)) & 0x0f_0f_0f_0f
  return Math.imul(bits, 0x01_01_01_01) >>> 24
}
