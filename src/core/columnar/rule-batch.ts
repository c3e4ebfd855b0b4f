/**
 * The tasks of one shape as rows of numbers. A handle ties a task to its row; the task's full state
 * is as it was when it became a row or was materialized last, and `synchronize` brings it up to date (materialize.ts).
 *
 * BATCH-1 a row and the state machine agree: materializing at any moment gives the state that the machine would have
 *   made.
 * BATCH-2 a plug that was called is never called again for the same message; its answer is used again.
 * BATCH-3 a call that a row cannot hold (an answer beyond a state and raw data, an error, a sensor that reads its task)
 *   continues in the state machine; calls of actuators stay in flight beside the row (actuator-calls.ts).
 */
import { fillProperties } from '../engine/call-plug.ts'
import type { Counts } from '../engine/counts.ts'
import type { ReadingCounts } from '../task/readings/readings.ts'
import { FIRED, HELD } from '../engine/event-filter.ts'
import type { ExecutorHost, Generate } from '../engine/executor.ts'
import type { PlugContext } from '../plug/plug.ts'
import type { BadAnswer } from '../plug/result.ts'
import type { Message } from '../task/origin.ts'
import { SILENT, type Sink, type TaskModel } from '../task/run.ts'
import type { Execution } from '../task/state.ts'
import { RowTakers } from './row-takers.ts'
import type { RowCode, RowEvents, Values } from './row-code.ts'
import { VectorizedBatch } from './vectorized-batch.ts'
import { vectorPartsOf, type VectorDependencies } from './vector-code.ts'
import type { Fields, FieldsTable } from './message-fields.ts'
import type { Era, Known } from './message-eras.ts'
import type { Part } from './message-parts.ts'
import { generatedRows } from './generated-rows.ts'
import type { IndexedBatch } from './single-listener-index.ts'
import { HANDLE } from './row-layout.ts'
import type { RowPlugCalls } from './row-plug-calls.ts'
import type { Progress } from './replay.ts'
import { FiringRecorder } from './firing-recorder.ts'
import { RowEventWriter } from './row-events.ts'
import { RowRecords } from './row-records.ts'
import { RowMessage } from './row-message.ts'
import type { RowContext } from './row-context.ts'
import { RowCalls, type RowCall, type RowCallLane } from './open-row-calls.ts'
import type { Following } from './followings.ts'
import { RowStore, type RawData, type SensorCall } from './row-store.ts'
import type { BatchTask, RowHandle, Batch, TakenSource } from './row-handle.ts'
import type { BatchFit, BatchShape } from './batch-shape.ts'
import { materialize, materializeInto } from './materialize.ts'
import { setUpRow } from './new-row.ts'
import { ActuatorCalls } from './actuator-calls.ts'
import { effectOf } from './row-effects.ts'
import { makeSeen, type RowEffect } from './seen-task.ts'
import { UnknownStates } from './unknown-states.ts'
import { isPromise, mayHold, plainState } from './ordinary-answers.ts'

export class RuleBatch implements RowEvents, RowCallLane, Batch {
  taken = 0
  vectorized = 0
  opened = 0
  current: Message | undefined
  currentRow = -1
  tells = false
  tellsHeld = false
  tellsWhy = false
  tellsInner = false
  records: RowRecords | undefined = undefined
  firings: FiringRecorder | undefined = undefined
  readonly history: RowRecords['history']
  readonly oddGates: RowStore['oddGates']
  readonly #events: RowEventWriter
  readonly #recorder: FiringRecorder
  readonly #records: RowRecords
  readonly #host: Pick<ExecutorHost, 'events' | 'why'>
  /** filled anew for each message that tells something */
  readonly #told: RowMessage
  /** messages that were opened in the state machine, where their firings are counted */
  #inFold = 0
  /** those of them that a vectorized batch took */
  #openedVectorized = 0
  /** by messages that were not */
  #firings = 0
  #held = 0
  /** triggers into sensors, which fire with each message */
  readonly #inner: number
  /** of messages whose firings nobody has counted */
  readonly #counting: Sink
  readonly #rows: RowStore
  readonly #takers: RowTakers
  readonly #unknown: UnknownStates
  /** undefined: a call that does not answer at once goes on in the state machine */
  readonly #rowCalls: RowCalls | undefined
  readonly #generate: Generate
  readonly #calls: RowPlugCalls
  #context: RowContext | undefined
  /** whether an answer of its sensors ever had raw data */
  #givesRawData = false
  /** undefined: its rows cannot go in vectorized; null: nobody asked yet */
  #vectorParts: VectorDependencies | undefined | null = null
  /** by row: those of which calls that act have gone on in the full state */
  readonly actuators: ActuatorCalls
  /** by row: the vectorized that it goes with */
  readonly #vectorized: (VectorizedBatch | undefined)[] = []
  /** the last one that gave its row away: a plug may ask about a call that is long over */
  #left: RowHandle | undefined

