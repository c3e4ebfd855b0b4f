/**
 * Delivers the messages of one resource to its listening tasks, in their order. Adjacent rows of a batch take a message
 * together, and many such rows form a vectorized batch. A message that rows cannot take detaches the listeners, which
 * become rows again with a later message.
 */
import type { MessageListener, MessageSource } from '../engine/executor.ts'
import { Listeners, receiveAll } from '../engine/listeners.ts'
import type { PlainReason } from '../engine/stats.ts'
import type { Message } from '../task/origin.ts'
import { isStamped, measuredAt } from '../task/readings/reading.ts'
import { firstFieldSets, isKept, nextFieldSets, type FieldSetHistory, type Known } from './field-set-history.ts'
import type { Fields } from './message-fields.ts'
import type { Part } from './message-parts.ts'
import type { IndexedBatch, SingleListenerIndex } from './single-listener-index.ts'
import { LAST } from './row-layout.ts'
import { MIN_VECTORIZED, type VectorizedBatch } from './vectorized-batch.ts'
import type { Attachable, RowHandle, Batch, TakenSource } from './row-handle.ts'

/** State shared by all sources of an engine. */
export interface SharedByEngine {
  /** epoch ms at which the current message is taken */
  readonly clock: Float64Array
  readonly singleListeners: SingleListenerIndex
  /** why the current message is processed in full states, if the message itself is the cause */
  reason: PlainReason
  /** returns undefined for a message that no row takes */
  fieldsOf(message: Message): Fields | undefined
}

/** A run of adjacent rows in one batch; or, with `batch` null, a single task in the state machine. */
interface Stretch {
  readonly batch: Batch | null
  readonly rows: number[]
  readonly listeners: MessageListener[]
  /** messages that rows took one at a time since this stretch was formed or last vectorized */
  calm: number
  /** set when the stretch has many rows and their fields have stayed the same */
  vectorized: VectorizedBatch | undefined
}

const CALM = 32
/** A row that leaves after fewer messages than this was not worth creating. After several of these in a row ... */
const WORTH = 8
const SHORT_LIVES = 3
/** ... this many messages are processed in full states before rows are tried again. */
const PAUSE = 32
const NO_STRETCHES: readonly Stretch[] = []

export class ColumnarSource<L extends MessageListener = MessageListener> implements MessageSource<L>, TakenSource {
  readonly listeners = new Listeners<L>()
  total = 0
  readonly #resource: string
  readonly #shared: SharedByEngine
  #indexed: { readonly batch: IndexedBatch; readonly row: number } | null = null
  #isStale = true
  #fieldSets: FieldSetHistory | undefined
  #stretches: readonly Stretch[] = NO_STRETCHES
  #unattached = 0
  #mayAttachLate = false
  #hasRows = false
  #hasReceived = false
  #last: Message | undefined
  /** time of the last message, epoch ms, and the clock when it arrived */
  #lastAt = 0
  #arrivedAt = 0
  /** `total` when a row was last created */
  #attachedAt = 0
  #before: Message | undefined
  #arrivedBefore = 0
  #shortLives = 0
  #pause = 0

  constructor(resource: string, shared: SharedByEngine) {
    this.#resource = resource
    this.#shared = shared
  }

