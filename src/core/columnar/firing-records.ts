/**
 * Records of what fired in a row, or was held back, for those who are told when the input is done: events are made when
 * somebody reads them. A record is what each firing costs that somebody hears: it has no more than nearly all of them need.
 */
import { RecordBatch, type EventBatch, type EventRecord, type LateRecord, type Wanted } from '../engine/event-batch.ts'
import { FIRED, HELD } from '../engine/event-filter.ts'
import type { EngineEvent, EventType, InputSummary } from '../engine/events.ts'
import type { Firing } from '../engine/firing.ts'
import type { Message } from '../task/origin.ts'
import { firedEvent, heldEvent, inputOf, whyOf, type FiringMessage, type FiringTask } from './firing-events.ts'
import { RowFiring, type FiredTogether } from './row-firings.ts'
import type { Fires } from './followings.ts'
import type { StateWhy } from './row-texts.ts'

/** Of what fires, when that is not at the message's time, not the first of its place, or held back. */
export interface FiringPart {
  /** the engine's clock, epoch ms */
  readonly at: number
  /** of the first among those that fired after the same sensor */
  readonly place: number
  /** epoch ms until which the only one is held back; undefined: all fire */
  readonly until: number | undefined
}

/** Of whys that nobody wants. */
const NOTHING_KNOWN: readonly number[] = []

/** What fires in a message of a row: what a list says. What whys need stands in the record itself. */
export class FiringRecord implements EventRecord, Omit<FiringMessage, 'message'> {
  readonly of: FiringTask
  readonly number: number
  readonly time: number
  readonly list: readonly Fires[]
  readonly part: FiringPart | undefined
  readonly message: Message | undefined
  readonly before: number
  readonly after: number
  readonly since: ArrayLike<number>
  readonly sinceAt: number

  /**
   * `number`, `time`: of the message. `part`: undefined when all of the list fires at that time. `message` and what comes after it: what
   * whys need; left out when nobody wants them.
   */
  constructor(
    of: FiringTask,
    number: number,
    time: number,
    list: readonly Fires[],
    part: FiringPart | undefined,
    message?: Message,
    before = 0,
    after = 0,
    since: ArrayLike<number> = NOTHING_KNOWN,
    sinceAt = 0,
  ) {
    this.of = of
    this.number = number
    this.time = time
    this.list = list
    this.part = part
    this.message = message
    this.before = before
    this.after = after
    this.since = since
    this.sinceAt = sinceAt
  }

  get type(): 'record' {
    return 'record'
  }

  /** undefined: nobody wants whys */
  get told(): FiringMessage | undefined {
    return this.message === undefined ? undefined : (this as FiringMessage)
  }

  count(types: number): number {
    return (types & (this.part?.until === undefined ? FIRED : HELD)) === 0 ? 0 : this.list.length
  }

  firings(why: boolean): readonly Firing[] {
    if (this.part?.until !== undefined) return []
    const { length } = this.list
    const together = new FiredByRow(this, why)
    // oxlint-disable-next-line unicorn/no-new-array -- as long as it will be: a list that grows is copied several times
    const all = new Array<Firing>(length)
    for (let i = 0; i < length; i++) all[i] = new RowFiring(together, i, together.saidOf(i))
    return all
  }

  events(): readonly EngineEvent[] {
    const { of, list, time, part, told } = this
    const { at = time, until } = part ?? {}
    if (until !== undefined) return list.map(({ trigger }) => heldEvent(of, this, trigger, at, until))
    const input = told && inputOf(told.message, time)
    return list.map((fires, i) => {
      const why = told && input && whyOf(of.texts, told, fires, input)
      return firedEvent(of, this, fires, at, placeIn(list, i, part?.place), why)
    })
  }
}

/** Place of what fires among those that fired after the same sensor. `first`: of the first in the list. */
function placeIn(list: readonly Fires[], i: number, first = 0): number {
  const position = list[i]?.position
  let place = 0
  while (place < i && list[i - place - 1]?.position === position) place++
  return place === i ? first + place : place
}

