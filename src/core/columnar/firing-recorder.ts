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
import { COUNT, TIME } from './row-layout.ts'
import type { Fires, Following } from './followings.ts'
import type { RowStore } from './row-store.ts'
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
  /** of the actuator that fired last: of which message of which row, after which sensor, and its place among those */
  #firedRow = -1
  #firedNumber = -1
  #firedPosition = -1
  #firedPlace = 0
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
    if (row === this.#firedRow) this.#firedRow = -1
    if (row === this.#sinceRow) this.#sinceRow = -1
  }

  /**
   * That an actuator of a row fires, the one at a place of what follows from its last message, by a trigger; or that it is
   * held back, when `until` is not over, epoch ms. True, since nobody is told who could take the row away.
   */
  firing(row: number, message: Message, list: readonly Following[], i: number, one: Following, until: number): true {
    const rows = this.#rows
    const time = rows.nums[rows.at(row) + TIME] as number
    const isHeld = time < until
    if (isHeld && !this.#tellsHeld) return true
    const of = this.#tasks.ofRow(row)
    const at = this.#rows.clockOf(row, time)
    const place = isHeld || list.length === 1 ? 0 : this.#placeOf(row, one.position)
    if (!isHeld && one === list[i] && at === time && !this.#hasWhy) return this.#add(row, of, list, i, i + 1, place)
    const own = one === list[i] && list.length === 1 ? list : [one]
    const part = isHeld || at !== time || place > 0 ? { at, place, until: isHeld ? until : undefined } : undefined
    return this.#record(row, of, message, own, part, rows.after(row))
  }

  /** Place of what fires among those that fired after the same sensor in the same message. */
  #placeOf(row: number, position: number): number {
    const number = this.#rows.count(row)
    const isNext = row === this.#firedRow && number === this.#firedNumber && position === this.#firedPosition
    this.#firedRow = row
    this.#firedNumber = number
    this.#firedPosition = position
    return (this.#firedPlace = isNext ? this.#firedPlace + 1 : 0)
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
    const at = this.#rows.clockOf(row, time)
    const isAll = from === 0 && to === inner.length
    if (isAll && at === time && !this.#hasWhy) return this.#add(row, of, inner, 0, to, 0)
    const part = at === time ? undefined : { at, place: 0, until: undefined }
    return this.#record(row, of, message, isAll ? inner : inner.slice(from, to), part, bits)
  }

  /** The same of a row whose sensors are all worked out: they have answered at once, and nothing of the message was told. */
  allInner(row: number, message: Message, bits: number): true {
    const of = this.#tasks.ofRow(row)
    const { inner } = of.texts
    const time = this.#rows.time(row)
    const at = this.#rows.clockOf(row, time)
    const part = at === time ? undefined : { at, place: 0, until: undefined }
    if (this.#hasWhy || part !== undefined) return this.#record(row, of, message, inner, part, bits)
    return this.#add(row, of, inner, 0, inner.length, 0)
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

  /** Those of a list between two places fire at the message's time. `place`: of the first of them. */
  #add(row: number, of: FiringTask, list: readonly Fires[], from: number, to: number, place: number): true {
    const { nums } = this.#rows
    const d = this.#rows.at(row)
    const number = nums[d + COUNT] as number
    const late = this.#late
    if (late.isOpen) {
      if (late.of === of && late.number === number) {
        // The next one of the same list, or the first of another.
        if (late.last === list && late.to === late.base + from) {
          late.to = late.base + to
          return true
        }
        if (from === 0 && late.to === late.list.length && list[0]?.position !== late.list.at(-1)?.position) {
          late.base = late.list.length
          late.list = this.#join(late.list, list)
          late.last = list
          late.to = late.base + to
          return true
        }
      }
      this.#host.events.makeLate()
    }
    late.isOpen = true
    late.of = of
    late.number = number
    late.time = nums[d + TIME] as number
    late.list = list
    late.last = list
    late.base = 0
    late.from = from
    late.to = to
    late.place = place
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
}