  messageOf(total: number): Message {
    // An indexed row keeps its own count.
    if (this.#indexed !== null) {
      const { batch, row } = this.#indexed
      const handle = this.#onlyHandle()
      const isLast = handle !== undefined && total === handle.offset + handle.batch.countOf(row)
      return ((isLast && batch.batch.currentRow === row ? batch.batch.current : undefined) ??
        batch.rows.objects[row * batch.rows.layout.objects + LAST]) as Message
    }
    return (total === this.total ? this.#last : this.#before) as Message
  }

  arrivalOf(total: number): number {
    if (this.#indexed !== null) return this.#indexed.batch.rows.arrivals[this.#indexed.row] as number
    return total === this.total ? this.#arrivedAt : this.#arrivedBefore
  }

  fieldSetsAt(index: number): FieldSetHistory {
    const fieldSets =
      this.#indexed === null ? this.#fieldSets : this.#indexed.batch.rows.fieldSetHistories.of(this.#indexed.row)
    return (index < (fieldSets?.from ?? 0) ? (fieldSets?.previous ?? fieldSets) : fieldSets) as FieldSetHistory // set while rows exist
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
    // a message that bypassed the sources arrived together with others
    this.#shared.reason = 'sent'
  }

  #take(message: Message, now: number): void {
    if (!this.#hasRows) {
      this.takeFully(message, now)
    } else if (message.timestamp !== undefined && isStamped(message)) {
      // The full state detects late messages and what preceded them. A message with an equal time may be a duplicate.
      const time = measuredAt(message, now)
      if (time !== undefined && time > this.#lastAt) this.#takeInRows(message, time, now, true)
      else this.#takeStrange(message, now)
    } else this.#takeInRows(message, now, now, false)
  }

  /** `time`: the message's time; `now`: the clock. */
  #takeInRows(message: Message, time: number, now: number, stamped: boolean): void {
    const fields =
      this.#fieldSets?.fields.match(message) === true ? this.#fieldSets.fields : this.#shared.fieldsOf(message)
    if (fields === undefined) this.#takeStrange(message, now)
    else {
      this.#takeStretches(message, time, now, fields, stamped)
      this.#add(message)
    }
  }

  #takeStretches(message: Message, time: number, now: number, fields: Fields, stamped: boolean): void {
    if (this.#mayAttachLate && this.#unattached > 0 && this.#last !== undefined) this.#attachLate(this.#last)
    const { clock } = this.#shared
    clock[0] = time
    if (stamped) clock[1] = now
    const turns = this.#turn(fields)
    this.total++
    this.#before = this.#last
    this.#last = message
    this.#lastAt = time
    this.#arrivedBefore = this.#arrivedAt
    this.#arrivedAt = now
    for (const stretch of this.#stretches) {
      if (stretch.batch === null) stretch.listeners[0]?.receive(now, [message])
      else if (stretch.batch.isStamped !== stamped) this.#takeAllPlain(stretch, message, time, now)
      else this.#takeStretch(stretch, stretch.batch, message, time, now, turns)
    }
    // Do not create a row for the first message: in a large fleet, most resources may never send a second one.
    if (this.#unattached > 0 && this.#hasReceived) this.#attach(message)
    this.#hasReceived = true
    this.#before = undefined
  }

  #turn(fields: Fields): boolean {
    const fieldSets = this.#fieldSets
    if (fieldSets?.fields === fields) return false
    const last = this.#last
    const isFirst = fieldSets === undefined || last === undefined
    this.#fieldSets = isFirst
      ? firstFieldSets(fields)
      : nextFieldSets(fieldSets, last, this.#lastAt, this.total, fields)
    return !isFirst
  }

  #takeStretch(stretch: Stretch, batch: Batch, message: Message, time: number, now: number, turns: boolean): void {
    const { rows, listeners } = stretch
    const fieldSets = this.#fieldSets as FieldSetHistory // set before
    const part = batch.partOf(fieldSets.fields)
    // Only indexed rows look up earlier values for calculations.
    if (part === null || part.carried.length > 0 || (part.lacks.length > 0 && isKept(fieldSets, part.lacks))) {
      this.#takeAllPlain(stretch, message, time, now)
      return
    }
    batch.begin(fieldSets)
    batch.taken += rows.length
    const { previous } = fieldSets
    const isFirst = turns && previous !== undefined && batch.partOf(previous.fields)?.missing === 0
    const known: Known = { fieldSets, message: this.#before, before: turns ? previous : fieldSets }
    // Rows of a vectorized batch store only one time per message.
    if (time !== now && stretch.vectorized !== undefined) batch.flush(stretch.vectorized)
    const done = time === now ? takeVectorized(stretch, batch, message, time, part, known) : 0
    for (let i = batch.receiveAll(rows, done, message, part, isFirst); i < rows.length;) {
      // The message lacks a number that this task compares, so the state machine takes it. A vectorized batch may begin
      // again with the third message after it.
      stretch.calm = CALM - 3
      if (batch.takeUnknown(rows[i] as number, message, time, known, part)) {
        i = batch.receiveAll(rows, i + 1, message, part, isFirst)
        continue
      }
      batch.taken--
      this.#shared.reason = 'value'
      this.#takePlain(listeners[i] as MessageListener, message, time, now)
      this.#shared.reason = 'first'
      i = batch.receiveAll(rows, i + 1, message, part, isFirst)
    }
    batch.end()
  }

  #takeAllPlain({ listeners }: Stretch, message: Message, time: number, now: number): void {
    this.#shared.reason = 'fields'
    for (const listener of listeners) this.#takePlain(listener, message, time, now)
    this.#shared.reason = 'first'
  }

  #takePlain(listener: MessageListener, message: Message, time: number, now: number): void {
    if (inRows(listener).takeFully(now, message, time)) return
    this.#detour()
    listener.receive(now, [message])
  }