/** What the firings of a record share, each called by its place in the list. */
class FiredByRow implements FiredTogether {
  readonly input: InputSummary | undefined
  readonly #record: FiringRecord
  /** what their whys say of states, of sensors that others fire: these fire with each message, all of them */
  readonly #said: readonly StateWhy[] | undefined

  constructor(record: FiringRecord, why: boolean) {
    const { of, time, list, message, before, after } = record
    this.#record = record
    this.input = why && message !== undefined ? inputOf(message, time) : undefined
    this.#said = list === of.texts.inner && this.input !== undefined ? of.texts.innerSaid(before, after) : undefined
  }

  get time(): number {
    return this.#record.time
  }

  get at(): number {
    const { time, part } = this.#record
    return part === undefined ? time : part.at
  }

  taskOf(): FiringTask {
    return this.#record.of
  }

  numberOf(): number {
    return this.#record.number
  }

  toldOf(): FiringMessage {
    return this.#record as FiringMessage // whoever asks has its input
  }

  firesOf(i: number): Fires {
    return this.#record.list[i] as Fires
  }

  placeOf(i: number): number {
    const { list, part } = this.#record
    return placeIn(list, i, part?.place)
  }

  /** What its why says of states; undefined: nobody wants whys. */
  saidOf(i: number): StateWhy | undefined {
    return this.input && (this.#said?.[i] ?? this.#find(i))
  }

  #find(i: number): StateWhy {
    const { of, before, after } = this.#record
    return of.texts.said(this.firesOf(i), before, after)
  }
}

/** What fired in a row at the message at hand, of a list at its time, of which nobody wants whys. Another message fills it anew. */
export class LateFirings implements LateRecord {
  /** filled, and nothing was made of it yet */
  isOpen = false
  of: FiringTask | undefined
  number = 0
  time = 0.5
  list: readonly Fires[] = []
  /** those between two places of it */
  from = 0
  to = 0
  /** of the first of them, among those that fired after the same sensor */
  place = 0
  /** the list that was joined to it last, and the place where that begins */
  last: readonly Fires[] = []
  base = 0

  make(): EventRecord {
    this.isOpen = false
    return this.#record()
  }

  batch(): EventBatch {
    this.isOpen = false
    const { from, to, place, list } = this
    if (from > 0 || to < list.length || place > 0) return new RecordBatch(this.#record(), to - from, FIRED_ALONE)
    return new FiringBatch(this.of as FiringTask, this.number, this.time, list)
  }

  #record(): FiringRecord {
    const { of, number, time, list, from, to, place } = this
    const own = from > 0 || to < list.length ? list.slice(from, to) : list
    const part = place > 0 ? { at: time, place, until: undefined } : undefined
    return new FiringRecord(of as FiringTask, number, time, own, part)
  }
}

const FIRED_ALONE: Wanted = { types: FIRED, why: false }

/** The same for who is told of it, in one object. */
class FiringBatch implements EventBatch {
  readonly #of: FiringTask
  readonly #number: number
  readonly #time: number
  readonly #list: readonly Fires[]
  #events: readonly EngineEvent[] | undefined = undefined

  constructor(of: FiringTask, number: number, time: number, list: readonly Fires[]) {
    this.#of = of
    this.#number = number
    this.#time = time
    this.#list = list
  }

  get length(): number {
    return this.#list.length
  }

  count(type: EventType): number {
    return type === 'fired' ? this.#list.length : 0
  }

  at(index: number): EngineEvent | undefined {
    return this.#made()[index]
  }

  [Symbol.iterator](): Iterator<EngineEvent> {
    return this.#made().values()
  }

  firings(): readonly Firing[] {
    return this.#record().firings(false)
  }

  #made(): readonly EngineEvent[] {
    return (this.#events ??= this.#record().events())
  }

  #record(): FiringRecord {
    return new FiringRecord(this.#of, this.#number, this.#time, this.#list, undefined)
  }
}
