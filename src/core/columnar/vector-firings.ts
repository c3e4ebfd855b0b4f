/** Records of what messages fire that the rows of a vectorized batch take in one pass: a set of rows for each. */
import type { EventRecord } from '../engine/event-batch.ts'
import { FIRED } from '../engine/event-filter.ts'
import type { EngineEvent } from '../engine/events.ts'
import type { ExecutorHost } from '../engine/executor.ts'
import type { Message } from '../task/origin.ts'
import type { TaskModel } from '../task/run.ts'
import { firedEvent, inputOf, whyOf, type FiringTask } from './firing-events.ts'
import type { SetCopies } from './set-copies.ts'
import { countRows } from './limit-index.ts'
import type { EpochSource, RecordEpoch } from './row-code.ts'
import type { Fires, RowStore } from './row-store.ts'
import { VectorPast } from './vector-past.ts'

/** What such records share since the rows' own numbers were up to date. */
export class FiringEpoch implements RecordEpoch {
  readonly past: VectorPast
  /** by place of the row */
  readonly tasks: readonly FiringTask[]
  readonly #store: RowStore
  /** of any of the tasks */
  readonly #model: TaskModel
  readonly #host: Pick<ExecutorHost, 'why' | 'events'>
  readonly #changes: Int32Array
  #record: FiringSet | undefined

  constructor(
    from: EpochSource,
    store: RowStore,
    tasks: readonly FiringTask[],
    model: TaskModel,
    host: Pick<ExecutorHost, 'why' | 'events'>,
  ) {
    this.past = new VectorPast(from, store)
    this.#changes = from.changes
    this.tasks = tasks
    this.#store = store
    this.#model = model
    this.#host = host
  }

  begin(place: number, message: Message): void {
    const { why, events } = this.#host
    this.#record = new FiringSet(this, place, message, why && events.wantsWhy)
    events.recordFirings(this.#record)
  }

  end(reached: number, firing: SetCopies | undefined): void {
    this.#record?.end(reached, firing)
    this.#record = undefined
  }

  /** Sensors that show what they showed before, as bits: of these alone a why says since when. */
  unchanged(before: number, after: number): number {
    const { sensors, bits } = this.#store.shape
    return (2 ** sensors.length - 1) & ~(this.#changes[(before << bits) | after] ?? 0)
  }

  /** What leads to the actuator. */
  fires(before: number, after: number): Fires {
    return this.#store.followingOf(this.#model, before, after)[0] as Fires // who asks knows that it fires
  }
}

class FiringSet implements EventRecord {
  readonly #epoch: FiringEpoch
  readonly #place: number
  readonly #message: Message
  readonly #hasWhy: boolean
  /** how many rows have got the message */
  #rows = 0
  /** which of them fired, as bits from a place on; undefined: none */
  #firing: Int32Array | undefined = undefined
  #first = 0
  #count = -1

  constructor(epoch: FiringEpoch, place: number, message: Message, hasWhy: boolean) {
    this.#epoch = epoch
    this.#place = place
    this.#message = message
    this.#hasWhy = hasWhy
  }

  get type(): 'record' {
    return 'record'
  }

  /** Rows before a place have got it, those among them that fire have fired, whatever their actuators did. */
  end(reached: number, firing: SetCopies | undefined): void {
    this.#rows = reached
    this.#firing = firing?.sets
    this.#first = firing?.first ?? 0
  }

  count(types: number): number {
    if ((types & FIRED) === 0 || this.#firing === undefined) return 0
    if (this.#count === -1) this.#count = countRows(this.#firing, this.#first, this.#rows)
    return this.#count
  }

  events(): readonly EngineEvent[] {
    const firing = this.#firing
    const events: EngineEvent[] = []
    if (firing === undefined) return events
    const { past } = this.#epoch
    const message = this.#message
    const time = past.timeOf(this.#place)
    const input = this.#hasWhy ? inputOf(message, time) : undefined
    for (let i = 0; i < this.#rows; i++) {
      if (((firing[this.#first + (i >> 5)] ?? 0) >> (i & 31)) & 1) events.push(this.#event(i, time, input))
    }
    return events
  }

  /** Of the row at place `i`. */
  #event(i: number, time: number, input: ReturnType<typeof inputOf> | undefined): EngineEvent {
    const { past, tasks } = this.#epoch
    const place = this.#place
    const before = past.statesAt(i, place - 1)
    const after = past.statesAt(i, place)
    const of = tasks[i] as FiringTask
    const fires = this.#epoch.fires(before, after)
    const number = past.numberOf(i, place)
    if (input === undefined) return firedEvent(of, { number, time }, fires, time, 0, undefined)
    const since = past.since(i, place, this.#epoch.unchanged(before, after))
    const told = { number, time, message: this.#message, before, after, since, sinceAt: 0 }
    return firedEvent(of, told, fires, time, 0, whyOf(of.texts, told, fires, input))
  }
}
