/** Records the firings of messages that a vectorized batch takes in one pass, as one set of rows per message. */
import type { EventRecord } from '../engine/event-batch.ts'
import { FIRED } from '../engine/event-filter.ts'
import type { EngineEvent, InputSummary } from '../engine/events.ts'
import type { ExecutorHost } from '../engine/executor.ts'
import type { Firing } from '../engine/firing.ts'
import type { Message } from '../task/origin.ts'
import type { TaskModel } from '../task/run.ts'
import { inputOf, type FiringMessage, type FiringTask } from './firing-events.ts'
import { RowFiring, type FiredTogether } from './row-firings.ts'
import { countRows } from './limit-index.ts'
import type { RowTexts, StateWhy } from './row-texts.ts'
import type { EpochSource, RecordEpoch } from './row-code.ts'
import type { Fires } from './followings.ts'
import type { RowStore } from './row-store.ts'
import { VectorPast } from './vector-past.ts'

/** Data that these records share since the rows were last up to date. */
export class FiringEpoch implements RecordEpoch {
  readonly past: VectorPast
  /** by place of the row */
  readonly tasks: readonly FiringTask[]
  readonly #store: RowStore
  readonly #model: TaskModel
  readonly #host: Pick<ExecutorHost, 'why' | 'events'>
  readonly #changes: Int32Array
  #record: FiringSet | undefined
  /** by state bits before and after, for rows with the same texts */
  #shown: (Shown | undefined)[] = []
  #texts: RowTexts | undefined
  readonly #sameTexts: RowTexts | undefined

  constructor(
    from: EpochSource,
    store: RowStore,
    tasks: readonly FiringTask[],
    model: TaskModel,
    host: Pick<ExecutorHost, 'why' | 'events'>,
  ) {
    this.past = new VectorPast(from, store)
    this.#changes = from.parts.changes
    this.tasks = tasks
    const [first] = tasks
    this.#sameTexts = tasks.every(({ texts }) => texts === first?.texts) ? first?.texts : undefined
    this.#store = store
    this.#model = model
    this.#host = host
  }

  begin(place: number, message: Message): void {
    const { why, events } = this.#host
    this.#record = new FiringSet(this, place, message, why && events.needsWhy)
    events.recordFirings(this.#record)
  }

  end(reached: number, firing: Int32Array | undefined): void {
    this.#record?.end(reached, firing)
    this.#record = undefined
  }

  /** Returns the sensors whose state did not change, as bits: a why includes `since` only for these. */
  unchanged(before: number, after: number): number {
    const { sensors, bits } = this.#store.shape
    return (2 ** sensors.length - 1) & ~(this.#changes[(before << bits) | after] ?? 0)
  }

  /**
   * Returns what fired the actuator of a row. `states`: bits before the message in the high bits, bits after it in the
   * low bits.
   */
  shown(i: number, states: number): Shown {
    const texts = this.#sameTexts ?? (this.tasks[i] as FiringTask).texts
    if (texts !== this.#texts) {
      this.#texts = texts
      this.#shown = []
    }
    return (this.#shown[states] ??= this.#newShown(texts, states))
  }

  #newShown(texts: RowTexts, states: number): Shown {
    const { bits } = this.#store.shape
    const [before, after] = [states >> bits, states & (2 ** bits - 1)]
    const fires = this.#store.followingOf(this.#model, before, after)[0] as Fires // called only for rows that fire
    return { fires, said: texts.said(fires, before, after) }
  }
}

/** What fired an actuator, and the part of its why that depends on states. */
interface Shown {
  readonly fires: Fires
  readonly said: StateWhy
}

class FiringSet implements EventRecord {
  readonly epoch: FiringEpoch
  /** place of the message in the epoch */
  readonly place: number
  readonly message: Message
  readonly #hasWhy: boolean
  #rows = 0
  /** the rows that fired, as bits; undefined: none */
  #firing: Int32Array | undefined = undefined
  #count = -1

  constructor(epoch: FiringEpoch, place: number, message: Message, hasWhy: boolean) {
    this.epoch = epoch
    this.place = place
    this.message = message
    this.#hasWhy = hasWhy
  }

  get type(): 'record' {
    return 'record'
  }

  /**
   * Called when the first `reached` rows have taken the message and their firings have happened, whatever their
   * actuators did.
   */
  end(reached: number, firing: Int32Array | undefined): void {
    this.#rows = reached
    this.#firing = firing
  }

  count(types: number): number {
    if ((types & FIRED) === 0 || this.#firing === undefined) return 0
    if (this.#count === -1) this.#count = countRows(this.#firing, this.#rows)
    return this.#count
  }

  events(): readonly EngineEvent[] {
    return this.firings(true).map((firing) => firing.toJSON())
  }

  firings(why: boolean): readonly Firing[] {
    const sets = this.#firing
    if (sets === undefined) return []
    // oxlint-disable-next-line unicorn/no-new-array -- sized once: a growing list is copied several times
    const firings = new Array<Firing>(this.count(FIRED))
    let count = 0
    const hasWhy = why && this.#hasWhy
    const from = new FiredInPass(this, hasWhy)
    const { epoch } = this
    const shown = hasWhy ? epoch.past.statesAroundAll(sets, this.#rows, this.place) : undefined
    for (let first = 0; first < this.#rows; first += 32) {
      for (let word = sets[first >> 5] ?? 0; word !== 0; word &= word - 1) {
        const i = first + 31 - Math.clz32(word & -word)
        if (i >= this.#rows) break
        firings[count++] = new RowFiring(from, i, shown && epoch.shown(i, shown[i] as number).said)
      }
    }
    return firings
  }
}

/** Data shared by the firings of a set; `i` is the place of the row. */
class FiredInPass implements FiredTogether {
  readonly time: number
  readonly input: InputSummary | undefined
  readonly #set: FiringSet

  constructor(set: FiringSet, hasWhy: boolean) {
    this.#set = set
    this.time = set.epoch.past.timeOf(set.place)
    this.input = hasWhy ? inputOf(set.message, this.time) : undefined
  }

  get at(): number {
    return this.time
  }

  taskOf(i: number): FiringTask {
    return this.#set.epoch.tasks[i] as FiringTask
  }

  numberOf(i: number): number {
    return this.#set.epoch.past.numberOf(i, this.#set.place)
  }

  firesOf(i: number): Fires {
    const { epoch, place } = this.#set
    return epoch.shown(i, epoch.past.statesAround(i, place)).fires
  }

  /** Vectorized rows have only one actuator. */
  placeOf(): number {
    return 0
  }

  messageOf(i: number): FiringMessage {
    const { epoch, place, message } = this.#set
    const before = epoch.past.statesAt(i, place - 1)
    const after = epoch.past.statesAt(i, place)
    const since = epoch.past.since(i, place, epoch.unchanged(before, after))
    return { number: this.numberOf(i), time: this.time, message, before, after, since }
  }
}