  #detour(): void {
    this.#shortLives = this.total - this.#attachedAt < WORTH ? this.#shortLives + 1 : 0
    if (this.#shortLives >= SHORT_LIVES) this.#pause = PAUSE
  }

  #takeStrange(message: Message, now: number): void {
    this.#shared.reason = 'fields'
    this.#detour()
    for (const listener of this.listeners) inRows(listener).detach()
    this.#fieldSets = undefined
    this.#last = undefined
    this.takeFully(message, now)
  }

  #attachLate(before: Message): void {
    this.#attach(before)
    if (this.#isStale) this.#arrange()
  }

  #add(last: Message): void {
    if (this.#isStale) this.#arrange()
    const handle = this.#onlyHandle()
    const fieldSets = this.#fieldSets
    if (handle === undefined || fieldSets === undefined) return
    const { batch } = handle
    if (batch.oddGates.has(handle.row)) return
    const indexed = { batch: batch.indexed(fieldSets.fields), row: handle.row }
    const seen = handle.offset + handle.materializedCount
    // A field-set history without a past is shared, so rows compare it fastest.
    const own =
      fieldSets.kept === undefined || fieldSets.kept.index < seen ? indexed.batch.usualOf(fieldSets.fields) : fieldSets
    if (!this.#shared.singleListeners.add(this.#resource, indexed.batch, indexed.row, last, own)) return
    this.#indexed = indexed
    if (batch.isStamped) indexed.batch.rows.arrivals[indexed.row] = this.#arrivedAt
  }

  #remove(): void {
    if (this.#indexed === null) return
    const { batch, row } = this.#indexed
    const { last, fieldSets } = this.#shared.singleListeners.remove(this.#resource, batch, row)
    // When a row leaves in the middle of a message, that message is its last one.
    const current = batch.batch.currentRow === row ? batch.batch.current : undefined
    this.#last = current ?? last
    this.#before = current === undefined ? undefined : last
    this.#fieldSets = fieldSets
    this.#indexed = null
    this.#arrivedAt = batch.rows.arrivals[row] ?? 0
    const handle = this.#onlyHandle()
    if (handle === undefined) return
    this.#lastAt = handle.batch.timeOf(handle)
    this.total = handle.offset + handle.batch.countOf(row)
  }

  #onlyHandle(): RowHandle | undefined {
    const [only, another] = this.#stretches
    return another === undefined && only?.listeners.length === 1 ? inRows(only.listeners[0])?.handle : undefined
  }

  /** Delivers the message to the full state of each listener. */
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
    this.#mayAttachLate = true
    this.#hasRows = this.#unattached > 0 || stretches.some(({ batch }) => batch !== null)
  }

  #attach(message: Message): void {
    if (this.#pause > 0) {
      this.#pause--
      return
    }
    this.#mayAttachLate = false
    for (const listener of this.listeners) {
      const own = inRows(listener)
      if (own.handle !== undefined || !own.canAttach) continue
      own.attach(message, this)
      if (inRows(listener).handle === undefined) {
        this.#mayAttachLate ||= own.isCalling
        continue
      }
      this.#isStale = true
      this.#attachedAt = this.total
    }
  }
}

function inRows<L extends MessageListener | undefined>(listener: L): L extends undefined ? undefined : Attachable {
  return listener?.executor as never
}

function stretchOf(batch: Batch | null, rows: number[], listener: MessageListener): Stretch {
  return { batch, rows, listeners: [listener], calm: 0, vectorized: undefined }
}

function takeVectorized(
  stretch: Stretch,
  batch: Batch,
  message: Message,
  now: number,
  part: Part,
  { fieldSets, message: last, before }: Known,
): number {
  if (stretch.rows.length < MIN_VECTORIZED) return 0
  if (stretch.vectorized?.isOver === true) stretch.vectorized = undefined
  if (stretch.vectorized === undefined && last !== undefined && before !== undefined && ++stretch.calm >= CALM) {
    stretch.calm = 0
    stretch.vectorized = batch.vectorize(stretch.rows, last, before)
  }
  const { vectorized } = stretch
  if (vectorized === undefined) return 0
  const done = vectorized.take(message, now, fieldSets, part)
  batch.vectorized += done
  if (vectorized.isOver) batch.flush(vectorized)
  return done
}
