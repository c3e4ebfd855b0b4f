/**
 * Makes records of what fires in rows, or is held back, for those who are told when the input is done (firing-records.ts).
 * Mostly one list fires at the time of its message and nothing else happens in the input: of that nothing is made before
 * somebody is told of it.
 */
import { HELD } from '../engine/event-filter.ts'
import type { ExecutorHost } from '../engine/executor.ts'
import type { Message } from '../task/origin.ts'
import type { TaskModel } from '../task/run.ts'
import type { FiringTask } from './firing-events.ts'
import { FiringRecord, LateFirings, type FiringPart } from './firing-records.ts'
import type { EpochRecords, EpochSource, RecordEpoch } from './row-code.ts'
import { blockAt, COUNT, FIRED as FIRED_AT, TIME } from './row-layout.ts'
import type { Fires, Following, RowStore } from './row-store.ts'
import { FiringEpoch } from './vector-firings.ts'

/** Who knows the tasks of rows. */
export interface FiringTasks {
  ofRow(row: number): FiringTask
}

/** Of as many as are in a list; whoever keeps one record keeps all of it. */
const SINCE = 512

export class FiringRecorder implements EpochRecords {
  readonly #rows: RowStore
  readonly #model: TaskModel
  readonly #host: ExecutorHost
  readonly #tasks: FiringTasks
  readonly #late = new LateFirings()
  /** whether somebody wants whys, and what is held back */
  #hasWhy = false
  #tellsHeld = false
  /** the message at hand: row and number; how many of its sensors have told what they fired */
  #row = -1
  #number = -1
  #sensors = 0
  /** since when nodes had their states, of the last records: an own list of each costs more than what is in it */
  #since = new Float64Array(0)
  #sinceEnd = 0
  /** the last of them: its place, of which message of which row, and state bits before that */
  #sinceAt = 0
  #sinceRow = -1
  #sinceNumber = -1
  #sinceBits = 0
  /** two lists that fire one after the other, by the second: the last ones that were asked for */
  readonly #joined = new Map<readonly Fires[], { readonly first: readonly Fires[]; readonly all: readonly Fires[] }>()

  /** `model`: of any task of the shape. */
  constructor(rows: RowStore, model: TaskModel, host: ExecutorHost, tasks: FiringTasks) {
    this.#rows = rows
    this.#model = model
    this.#host = host
    this.#tasks = tasks
    this.listenersChanged()
  }

  listenersChanged(): void {
    const { why, events } = this.#host
    this.#hasWhy = why && events.wantsWhy
    this.#tellsHeld = (events.anyToldTypes & HELD) !== 0
  }

