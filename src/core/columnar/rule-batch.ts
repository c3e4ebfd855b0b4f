/**
 * Runs all tasks of one shape as rows of numbers. A handle links a task to its row. The task's full state remains as it
 * was when the task became a row or was last materialized; `synchronize` brings it up to date (materialize.ts).
 *
 * BATCH-1 a row and the state machine agree: materializing at any moment produces the state of the machine.
 * BATCH-2 a plug is called once for a message; its result is reused.
 * BATCH-3 a call that a row cannot hold (a result beyond a state and raw data, an error, a sensor that reads its task)
 *   continues in the state machine; calls of actuators stay open outside the row (actuator-calls.ts).
 */
import type { Counts } from '../engine/counts.ts'
import type { ReadingCounts } from '../task/readings/readings.ts'
import { DETAIL_TYPES, FIRED, HELD } from '../engine/event-filter.ts'
import type { ExecutorHost, Generate } from '../engine/executor.ts'
import type { Message } from '../task/origin.ts'
import { SILENT, type Sink, type TaskModel } from '../task/run.ts'
import type { Execution } from '../task/state.ts'
import { RowTakers } from './row-takers.ts'
import type { RowCode, RowEvents, Values } from './row-code.ts'
import { VectorizedBatch } from './vectorized-batch.ts'
import { vectorPartsOf, type VectorDependencies } from './vector-code.ts'
import type { Fields, FieldsTable } from './message-fields.ts'
import type { FieldSetHistory, Known } from './field-set-history.ts'
import type { Part } from './message-parts.ts'
import { generatedRows } from './generated-rows.ts'
import type { NodeData } from '../plug/plug.ts'
import type { IndexedBatch } from './single-listener-index.ts'
import { HANDLE } from './row-layout.ts'
import { CONTINUES, type RowPlugCalls } from './row-plug-calls.ts'
import { ALL, type Progress } from './replay.ts'
import { FiringRecorder } from './firing-recorder.ts'
import { RowRecords } from './row-records.ts'
import type { RowContext } from './row-context.ts'
import { RowCalls } from './open-row-calls.ts'
import { RowStore, type RawData, type SensorCall } from './row-store.ts'
import type { BatchTask, RowHandle, Batch, TakenSource } from './row-handle.ts'
import type { BatchFit, BatchShape } from './batch-shape.ts'
import { materialize, materializeInto } from './materialize.ts'
import { ActuatorCalls } from './actuator-calls.ts'
import { calledData, effectOf } from './row-effects.ts'
import { makeSeen, type RowEffect } from './seen-task.ts'
import { UnknownStates } from './unknown-states.ts'
import { isNativePromise, plainState } from './ordinary-answers.ts'

export class RuleBatch implements RowEvents, Batch {
  taken = 0
  vectorized = 0
  opened = 0
  current: Message | undefined
  currentRow = -1
  records: RowRecords | undefined = undefined
  firings: FiringRecorder | undefined = undefined
  readonly history: RowRecords['history']
  readonly oddGates: RowStore['oddGates']
  readonly #recorder: FiringRecorder
  readonly #records: RowRecords
  readonly #host: Pick<ExecutorHost, 'events' | 'why'>
  #inFold = 0
  #openedVectorized = 0
  /** firings from messages that rows took individually */
  #firings = 0
  #held = 0
  readonly #inner: number
  readonly #counting: Sink
  readonly #rows: RowStore
  readonly #takers: RowTakers
  readonly #unknown: UnknownStates
  /** undefined: calls that return promises continue in the state machine */
  readonly #rowCalls: RowCalls | undefined
  readonly #generate: Generate
  readonly #calls: RowPlugCalls
  #context: RowContext | undefined
  #hasRawData = false
  /** undefined: its rows cannot be vectorized; null: not determined yet */
  #vectorParts: VectorDependencies | undefined | null = null
  /** includes the handles whose actuator calls continued in the full state */
  readonly actuators: ActuatorCalls
  /** by row: the vectorized batch that it belongs to */
  readonly #vectorized: (VectorizedBatch | undefined)[] = []
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
    this.#counting = { ...SILENT, counts: host.counts }
    this.#inner = model.graph.triggers.filter(({ destination }) => destination.kind === 'sensor').length
    this.#rows = new RowStore(shape, model, clock, isStamped)
    this.oddGates = this.#rows.oddGates
    this.#unknown = new UnknownStates(this.#rows, model, this, host.keepsLog, generate)
    this.#host = host
    this.#recorder = new FiringRecorder(this.#rows, model, host)
    this.#records = new RowRecords(this.#rows, model, host)
    this.history = this.#records.history
    this.listenersChanged()
    this.#generate = generate
    this.#calls = calls
    this.actuators = new ActuatorCalls(this.#rows, this, calls, this.#records)
    this.#rowCalls = host.tellsOfCalls ? undefined : new RowCalls(this.#rows, this, calls, host)
    this.#takers = new RowTakers(this.#rows, this, fields, generatedRows(this.#rows, this, generate))
  }

