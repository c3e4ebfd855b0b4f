/**
 * The messages of one resource and the tasks that listen to it, in their order. Those that can take them quietly have a
 * seat in a lane; neighbours of one lane are taken in one go, and many of them in a crowd (crowd.ts). Rows need each
 * message to have the fields of the one before (a value that is not repeated stays in reach for a while, which rows do
 * not keep): when fields change, all rise, and sit down again when it has become calm.
 */
import type { MessageListener, MessageSource } from '../engine/executor.ts'
import { Listeners, receiveAll } from '../engine/listeners.ts'
import type { Message } from '../task/origin.ts'
import type { Fields } from './fields.ts'
import type { HotLane, HotRows } from './hot-rows.ts'
import { LAST } from './layout.ts'
import { LEAST_CROWD, type Crowd } from './crowd.ts'
import type { Attachable, Seat, SeatLane, TakenSource } from './seat.ts'

/** What the sources of an engine share. */
export interface SharedByEngine {
  /** epoch ms at which the message at hand is taken */
  readonly clock: Float64Array
  readonly hotRows: HotRows
  /** undefined for a message that no row takes */
  fieldsOf(message: Message): Fields | undefined
}

/** Neighbours in one lane; or a single task that takes its messages the full way, then without a lane. */
interface Stretch {
  readonly lane: SeatLane | null
  readonly rows: number[]
  readonly listeners: MessageListener[]
  /** messages that its rows took one by one since they were arranged, or since their last crowd */
  calm: number
  /** its rows, when they are many and it has been calm */
  crowd: Crowd | undefined
}

/** messages after which rows may go in a crowd */
const CALM = 32
const LONGEST_PAUSE = 1024
/** Shared by all who heard nothing yet. */
const NO_STRETCHES: readonly Stretch[] = []

export class QuietSource<L extends MessageListener = MessageListener> implements MessageSource<L>, TakenSource {
  readonly listeners = new Listeners<L>()
  total = 0
  readonly #resource: string
  readonly #shared: SharedByEngine
  /** where messages go that pass by here */
  #hot: { readonly lane: HotLane; readonly row: number } | null = null
  #isStale = true
  #fields: Fields | undefined
  #stretches: readonly Stretch[] = NO_STRETCHES
  /** listeners that may sit down but do not yet */
  #standing = 0
  #mayBeQuiet = false
  #last: Message | undefined
  /** while a message is taken: the one before, for rows that it has not reached yet */
  #before: Message | undefined
  /** messages during which nobody tries to sit */
  #pause = 0
  #nextPause = 1

  constructor(resource: string, shared: SharedByEngine) {
    this.#resource = resource
    this.#shared = shared
  }