  /** The row is another task's, or its task has gone on elsewhere. */
  forget(row: number): void {
    if (row === this.#row) this.#row = -1
    if (row === this.#sinceRow) this.#sinceRow = -1
  }

  /**
   * What follows from a row's last message with the answer of one sensor, which begins at a place: actuators that fire, and
   * those that cool down. True, since nobody is told who could take the row away.
   */
  firings(row: number, message: Message, list: readonly Following[], from: number): true {
    const rows = this.#rows
    const time = rows.nums[rows.at(row) + TIME] as number
    const position = list[from]?.position
    /** actuators that have fired, as bits */
    let fired = 0
    let firings = 0
    let untils: number[] | undefined
    let to = from
    for (; to < list.length; to++) {
      const following = list[to] as Following
      if (following.position !== position) break
      const until = following.policyMs === 0 ? time : this.#heldUntil(row, following, time, fired)
      if (time < until) (untils ??= [])[to - from] = until
      else {
        fired |= 1 << following.actuator
        firings++
      }
    }
    if (firings === 0 && (untils === undefined || !this.#tellsHeld)) return true
    const of = this.#tasks.ofRow(row)
    const at = this.#at(row, time)
    const isAll = from === 0 && to === list.length && untils === undefined && at === time
    if (isAll && !this.#hasWhy) return this.#add(row, of, list)
    const part = isAll ? undefined : { at, from, to, fired: firings, untils }
    return this.#record(row, of, message, list, part, rows.after(row))
  }

  /** Which sensors were fired by others, as far as those before a position have answered. `bits`: what they show. True as above. */
  inner(row: number, message: Message, position: number, bits: number): true {
    const rows = this.#rows
    const of = this.#tasks.ofRow(row)
    const { inner, innerBefore } = of.texts
    const number = rows.count(row)
    if (row !== this.#row || number !== this.#number) {
      this.#row = row
      this.#number = number
      this.#sensors = 0
    }
    const from = innerBefore[this.#sensors] as number
    const to = innerBefore[position] as number
    this.#sensors = position
    if (to === from) return true
    const time = rows.time(row)
    const at = this.#at(row, time)
    const isAll = from === 0 && to === inner.length && at === time
    if (isAll && !this.#hasWhy) return this.#add(row, of, inner)
    const part = isAll ? undefined : { at, from, to, fired: to - from, untils: undefined }
    return this.#record(row, of, message, inner, part, bits)
  }

  /** The same of a row whose sensors are all worked out: they have answered at once, and nothing of the message was told. */
  allInner(row: number, message: Message, bits: number): true {
    const of = this.#tasks.ofRow(row)
    const { inner } = of.texts
    return this.#hasWhy ? this.#record(row, of, message, inner, undefined, bits) : this.#add(row, of, inner)
  }

  /** The message at hand of a row goes on with the answer of the sensor at a position; those before have told theirs. */
  goesOn(row: number, position: number): void {
    this.#row = row
    this.#number = this.#rows.count(row)
    this.#sensors = position
  }

  beginEpoch(from: EpochSource): RecordEpoch {
    const tasks = from.rows.map((row) => this.#tasks.ofRow(row))
    return new FiringEpoch(from, this.#rows, tasks, this.#model, this.#host)
  }

  /** All of a list fires at the message's time. */
  #add(row: number, of: FiringTask, list: readonly Fires[]): true {
    const { nums } = this.#rows
    const d = this.#rows.at(row)
    const number = nums[d + COUNT] as number
    const late = this.#late
    if (late.isOpen) {
      const isSame = late.of === of && late.number === number && list[0]?.position !== late.list.at(-1)?.position
      if (isSame) {
        late.list = this.#join(late.list, list)
        return true
      }
      this.#host.events.makeLate()
    }
    late.isOpen = true
    late.of = of
    late.number = number
    late.time = nums[d + TIME] as number
    late.list = list
    this.#host.events.recordLate(late)
    return true
  }

  #join(first: readonly Fires[], second: readonly Fires[]): readonly Fires[] {
    const known = this.#joined.get(second)
    if (known?.first === first) return known.all
    const all = [...first, ...second]
    this.#joined.set(second, { first, all })
    return all
  }

  /** `after`: state bits as far as they are known. */
  #record(
    row: number,
    of: FiringTask,
    message: Message,
    list: readonly Fires[],
    part: FiringPart | undefined,
    after: number,
  ): true {
    const rows = this.#rows
    const { nums } = rows
    const d = rows.at(row)
    const number = nums[d + COUNT] as number
    const time = nums[d + TIME] as number
    const { events } = this.#host
    if (this.#hasWhy) {
      const before = rows.before(row)
      const sinceAt = this.#keepSince(row, number, before)
      events.recordFirings(new FiringRecord(of, number, time, list, part, message, before, after, this.#since, sinceAt))
    } else events.recordFirings(new FiringRecord(of, number, time, list, part))
    return true
  }

  /**
   * Keeps since when each node of a row had its state before its last message, the number of which is given, and state bits
   * before it. Gives from which place on.
   */
  #keepSince(row: number, number: number, before: number): number {
    const isNear = row === this.#sinceRow && number <= this.#sinceNumber + 1
    // The message before changed nothing, or it is the same message.
    const isSame = isNear && before === this.#sinceBits
    this.#sinceNumber = number
    if (isSame) return this.#sinceAt
    this.#sinceRow = row
    this.#sinceBits = before
    const { layout, nums } = this.#rows
    const { nodes } = layout
    const first = this.#rows.at(row) + layout.since
    const sinceAt = this.#sinceEnd + nodes > this.#since.length ? this.#renewSince(nodes) : this.#sinceEnd
    const since = this.#since
    for (let n = 0; n < nodes; n++) since[sinceAt + n] = nums[first + n] as number
    this.#sinceAt = sinceAt
    this.#sinceEnd = sinceAt + nodes
    return sinceAt
  }

  #renewSince(nodes: number): number {
    this.#since = new Float64Array(Math.max(nodes, SINCE))
    return 0
  }

  /** Epoch ms up to which an actuator cools down. `fired`: those that fired with this message before, as bits. */
  #heldUntil(row: number, { actuator, policyMs }: Following, time: number, fired: number): number {
    const { past, layout } = this.#rows
    const firedAt = past[this.#rows.pastAt(row) + blockAt(layout, actuator) + FIRED_AT] as number
    return ((fired >> actuator) & 1 ? time : firedAt) + policyMs
  }

  /** The engine's clock: ahead of the message when a sensor answered late. */
  #at(row: number, time: number): number {
    const { goingOn, clock } = this.#rows
    return goingOn?.row === row ? Math.max(time, clock[1] as number) : time
  }
}
