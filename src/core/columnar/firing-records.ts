/**
 * Records of what fired in a row, or was held back, for those who are told when the input is done: events are made when
 * somebody reads them. A record is what each firing costs that somebody hears: it has no more than nearly all of them need.
 */
import type { EventBatch, EventRecord, LateRecord } from '../engine/event-batch.ts'
import { FIRED, HELD } from '../engine/event-filter.ts'
import type { EngineEvent, EventType, InputSummary } from '../engine/events.ts'
import type { Firing } from '../engine/firing.ts'
import type { Message } from '../task/origin.ts'
import { firedEvent, heldEvent, inputOf, whyOf, type FiringMessage, type FiringTask } from './firing-events.ts'
import { RowFiring, type FiredTogether } from './row-firings.ts'
import type { Fires } from './row-store.ts'
import type { StateWhy } from './row-texts.ts'

/** Of what follows from an answer, when that is not all of a list, at the message's time and with nothing held back. */
export interface FiringPart {
  /** the engine's clock, epoch ms */
  readonly at: number
  /** places in the list */
  readonly from: number
  readonly to: number
  /** how many of them fire */
  readonly fired: number
  /** by place from `from` on, epoch ms until which the others are held back; undefined: none is */
  readonly untils: readonly number[] | undefined
}

/** Of whys that nobody wants. */
const NOTHING_KNOWN: readonly number[] = []

/** What follows from a sensor's answer in a message of a row: what a list says. What whys need stands in the record itself. */
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
   * `number`, `time`: of the message. `part`: undefined when all of the list fires. `message` and what comes after it: what
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
    const { list, part } = this
    const fired = part === undefined ? list.length : part.fired
    const held = part === undefined || (types & HELD) === 0 ? 0 : part.to - part.from - fired
    return (types & FIRED) === 0 ? held : held + fired
  }

  firings(why: boolean): readonly Firing[] {
    const { list, part } = this
    const together = new FiredByRow(this, why)
    if (part === undefined) {
      const { length } = list
      // oxlint-disable-next-line unicorn/no-new-array -- as long as it will be: a list that grows is copied several times
      const all = new Array<Firing>(length)
      for (let i = 0; i < length; i++) all[i] = new RowFiring(together, i, together.saidOf(i))
      return all
    }
    const { from, to, untils } = part
    const firings: Firing[] = []
    for (let i = from; i < to; i++) {
      if (untils?.[i - from] === undefined) firings.push(new RowFiring(together, i, together.saidOf(i)))
    }
    return firings
  }

  events(): readonly EngineEvent[] {
    const { of, list, time, part, told } = this
    const { at, from, to, untils } = part ?? { at: time, from: 0, to: list.length, untils: undefined }
    const input = told && inputOf(told.message, time)
    const events: EngineEvent[] = []
    let place = 0
    let position = -1
    for (let i = from; i < to; i++) {
      const fires = list[i] as Fires
      if (fires.position !== position) place = 0
      position = fires.position
      const until = untils?.[i - from]
      if (until !== undefined) events.push(heldEvent(of, this, fires.trigger, at, until))
      else {
        const why = told && input && whyOf(of.texts, told, fires, input)
        events.push(firedEvent(of, this, fires, at, place++, why))
      }
    }
    return events
  }
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
    const first = part?.from ?? 0
    const { position } = this.firesOf(i)
    let place = 0
    for (let before = i - 1; before >= first && list[before]?.position === position; before--) {
      if (part?.untils?.[before - first] === undefined) place++
    }
    return place
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

/** What fired in a row at the message at hand, all of a list at its time, of which nobody wants whys. Another message fills it anew. */
export class LateFirings implements LateRecord {
  /** filled, and nothing was made of it yet */
  isOpen = false
  of: FiringTask | undefined
  number = 0
  time = 0.5
  list: readonly Fires[] = []

  make(): EventRecord {
    this.isOpen = false
    return new FiringRecord(this.of as FiringTask, this.number, this.time, this.list, undefined)
  }

  batch(): EventBatch {
    this.isOpen = false
    return new FiringBatch(this.of as FiringTask, this.number, this.time, this.list)
  }
}

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
