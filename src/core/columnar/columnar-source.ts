/**
 * The messages of one resource and the tasks that listen to it, in their order. Those that can are rows: neighbours of
 * one batch are taken in one go, many of them in a vectorized batch. Rows need each message to have the fields of the one
 * before (a value that is not repeated stays in reach for a while, which rows do not keep): when fields change, all are
 * detached, and become rows again when fields have stayed the same for a while.
 */
import type { MessageListener, MessageSource } from '../engine/executor.ts'
import { Listeners, receiveAll } from '../engine/listeners.ts'
import type { PlainReason } from '../engine/stats.ts'
import type { Message } from '../task/origin.ts'
import type { Fields } from './message-fields.ts'
import type { IndexedBatch, SingleListenerIndex } from './single-listener-index.ts'
import { LAST } from './row-layout.ts'
import { MIN_VECTORIZED, type VectorizedBatch } from './vectorized-batch.ts'
import type { Attachable, RowHandle, Batch, TakenSource } from './row-handle.ts'

/** What the sources of an engine share. */
export interface SharedByEngine {
  /** epoch ms at which the message at hand is taken */
  readonly clock: Float64Array
  readonly singleListeners: SingleListenerIndex
  /** why the message at hand is taken on full states, when it is the message's own doing */
  reason: PlainReason
  /** undefined for a message that no row takes */
  fieldsOf(message: Message): Fields | undefined
}

/** Neighbours in one batch; or a single task that takes its messages the full way, then without a batch. */
interface Stretch {
  readonly batch: Batch | null
  readonly rows: number[]
  readonly listeners: MessageListener[]
  /** messages that its rows took one by one since they were arranged, or since their last vectorized batch */
  calm: number
  /** its rows, when they are many and their fields have stayed the same */
  vectorized: VectorizedBatch | undefined
}

/** messages after which rows may go in a vectorized batch */
const CALM = 32
const LONGEST_PAUSE = 1024
/** Shared by all who heard nothing yet. */
const NO_STRETCHES: readonly Stretch[] = []

export class ColumnarSource<L extends MessageListener = MessageListener> implements MessageSource<L>, TakenSource {
  readonly listeners = new Listeners<L>()
  total = 0
  readonly #resource: string
  readonly #shared: SharedByEngine
  /** where messages go that pass by here */
  #indexed: { readonly batch: IndexedBatch; readonly row: number } | null = null
  #isStale = true
  #fields: Fields | undefined
  #stretches: readonly Stretch[] = NO_STRETCHES
  /** listeners that may be rows but are not yet */
  #unattached = 0
  #hasRows = false
  #last: Message | undefined
  /** while a message is taken: the one before, for rows that it has not reached yet */
  #before: Message | undefined
  /** messages during which nobody tries to attach */
  #pause = 0
  #nextPause = 1

  constructor(resource: string, shared: SharedByEngine) {
    this.#resource = resource
    this.#shared = shared
  }

