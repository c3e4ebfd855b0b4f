/** Records messages that the rows of a vectorized batch take in one pass, with one record for all rows. */
import { DATA, FIRED, GATE, RESULT, STATE } from '../engine/event-filter.ts'
import type { EventRecord } from '../engine/event-batch.ts'
import type { EngineEvent } from '../engine/events.ts'
import { firingsOf, type Firing } from '../engine/firing.ts'
import type { Message } from '../task/origin.ts'
import type { KeptAnswer } from './ordinary-answers.ts'
import { countRows } from './limit-index.ts'
import { eventsOf, type RecordedTask, type Totals } from './record-events.ts'
import type { EpochSource, RecordEpoch } from './row-code.ts'
import type { RowStore } from './row-store.ts'
import { VectorPast } from './vector-past.ts'

const ALL_NODES = -1

/** Receives the record of each message. */
export interface EpochOwner {
  began(record: VectorRecord): void
  ended(): void
}

/** Data shared by the records of messages since the rows were last up to date. */
export class VectorEpoch implements RecordEpoch {
  readonly tasks: readonly RecordedTask[]
  readonly rows: readonly number[]
  readonly totals: Totals
  /** how many gates change in each row with each message */
  readonly gates: number
  readonly #past: VectorPast
  readonly #owner: EpochOwner
  #record: VectorRecord | undefined

  constructor(
    from: EpochSource,
    store: RowStore,
    tasks: readonly RecordedTask[],
    totals: Totals,
    gates: number,
    owner: EpochOwner,
  ) {
    this.#past = new VectorPast(from, store)
    this.#owner = owner
    this.rows = from.rows
    this.tasks = tasks
    this.totals = totals
    this.gates = gates
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

  eventsAt(i: number, place: number, message: Message, fires: boolean, answer: KeptAnswer): readonly EngineEvent[] {
    const past = this.#past
    return eventsOf({
      of: this.tasks[i] as RecordedTask,
      message,
      number: past.numberOf(i, place),
      time: past.timeOf(place),
      at: past.timeOf(place),
      before: past.statesAt(i, place - 1),
      after: past.statesAt(i, place),
      sensorData: undefined,
      earlier: fires ? past.since(i, place, ALL_NODES) : undefined,
      answers: [answer],
    })
  }
}

export class VectorRecord implements EventRecord {
  readonly epoch: VectorEpoch
  readonly place: number
  readonly message: Message
  #rows = 0
  /** the rows that fired, as bits; undefined: none */
  #firing: Int32Array | undefined
  /** by place of the row: the last results of the actuators that fired */
  #answers: readonly KeptAnswer[] | undefined
  #lastAnswer: { readonly row: number; readonly answer: KeptAnswer } | undefined
  /** whether the last of the rows continues in the state machine */
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

  /** Called when a row's actuator call ends differently from the calls of the other rows. */
  answered(row: number, answer: KeptAnswer): void {
    this.#lastAnswer = { row, answer }
  }

  /**
   * Called when the first `reached` rows have taken the message. Keeps `firing`, the rows that fire, and `answers`,
   * their actuators' results.
   */
  end(reached: number, firing: Int32Array | undefined, answers: readonly KeptAnswer[] | undefined): void {
    this.#rows = this.isOpened ? reached - 1 : reached
    this.#firing = firing
    this.#answers = answers
  }

  count(types: number): number {
    const { sensors } = this.epoch.totals
    let count = 0
    if ((types & DATA) !== 0) count++
    if ((types & RESULT) !== 0) count += sensors
    if ((types & STATE) !== 0) count += sensors
    if ((types & GATE) !== 0) count += this.epoch.gates
    count *= this.#rows
    const fired = (this.#fired ??= this.#countFired())
    if ((types & RESULT) !== 0) count += fired
    if ((types & FIRED) !== 0) count += fired
    return count
  }

  firings(why: boolean): readonly Firing[] {
    return this.events().flatMap((event) => firingsOf(event, why))
  }

  events(): readonly EngineEvent[] {
    if (this.#events === undefined) {
      const all: EngineEvent[] = []
      for (let i = 0; i < this.#rows; i++) for (const event of this.eventsAt(i)) all.push(event)
      this.#events = all
    }
    return this.#events
  }

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
    return this.#firing === undefined ? 0 : countRows(this.#firing, this.#rows)
  }
}