  /**
   * Returns a handle for a task whose full state has processed the last message of its resource and has nothing open.
   */
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
    rows.setUp(row, handle)
    rows.offsets[row] = handle.offset
    rows.unknownAt[row] = this.#unknown.placeIn(task.state, 0)
    this.#forget(row)
    rows.fill(row, task.state, fit.constants, 0, task.state.streams[0]?.at ?? 0)
    this.actuators.set(handle, task.state.inFlight.size > 0)
    return handle
  }

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

  /** Called when the row changes its task, or the task returns after `count` messages. */
  #forget(row: number, count = 0): void {
    this.#recorder.forget(row)
    this.#records.forget(row, count)
  }

  /** Frees a row. Synchronize first: anything the full state lacks is lost. */
  free(handle: RowHandle): void {
    const { row } = handle
    this.#apart(row)
    this.#rowCalls?.forget(row)
    this.actuators.forget(row)
    this.#forget(row)
    this.#left = handle
    this.#rows.free(row)
  }

  /**
   * Returns how many messages rows completed, how many of these in one pass, and how many continued in the state
   * machine.
   */
  get ways(): { taken: number; vectorized: number; opened: number } {
    const opened = this.#inFold
    return { taken: this.taken - opened, vectorized: this.vectorized - this.#openedVectorized, opened }
  }

  /** Returns the counts of what rows did. */
  get counts(): Omit<Counts, keyof ReadingCounts> {
    return {
      steps: this.taken + (this.#rowCalls?.results ?? 0),
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

  begin(fieldSets: FieldSetHistory): void {
    this.#rows.fieldSets = fieldSets
  }

  end(): void {
    this.current = undefined
  }

  receiveAll(list: readonly number[], from: number, message: Message, part: Part, isFirst: boolean): number {
    const done = this.#takers.takeAll(part)(list, from, message, part, isFirst)
    // From now on, the indexed row itself stores the last message.
    this.current = undefined
    return done
  }

  vectorize(rows: readonly number[], last: Message, fieldSets: FieldSetHistory): VectorizedBatch | undefined {
    const [first = 0] = rows
    if (this.actuators.isAny(rows)) return undefined
    if (this.#vectorParts === null) {
      const { model } = this.handleAt(first).task
      this.#vectorParts = vectorPartsOf(this.#rows, first, model, this.#generate, this.#unknown.isPossible)
    }
    if (this.records?.canVectorize(this.#vectorParts?.all ?? []) === false) return undefined
    const vectorized = this.#vectorParts
      ? VectorizedBatch.of(rows, this.#vectorParts, this, last, fieldSets)
      : undefined
    for (const row of vectorized?.rows ?? []) this.#vectorized[row] = vectorized
    return vectorized
  }

  flush(vectorized: VectorizedBatch): void {
    vectorized.end()
    for (const row of vectorized.rows) this.#vectorized[row] = undefined
  }

  listenersChanged(): void {
    const { recordedFirings, takesRecords, singleTypes } = this.#host.events
    const isTold = (singleTypes & (DETAIL_TYPES | FIRED | HELD)) !== 0
    if (isTold || takesRecords || (recordedFirings !== 0 && this.#inner > 0)) this.#rowCalls?.openAll()
    this.firings = recordedFirings === 0 ? undefined : this.#recorder
    this.#recorder.listenersChanged()
    const isNew = takesRecords && this.records === undefined
    this.records = takesRecords ? this.#records : undefined
    const keeps = takesRecords || this.history !== undefined
    this.#rows.parts.isCompleteOnly = keeps
    this.#takeWhole(this.isObserved || keeps)
    if (isNew) this.#flushAll()
  }

  #takeWhole(isWholeOnly: boolean): void {
    const rows = this.#rows
    if (isWholeOnly && !rows.parts.isWholeOnly) {
      this.#flushAll()
      for (let row = 0; row * rows.layout.objects < rows.objects.length; row++) {
        if ((rows.notRun(row)?.missed ?? 0) > 0) this.synchronize(this.handleAt(row))
      }
    }
    rows.parts.isWholeOnly = isWholeOnly
  }

  #flushAll(): void {
    for (const vectorized of new Set(this.#vectorized)) if (vectorized) this.flush(vectorized)
  }

  get isObserved(): boolean {
    return this.firings !== undefined
  }

  get #recordsInner(): boolean {
    return this.isObserved && this.#inner > 0
  }

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

  calledData(row: number, label: string): NodeData | undefined {
    this.#apart(row)
    return calledData(this.#rows, this.handleAt(row), label)
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
    this.#records.answeredPositions = 0
    if (!this.#hasRawData && !this.#keepsAll && !this.actuators.has(row)) return rawData
    // Copies the new array, because storing a young object in an old one triggers a write barrier.
    return (this.#rows.rawData[row] = rawData.slice())
  }

  call(sensor: SensorCall, position: number, bits: number, rawData: RawData[]): number {
    const context = this.#context as RowContext
    const { plug, properties } = sensor
    context.nodeAt = position
    context.bits = bits
    const result = this.#calls.execute(context, plug, properties, () => sensor.own)
    if (result === CONTINUES) return -1
    if (context.opened === null) {
      const state = this.keep(this.currentRow, sensor, position, result, rawData)
      if (state !== -1) return state
      const waits = this.#rowCalls !== undefined && !this.#keepsAll && !this.#recordsInner && isNativePromise(result)
      if (waits) {
        this.#rowCalls.begin(context, sensor.call.timeoutMs, result)
        return -1
      }
    }
    this.#calls.answered(plug, result)
    return -1
  }

  memoryOf(row: number, position: number): unknown {
    return this.#rows.memories[row * this.#rows.shape.sensors.length + position]
  }

  keep(row: number, { states }: SensorCall, position: number, result: unknown, rawData: RawData[]): number {
    const state = plainState(states, result)
    if (state !== -1 && typeof result === 'object') {
      const { rawData: data, internalState } = result as { rawData?: RawData; internalState?: unknown }
      if (internalState !== undefined) {
        this.#rows.memories[row * this.#rows.shape.sensors.length + position] = internalState
      }
      if (data !== undefined) {
        rawData[position] = data
        this.#records.answeredPositions |= 1 << position
        this.#hasRawData = true
      }
    }
    return state
  }

  endCalls(row: number, bits: number): void {
    this.#calls.end()
    if (this.#recordsInner) this.firings?.allInner(row, this.current as Message, bits)
  }

  /** Brings the full state up to date. Does nothing while a call is open there, because it is then ahead of the row. */
  synchronize(handle: RowHandle): void {
    if (handle.isAway) return
    if (this.#calls.isAt(handle)) {
      this.#calls.open()
      return
    }
    this.#apart(handle.row)
    if (this.deadlineOf(handle) !== undefined) {
      this.#rowCalls?.open(handle)
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
    // Only the full state knows how far the clock is ahead of stamped messages.
    if (mayFail || this.isStamped) {
      this.synchronize(handle)
      makeSeen(task.state)
    }
  }

  silentOf(row: number): number {
    return this.#rows.notRun(row)?.silent ?? 0
  }

  emitSoFar(row: number): void {
    this.#records.emitSoFar(row)
  }

  get #keepsAll(): boolean {
    return this.records !== undefined || this.history !== undefined
  }

  handOver(handle: RowHandle): void {
    if (this.history === undefined || handle.isAway) return
    const { row } = handle
    this.#apart(row)
    this.#records.handOver(row, this.#rows.count(row) - (this.#calls.isAt(handle) ? 1 : 0))
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

  /**
   * Brings the full state up to a call of the current message. The call stays open, and the state machine is then ahead
   * of the row.
   */
  materializeTo(handle: RowHandle, progress: Progress, bits = this.#rows.after(handle.row)): Execution | undefined {
    handle.isAway = true
    this.#inFold++
    const emit = this.#records.emitter(handle.row)
    this.#records.opened(handle.row, this.#rows.count(handle.row))
    if (this.#recordsInner && progress.sensors !== ALL.sensors)
      this.firings?.inner(handle.row, this.current as Message, progress.sensors, bits)
    const sink = this.#keepsAll ? { ...this.#counting, event: emit, detail: emit, why: this.#host.why } : this.#counting
    return materializeInto(this.#rows, handle, bits, progress, sink, this.#records.answeredPositions)
  }

  deadlineOf({ row }: RowHandle): number | undefined {
    return this.#rowCalls?.deadlineOf(row)
  }

  get lastAt(): number {
    return this.#rows.clock[1] as number
  }

  /** Continues the row when the state machine has finished the message and nothing is open. */
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

  fieldSetsOf(handle: RowHandle): FieldSetHistory {
    const { row, source, offset } = handle
    return this.#vectorized[row]?.fieldSets ?? source.fieldSetsAt(offset + this.#rows.count(row))
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