  messageOf(total: number): Message {
    // A indexed row counts for itself.
    if (this.#indexed !== null) {
      const { batch, row } = this.#indexed
      const handle = this.#onlyHandle()
      const isLast = handle !== undefined && total === handle.offset + handle.batch.countOf(row)
      return ((isLast && batch.batch.currentRow === row ? batch.batch.current : undefined) ??
        batch.rows.objects[row * batch.rows.layout.objects + LAST]) as Message
    }
    return (total === this.total ? this.#last : this.#before) as Message
  }

  changed(): void {
    this.#remove()
    this.#isStale = true
  }

  /** Takes a message that the indexed row did not take. */
  take(message: Message, now: number): void {
    this.#remove()
    if (this.#isStale) this.#arrange()
    this.#shared.reason = 'first'
    this.#take(message, now)
    // what comes past the sources came with others
    this.#shared.reason = 'sent'
  }

  #take(message: Message, now: number): void {
    if (!this.#hasRows) {
      this.takeFully(message, now)
    } else if (this.#fields === undefined || !this.#fields.match(message)) {
      this.#takeOtherFields(message, now)
    } else {
      this.#takeStretches(message, now)
      this.#add(message)
    }
  }

  #takeStretches(message: Message, now: number): void {
    if (this.#unattached > 0 && this.#last !== undefined) this.#attachLate(this.#last)
    this.#shared.clock[0] = now
    this.total++
    this.#before = this.#last
    this.#last = message
    for (const stretch of this.#stretches) {
      if (stretch.batch === null) stretch.listeners[0]?.receive(now, [message])
      else takeStretch(stretch, stretch.batch, message, now, this.#before, this.#shared)
    }
    this.#before = undefined
    if (this.#unattached > 0) this.#attach(message)
  }

  /** Those whose sensors took their time for the message before. */
  #attachLate(before: Message): void {
    this.#attach(before)
    if (this.#isStale) this.#arrange()
  }

  /** A resource's only row becomes its indexed row. */
  #add(last: Message): void {
    if (this.#isStale) this.#arrange()
    const handle = this.#onlyHandle()
    if (handle === undefined || this.#fields === undefined) return
    const indexed = { batch: handle.batch.indexed(this.#fields), row: handle.row }
    if (this.#shared.singleListeners.add(this.#resource, indexed.batch, indexed.row, last)) this.#indexed = indexed
  }

  #remove(): void {
    if (this.#indexed === null) return
    this.#last = this.#shared.singleListeners.remove(this.#resource, this.#indexed.batch, this.#indexed.row)
    this.#indexed = null
    const handle = this.#onlyHandle()
    if (handle !== undefined) handle.offset = this.total - handle.batch.countOf(handle.row)
  }

  #onlyHandle(): RowHandle | undefined {
    const [only, another] = this.#stretches
    return another === undefined && only?.listeners.length === 1 ? inRows(only.listeners[0])?.handle : undefined
  }

  /** Rows cannot take a message with other fields than the one before: all detach, until it is worth trying again. */
  #takeOtherFields(message: Message, now: number): void {
    if (this.#fields !== undefined || this.#pause > 0) this.#shared.reason = 'fields'
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
    this.#unattached = 0
    for (const { batch, vectorized } of this.#stretches) if (vectorized !== undefined) batch?.flush(vectorized)
    const stretches: Stretch[] = []
    for (const listener of this.listeners) {
      const { handle } = inRows(listener)
      const neighbours = stretches.at(-1)
      if (handle === undefined) {
        if (inRows(listener).canAttach) this.#unattached++
        stretches.push(stretchOf(null, [], listener))
      } else if (neighbours?.batch === handle.batch) {
        neighbours.rows.push(handle.row)
        neighbours.listeners.push(listener)
      } else stretches.push(stretchOf(handle.batch, [handle.row], listener))
    }
    this.#stretches = stretches
    this.#hasRows = this.#unattached > 0 || stretches.some(({ batch }) => batch !== null)
  }

  #attach(message: Message): void {
    for (const listener of this.listeners) {
      const own = inRows(listener)
      if (own.handle !== undefined || !own.canAttach) continue
      own.attach(message, this)
      if (inRows(listener).handle !== undefined) this.#isStale = true
    }
  }
}

/** The columnar executor makes the executors of all that listen here. */
function inRows<L extends MessageListener | undefined>(listener: L): L extends undefined ? undefined : Attachable {
  return listener?.executor as never
}

function stretchOf(batch: Batch | null, rows: number[], listener: MessageListener): Stretch {
  return { batch, rows, listeners: [listener], calm: 0, vectorized: undefined }
}

function takeStretch(
  stretch: Stretch,
  batch: Batch,
  message: Message,
  now: number,
  before: Message | undefined,
  shared: SharedByEngine,
): void {
  const { rows, listeners } = stretch
  batch.taken += rows.length
  const done = takeVectorized(stretch, batch, message, now, before)
  for (let i = batch.receiveAll(rows, done, message); i < rows.length;) {
    // The message has no number where this task compares one: the state machine knows what to do.
    batch.taken--
    shared.reason = 'value'
    listeners[i]?.receive(now, [message])
    shared.reason = 'first'
    i = batch.receiveAll(rows, i + 1, message)
  }
}

/** As far as a vectorized batch takes it: the place of the first row that has to take it by itself. */
function takeVectorized(
  stretch: Stretch,
  batch: Batch,
  message: Message,
  now: number,
  before: Message | undefined,
): number {
  if (stretch.rows.length < MIN_VECTORIZED) return 0
  if (stretch.vectorized?.isOver === true) stretch.vectorized = undefined
  if (stretch.vectorized === undefined && before !== undefined && ++stretch.calm >= CALM) {
    stretch.calm = 0
    stretch.vectorized = batch.vectorize(stretch.rows, before)
  }
  const { vectorized } = stretch
  if (vectorized === undefined) return 0
  const done = vectorized.take(message, now)
  batch.vectorized += done
  if (vectorized.isOver) batch.flush(vectorized)
  return done
}