  messageOf(total: number): Message {
    // A hot row counts for itself.
    if (this.#hot !== null) {
      const { lane, row } = this.#hot
      const seat = this.#onlySeat()
      const isLast = seat !== undefined && total === seat.offset + seat.lane.countOf(row)
      return ((isLast ? lane.lane.current : undefined) ??
        lane.rows.objects[row * lane.rows.layout.objects + LAST]) as Message
    }
    return (total === this.total ? this.#last : this.#before) as Message
  }

  changed(): void {
    this.#cool()
    this.#isStale = true
  }

  /** Takes a message that the hot row did not take. */
  take(message: Message, now: number): void {
    this.#cool()
    if (this.#isStale) this.#arrange()
    if (!this.#mayBeQuiet) {
      this.takeFully(message, now)
    } else if (this.#fields === undefined || !this.#fields.areThoseOf(message)) {
      this.#takeOtherFields(message, now)
    } else {
      this.#takeStretches(message, now)
      this.#warm(message)
    }
  }

  #takeStretches(message: Message, now: number): void {
    if (this.#standing > 0 && this.#last !== undefined) this.#sitDownLate(this.#last)
    this.#shared.clock[0] = now
    this.total++
    this.#before = this.#last
    this.#last = message
    for (const stretch of this.#stretches) {
      if (stretch.lane === null) stretch.listeners[0]?.receive(now, [message])
      else takeStretch(stretch, stretch.lane, message, now, this.#before)
    }
    this.#before = undefined
    if (this.#standing > 0) this.#sitDown(message)
  }

  /** Those whose sensors took their time for the message before. */
  #sitDownLate(before: Message): void {
    this.#sitDown(before)
    if (this.#isStale) this.#arrange()
  }

  /** A resource's only row becomes its hot row. */
  #warm(last: Message): void {
    if (this.#isStale) this.#arrange()
    const seat = this.#onlySeat()
    if (seat === undefined || this.#fields === undefined) return
    const hot = { lane: seat.lane.hot(this.#fields), row: seat.row }
    if (this.#shared.hotRows.warm(this.#resource, hot.lane, hot.row, last)) this.#hot = hot
  }

  #cool(): void {
    if (this.#hot === null) return
    this.#last = this.#shared.hotRows.cool(this.#resource, this.#hot.lane, this.#hot.row)
    this.#hot = null
    const seat = this.#onlySeat()
    if (seat !== undefined) seat.offset = this.total - seat.lane.countOf(seat.row)
  }

  #onlySeat(): Seat | undefined {
    const [only, another] = this.#stretches
    return another === undefined && only?.listeners.length === 1 ? inRows(only.listeners[0])?.seat : undefined
  }

  /** Rows cannot take a message with other fields than the one before: all rise, until it is worth trying again. */
  #takeOtherFields(message: Message, now: number): void {
    if (this.#fields !== undefined) {
      for (const listener of this.listeners) inRows(listener).detach()
      this.#fields = undefined
      this.#pause = this.#nextPause
      this.#nextPause = Math.min(LONGEST_PAUSE, 2 * this.#nextPause)
    } else if (this.#pause > 0) {
      this.#pause--
    } else {
      this.#fields = this.#shared.fieldsOf(message)
      if (this.#fields === undefined) this.#pause = LONGEST_PAUSE
    }
    this.takeFully(message, now)
  }

  /** All that listen take it the full way. */
  takeFully(message: Message, now: number): void {
    receiveAll(this.listeners, message, now)
  }

  #arrange(): void {
    this.#isStale = false
    this.#standing = 0
    for (const { lane, crowd } of this.#stretches) if (crowd !== undefined) lane?.scatter(crowd)
    const stretches: Stretch[] = []
    for (const listener of this.listeners) {
      const { seat } = inRows(listener)
      const neighbours = stretches.at(-1)
      if (seat === undefined) {
        if (inRows(listener).canSit) this.#standing++
        stretches.push(stretchOf(null, [], listener))
      } else if (neighbours?.lane === seat.lane) {
        neighbours.rows.push(seat.row)
        neighbours.listeners.push(listener)
      } else stretches.push(stretchOf(seat.lane, [seat.row], listener))
    }
    this.#stretches = stretches
    this.#mayBeQuiet = this.#standing > 0 || stretches.some(({ lane }) => lane !== null)
  }

  #sitDown(message: Message): void {
    for (const listener of this.listeners) {
      const own = inRows(listener)
      if (own.seat !== undefined || !own.canSit) continue
      own.sitDown(message, this)
      if (inRows(listener).seat !== undefined) this.#isStale = true
    }
  }
}

/** The columnar executor makes the executors of all that listen here. */
function inRows<L extends MessageListener | undefined>(listener: L): L extends undefined ? undefined : Attachable {
  return listener?.executor as never
}

function stretchOf(lane: SeatLane | null, rows: number[], listener: MessageListener): Stretch {
  return { lane, rows, listeners: [listener], calm: 0, crowd: undefined }
}

function takeStretch(
  stretch: Stretch,
  lane: SeatLane,
  message: Message,
  now: number,
  before: Message | undefined,
): void {
  const { rows, listeners } = stretch
  lane.taken += rows.length
  const done = takeInCrowd(stretch, lane, message, now, before)
  for (let i = lane.receiveAll(rows, done, message); i < rows.length;) {
    // The message has no number where this task compares one: the fold knows what to do.
    lane.taken--
    listeners[i]?.receive(now, [message])
    i = lane.receiveAll(rows, i + 1, message)
  }
}

/** As far as a crowd takes it: the place of the first row that has to take it by itself. */
function takeInCrowd(
  stretch: Stretch,
  lane: SeatLane,
  message: Message,
  now: number,
  before: Message | undefined,
): number {
  if (stretch.rows.length < LEAST_CROWD) return 0
  if (stretch.crowd?.isOver === true) stretch.crowd = undefined
  if (stretch.crowd === undefined && before !== undefined && ++stretch.calm >= CALM) {
    stretch.calm = 0
    stretch.crowd = lane.gather(stretch.rows, before)
  }
  const { crowd } = stretch
  if (crowd === undefined) return 0
  const done = crowd.take(message, now)
  if (crowd.isOver) lane.scatter(crowd)
  return done
}