  constructor(
    shape: BatchShape,
    model: TaskModel,
    calls: RowPlugCalls,
    clock: Float64Array,
    host: ExecutorHost,
    fields: FieldsTable,
    generate: Generate,
    isStamped: boolean,
  ) {
    const { counts, tellsOfCalls } = host
    this.#counting = { ...SILENT, counts }
    this.#inner = model.graph.triggers.filter(({ destination }) => destination.kind === 'sensor').length
    this.#rows = new RowStore(shape, model, clock, isStamped)
    this.oddGates = this.#rows.oddGates
    this.#unknown = new UnknownStates(this.#rows, model, this, host.keepsLog)
    this.#host = host
    this.#events = new RowEventWriter(this.#rows, host)
    this.#recorder = new FiringRecorder(this.#rows, model, host, this.#events)
    this.#records = new RowRecords(this.#rows, model, host)
    this.history = this.#records.history
    this.#told = new RowMessage(this.#rows.nums)
    this.listenersChanged()
    this.#generate = generate
    this.#calls = calls
    this.actuators = new ActuatorCalls(this.#rows, this, calls, this.#records)
    this.#takers = new RowTakers(this.#rows, this, fields, generatedRows(this.#rows, this, generate))
    this.#rowCalls = tellsOfCalls ? undefined : new RowCalls(this.#rows, this, calls, host)
  }

  /** A handle for a task whose full state has seen the last message of its resource, and nothing is open in it. */
  attach(task: BatchTask, fit: BatchFit, source: TakenSource): RowHandle {
    const rows = this.#rows
    const row = this.#add()
    const handle: RowHandle = {
      batch: this,
      row,
      task,
      fit,
      source,
      offset: source.total,
      materializedCount: 0,
      isAway: false,
      unknown: undefined,
      acts: false,
      failed: [],
    }
    setUpRow(rows, handle)
    rows.offsets[row] = handle.offset
    rows.unknownAt[row] = this.#unknown.placeIn(task.state, 0)
    this.#forget(row)
    rows.fill(row, task.state, fit.constants, 0, task.state.streams[0]?.at ?? 0)
    this.actuators.set(handle, task.state.inFlight.size > 0)
    return handle
  }

  /** A row. Generated code is made anew whenever the rows move. */
  #add(): number {
    const { room } = this.#rows
    const row = this.#rows.add()
    if (this.#rows.room > room) this.#takers.renew(generatedRows(this.#rows, this, this.#generate))
    return row
  }

  get isStamped(): boolean {
    return this.#rows.parts.isStamped
  }

  get shape(): BatchShape {
    return this.#rows.shape
  }

  handleAt(row: number): RowHandle {
    return (this.#rows.objects[row * this.#rows.layout.objects + HANDLE] ?? this.#left) as RowHandle
  }

  /** What is told of a row from here on is another task's, or its task goes on from elsewhere, `count` messages long. */
  #forget(row: number, count = 0): void {
    this.#events.forget(row)
    this.#recorder.forget(row)
    this.#records.forget(row, count)
  }

  /** Gives a row away. What it knows and the full state does not is lost: synchronize first. */
  free(handle: RowHandle): void {
    const { row } = handle
    this.#apart(row)
    this.#rowCalls?.forget(row)
    this.actuators.forget(row)
    this.#forget(row)
    this.#left = handle
    this.#rows.free(row)
  }

  /** How many messages its rows took to their end, those in one pass among them, and how many went on elsewhere. */
  get ways(): { taken: number; vectorized: number; opened: number } {
    const opened = this.#inFold
    return { taken: this.taken - opened, vectorized: this.vectorized - this.#openedVectorized, opened }
  }

  /** What was done in rows alone. */
  get counts(): Omit<Counts, keyof ReadingCounts> {
    return {
      steps: this.taken + (this.#rowCalls?.answers ?? 0),
      firings: this.#firings + (this.taken - this.#inFold) * this.#inner - this.#unknown.notRun,
      calls: this.#firings,
      held: this.#held,
      dropped: 0,
    }
  }

  indexed(fields: Fields): IndexedBatch {
    return this.#takers.indexed(fields)
  }

  partOf(fields: Fields): Part | null {
    return this.#rows.parts.next(fields)
  }

  get code(): RowCode {
    return this.#takers.code
  }

  begin(era: Era): void {
    this.#rows.era = era
  }

  end(): void {
    this.current = undefined
  }

  receiveAll(list: readonly number[], from: number, message: Message, part: Part, isFirst: boolean): number {
    const done = this.#takers.takeAll(part)(list, from, message, part, isFirst)
    // A row that is indexed from here on says itself what came last.
    this.current = undefined
    return done
  }

  vectorize(rows: readonly number[], last: Message, era: Era): VectorizedBatch | undefined {
    const [first = 0] = rows
    if (this.tellsInner || this.actuators.isAny(rows)) return undefined
    if (this.#vectorParts === null) {
      const { model } = this.handleAt(first).task
      const mayFail = this.#unknown.isPossible && !this.#rows.shape.inner
      this.#vectorParts = vectorPartsOf(this.#rows, first, model, this.#generate, mayFail)
    }
    if (this.records?.canVectorize(this.#vectorParts?.all ?? []) === false) return undefined
    const vectorized = this.#vectorParts ? VectorizedBatch.of(rows, this.#vectorParts, this, last, era) : undefined
    for (const row of vectorized?.rows ?? []) this.#vectorized[row] = vectorized
    return vectorized
  }

  flush(vectorized: VectorizedBatch): void {
    vectorized.end()
    for (const row of vectorized.rows) this.#vectorized[row] = undefined
  }

  listenersChanged(): void {
    const { anyToldTypes, takesRecords, firesInRecords } = this.#host.events
    this.tells = (anyToldTypes & (FIRED | HELD)) !== 0
    this.tellsHeld = (anyToldTypes & HELD) !== 0
    this.tellsWhy = this.#host.why && this.#host.events.wantsWhy
    this.tellsInner = this.tells && this.#inner > 0
    this.firings = firesInRecords ? this.#recorder : undefined
    this.#recorder.listenersChanged()
    const isNew = takesRecords && this.records === undefined
    if (isNew) this.#rowCalls?.openAll()
    this.records = takesRecords ? this.#records : undefined
    const keeps = takesRecords || this.history !== undefined
    this.#rows.parts.isCompleteOnly = keeps
    this.#takeWhole(this.tells || keeps)
    this.#events.forgetAll()
    // What one sensor fires of others happens with each message, which a vectorized batch does not look at.
    if (this.tellsInner || isNew)
      for (const vectorized of new Set(this.#vectorized)) if (vectorized) this.flush(vectorized)
  }

  /** Events are numbered by messages that ran all sensors: rows that took others are brought up to date first. */
  #takeWhole(isWholeOnly: boolean): void {
    const rows = this.#rows
    if (isWholeOnly && !rows.parts.isWholeOnly) {
      for (const vectorized of new Set(this.#vectorized)) if (vectorized) this.flush(vectorized)
      for (let row = 0; row * rows.layout.objects < rows.objects.length; row++) {
        if ((rows.notRun(row)?.missed ?? 0) > 0) this.synchronize(this.handleAt(row))
      }
    }
    rows.parts.isWholeOnly = isWholeOnly
  }

  tellInner(row: number, bits: number, message: Values): boolean {
    // Nobody is told before the input is done: nobody asks for what is at hand.
    if (this.firings !== undefined) return this.firings.allInner(row, message as Message, bits)
    this.current = message as Message
    this.currentRow = row
    const isThere = this.#tellInnerTo(row, this.#rows.shape.sensors.length, bits)
    this.current = undefined
    return isThere
  }

  /** As far as the sensors before a position have answered. */
  #tellInnerTo(row: number, position: number, bits: number): boolean {
    if (this.firings !== undefined) return this.firings.inner(row, this.current as Message, position, bits)
    return this.#events.innerFirings(this.#told.ofRow(this.#rows, row, bits, this.current as Message), position)
  }

  tellFiring(row: number, list: readonly Following[], place: number, one: Following, until: number): boolean {
    const message = this.current as Message
    if (this.firings !== undefined) return this.firings.firing(row, message, list, place, one, until)
    return this.#events.firing(this.#told.ofRow(this.#rows, row, this.#rows.after(row), message), one, until)
  }

  tellNext(told: RowMessage, trigger: number): RowContext {
    const rows = this.#rows
    const { row, before, after } = told
    this.#calls.end()
    const [only] = rows.followings[rows.known(row, rows.entry(before, after), before, after)] ?? []
    this.#events.firing(told, only as Following, told.time)
    return this.beginFirings(trigger)
  }

  /** The row's own numbers are up to date from here on. */
  #apart(row: number): void {
    const vectorized = this.#vectorized[row]
    if (vectorized !== undefined) this.flush(vectorized)
  }

  countOf(row: number): number {
    return this.#rows.count(row)
  }

  followed(firings: number, held: number): void {
    this.#firings += firings
    this.#held += held
  }

  beginEffect(row: number, slot: number, trigger: number): RowEffect | undefined {
    this.#apart(row)
    const handle = this.handleAt(row)
    return effectOf(this.#rows, handle, slot, trigger, this.current ?? this.messageOf(handle))
  }

  beginFirings(trigger: number): RowContext {
    const context = this.#calls.actuator(this, 0, 0, trigger)
    context.prepared = undefined
    return context
  }

  endFirings(firings: number): void {
    this.#calls.end()
    this.current = undefined
    this.#firings += firings
  }

  beginCalls(row: number, message: Values): RawData[] | null {
    if (this.#rows.objects[row * this.#rows.layout.objects + HANDLE] === undefined) return null
    this.current = message as Message
    this.currentRow = row
    this.#context = this.#calls.sensors(this, row, message as Message)
    const rawData = this.#rows.rawData[row] as RawData[]
    this.#records.gave = 0
    if (!this.#givesRawData && !this.#keepsAll && !this.actuators.has(row)) return rawData
    // A young array and a young view: storing what is young into what is old costs a barrier.
    return (this.#rows.rawData[row] = rawData.slice())
  }

  call(sensor: SensorCall, position: number, bits: number, rawData: RawData[], filled: Values | undefined): number {
    const context = this.#context as RowContext
    if (this.tellsInner && !this.#tellInnerTo(context.row, position, bits)) return -1
    const { plug } = sensor
    const properties = filled ?? sensor.properties
    context.nodeAt = position
    context.bits = bits
    let given: unknown
    let refused: BadAnswer | undefined
    try {
      if (properties === undefined) {
        refused = fillProperties(sensor.own, context)
      } else {
        context.properties = properties
        context.prepared = undefined
      }
      if (refused === undefined) given = plug.execute(context)
    } catch (error) {
      this.#calls.failed(error)
      return -1
    }
    if (refused !== undefined) {
      this.#calls.goOn(refused)
      return -1
    }
    const state = context.opened === null ? this.take(sensor, position, given, rawData) : -1
    if (state === -1) {
      // Whoever goes on later keeps its properties: the next call fills others.
      if (filled !== undefined) sensor.toFill = { ...sensor.toFill }
      if (this.#rowCalls !== undefined && !this.#keepsAll && context.opened === null && isPromise(given)) {
        this.#rowCalls.begin(context, sensor, position, bits, rawData, given)
      } else this.#calls.answered(plug, given)
      return -1
    }
    if (filled !== undefined && typeof given === 'object') {
      const data = rawData[position]
      if (data !== undefined && mayHold(data)) sensor.toFill = { ...sensor.toFill }
    }
    return state
  }

  take({ states }: SensorCall, position: number, given: unknown, rawData: RawData[]): number {
    const state = plainState(states, given)
    if (state !== -1 && typeof given === 'object') {
      const { rawData: data } = given as { rawData?: RawData }
      if (data !== undefined) {
        rawData[position] = data
        this.#records.gave |= 1 << position
        this.#givesRawData = true
      }
    }
    return state
  }

  callNext(row: number, position: number, bits: number, rawData: RawData[], message: Message): number {
    this.#context = this.#calls.sensors(this, row, message)
    const sensor = this.#rows.sensorCalls[row * this.#rows.shape.sensors.length + position] as SensorCall
    return this.call(sensor, position, bits, rawData, undefined)
  }

  goesOn(row: number, position: number): void {
    if (this.tellsInner) for (const one of [this.#events, this.#recorder]) one.goesOn(row, position)
  }

  endCalls(row: number, bits: number): boolean {
    this.#calls.end()
    return !this.tellsInner || this.#tellInnerTo(row, this.#rows.shape.sensors.length, bits)
  }

  /** Brings the full state up to date. Does nothing while a call is open in it: then it is ahead of the row. */
  synchronize(handle: RowHandle): void {
    if (handle.isAway) return
    if (this.#events.isTelling(handle)) {
      this.#apart(handle.row)
      this.#events.look()
      return
    }
    if (this.#calls.isAt(handle)) {
      this.#calls.open()
      return
    }
    this.#apart(handle.row)
    if (this.isWaiting(handle)) {
      this.#rowCalls?.openWaiting(handle.row)
      return
    }
    const count = this.#rows.count(handle.row)
    if (count === handle.materializedCount) return
    materialize(this.#rows, handle)
    this.#rows.forgetFirings(handle.row)
    handle.materializedCount = count
    handle.failed.length = 0
  }

  serve(handle: RowHandle, mayFail: boolean): void {
    const { row, task } = handle
    this.#apart(row)
    this.handOver(handle)
    const time = this.#rows.time(row)
    const { source, offset } = handle
    task.timed(time, this.isStamped ? Math.max(time, source.arrivalOf(offset + this.#rows.count(row))) : time)
    // How far the clock is ahead of stamped messages is known to the full state alone.
    if (mayFail || this.isStamped) {
      this.synchronize(handle)
      makeSeen(task.state)
    }
  }

  silentOf(row: number): number {
    return this.#rows.notRun(row)?.silent ?? 0
  }

  tellSoFar(row: number): void {
    this.#records.tellSoFar(row)
  }

  get #keepsAll(): boolean {
    return this.records !== undefined || this.history !== undefined
  }

  handOver(handle: RowHandle): void {
    if (this.history === undefined || handle.isAway) return
    const { row } = handle
    this.#apart(row)
    const isInMidst = this.#calls.isAt(handle) || this.#events.isTelling(handle)
    this.#records.handOver(row, this.#rows.count(row) - (isInMidst ? 1 : 0))
  }

  takeUnknown(row: number, message: Message, now: number, known: Known, part: Part): boolean {
    return !this.#keepsAll && this.#unknown.take(this.handleAt(row), message, now, known, part)
  }

  takeAlone(row: number, message: Message, fields: Fields, part: Part): boolean {
    const isTaken = !this.#keepsAll && this.#unknown.takeAlone(this.handleAt(row), message, fields, part)
    this.current = undefined
    return isTaken
  }

  beginFully(handle: RowHandle, time: number): void {
    this.#apart(handle.row)
    this.handOver(handle)
    this.synchronize(handle)
    handle.isAway = true
    this.#rows.next(handle.row, time)
  }

  /** The same up to a call of the present message, which stays open: from here on the state machine is ahead of the row. */
  materializeTo(handle: RowHandle, progress: Progress): Execution | undefined {
    handle.isAway = true
    this.#inFold++
    const tell = this.#records.teller(handle.row)
    this.#records.opened(handle.row, this.#rows.count(handle.row))
    const bits = this.#calls.bitsSoFar(this.#rows.after(handle.row))
    const sink = this.#keepsAll ? { ...this.#counting, event: tell, detail: tell, why: this.#host.why } : this.#counting
    return materializeInto(this.#rows, handle, bits, progress, sink, this.#records.gave)
  }

  openCall({ handle, bits, position }: RowCall): Execution {
    const opened = handle as RowHandle
    opened.isAway = true
    this.#inFold++
    const until = { sensors: position, firings: Number.POSITIVE_INFINITY }
    return materializeInto(this.#rows, opened, bits, until, this.#counting) as Execution
  }

  get lastAt(): number {
    return this.#rows.clock[1] as number
  }

  isWaiting({ row }: RowHandle): boolean {
    return this.#rows.isWaiting(row)
  }

  isWaitingFor(row: number, context: PlugContext): boolean {
    return this.#rowCalls?.isOpenFor(row, context) === true
  }

  limitOf({ row }: RowHandle, slot: number): number {
    return this.#rowCalls?.limitOf(row, slot) ?? Number.POSITIVE_INFINITY
  }

  /** The state machine is done with the message and nothing is open: the row goes on from there. */
  reattach(handle: RowHandle): void {
    const { row, task, fit } = handle
    handle.materializedCount = this.#rows.count(row)
    handle.isAway = false
    handle.failed.length = 0
    this.#rows.unknownAt[row] = this.#unknown.placeIn(task.state, handle.materializedCount)
    this.#forget(row, handle.materializedCount)
    this.#rows.fill(row, task.state, fit.constants, handle.materializedCount, this.#rows.time(row))
    this.actuators.set(handle, task.state.inFlight.size > 0)
  }

  earlierFirings({ row }: RowHandle): number {
    const rows = this.#rows
    if (this.#vectorized[row] !== undefined) this.#openedVectorized++
    this.#apart(row)
    return rows.fires(row) - rows.firesBefore(row, rows.count(row)) - 1
  }

  eraOf(handle: RowHandle): Era {
    const { row, source, offset } = handle
    return this.#vectorized[row]?.era ?? source.eraAt(offset + this.#rows.count(row))
  }

  messageOf(handle: RowHandle): Message {
    return (
      this.#vectorized[handle.row]?.message ?? handle.source.messageOf(handle.offset + this.#rows.count(handle.row))
    )
  }

  timeOf(handle: RowHandle): number {
    return this.#vectorized[handle.row]?.time ?? this.#rows.time(handle.row)
  }
}
