/**
 * Calls of a batch's sensors that have not answered yet. Their rows wait: the message is taken up to that call, and when
 * the answer is there, the row goes on from the next sensor. Whatever else comes for the task meanwhile has the call
 * opened in its full state first, where it goes on as if it had begun there.
 *
 * ROWCALL-1 a row waits for at most one call, and takes no message while it does.
 * ROWCALL-2 the rest of a message has the message's time, however late the answer comes; the call's limit is the
 *   clock's.
 * ROWCALL-3 an answer is used once: by the row, or by the call that was opened, never by both.
 */
import { DETAIL_TYPES } from '../engine/event-filter.ts'
import type { ExecutorHost } from '../engine/executor.ts'
import type { PlugContext } from '../plug/plug.ts'
import type { Message } from '../task/origin.ts'
import type { Execution } from '../task/state.ts'
import { formulaState, workOut, type FormulaValues } from './formula-code.ts'
import { stateOf } from './row-states.ts'
import { AFTER, LAST, HANDLE } from './row-layout.ts'
import type { RowPlugCalls } from './row-plug-calls.ts'
import type { RowContext } from './row-context.ts'
import type { RowCode } from './row-code.ts'
import { NOTHING, type OpenMessage, type RawData, type RowStore, type SensorCall } from './row-store.ts'
import type { RowHandle } from './row-handle.ts'

/** What they need of their batch. */
export interface RowCallLane {
  readonly code: RowCode
  current: Message | undefined
  currentRow: number
  /** Calls the sensor at that position; -1 when its answer is not there, or the row has gone another way. */
  callNext(row: number, position: number, bits: number, rawData: RawData[], message: Message): number
  /** The message of a row goes on with the answer of the sensor at that position. */
  goesOn(row: number, position: number): void
  /** The sensors have answered. False when the row is gone. */
  endCalls(row: number, bits: number): boolean
  /** The state of an answer that a row can hold; it keeps the raw data. -1: it cannot. */
  take(sensor: SensorCall, position: number, given: unknown, rawData: RawData[]): number
  /** Brings the full state to the call, which is open in it from then on. */
  openCall(call: RowCall): Execution
}

/** A call of a row's sensor that is open. It serves its row again and again: each answer comes exactly once. */
export class RowCall implements OpenMessage {
  readonly row: number
  handle: RowHandle | undefined
  sensor: SensorCall | undefined
  context: RowContext | undefined
  message: Message | undefined
  /** the message before, for who has to bring the full state there */
  before: Message | undefined
  rawData: RawData[] = []
  position = 0
  /** state bits of the sensors before */
  bits = 0
  /** epoch ms of the clock when it began */
  since = 0
  /** whether the row still waits for it */
  isOpen = false
  /** by position: whether a timer is asked for that will come before its limit */
  readonly armed: boolean[] = []
  value: unknown = undefined
  hasFailed = false
  readonly fulfilled: (value: unknown) => void
  readonly rejected: (error: unknown) => void
  #resolve: ((value: unknown) => void) | undefined
  #reject: ((error: unknown) => void) | undefined

  constructor(row: number, all: RowCalls) {
    this.row = row
    this.fulfilled = (value) => this.#cameBack(all, value, false)
    this.rejected = (error) => this.#cameBack(all, error, true)
  }

  /** The answer is for the call that was opened in its place. */
  handOver(): void {
    if (this.hasFailed) this.#reject?.(this.value)
    else this.#resolve?.(this.value)
  }

  /** A promise of the answer, for the call that was opened in its place. */
  elsewhere(): Promise<unknown> {
    return new Promise((resolve, reject: (error: unknown) => void) => {
      this.#resolve = resolve
      this.#reject = reject
    })
  }

  #cameBack(all: RowCalls, value: unknown, hasFailed: boolean): void {
    this.value = value
    this.hasFailed = hasFailed
    all.cameBack(this)
  }
}

export class RowCalls {
  readonly host: ExecutorHost
  /** answers that rows took */
  answers = 0
  readonly #rows: RowStore
  readonly #batch: RowCallLane
  readonly #calls: RowPlugCalls
  /** those that came back and were not taken yet */
  #back: RowCall[] = []
  readonly #turn = Promise.resolve()
  readonly #takeBack = (now: number): void => this.#takeAll(now)
  readonly #enqueueAll = (): void => this.host.enqueue(this.#takeBack)
  /** by row: the one that serves it */
  readonly #own: (RowCall | undefined)[] = []

  constructor(rows: RowStore, batch: RowCallLane, calls: RowPlugCalls, host: ExecutorHost) {
    this.#rows = rows
    this.#batch = batch
    this.#calls = calls
    this.host = host
  }

  /** The plug of a sensor has given a promise, and looked at nothing that a row does not have. */
  begin(
    context: RowContext,
    sensor: SensorCall,
    position: number,
    bits: number,
    rawData: RawData[],
    given: Promise<unknown>,
  ): void {
    const rows = this.#rows
    const { row } = context
    const handle = rows.objects[row * rows.layout.objects + HANDLE] as RowHandle
    const call = (this.#own[row] ??= new RowCall(row, this))
    call.handle = handle
    call.sensor = sensor
    call.context = context
    call.position = position
    call.bits = bits
    call.rawData = rawData
    call.since = Math.max(rows.clock[0] as number, rows.clock[1] as number)
    if (call !== rows.goingOn) {
      call.message = this.#batch.current
      call.before = this.#before(handle)
    }
    context.keep(handle, rows.time(row))
    call.isOpen = true
    rows.setWaiting(row, call)
    this.host.open.opened()
    if (call.armed[position] !== true) {
      call.armed[position] = true
      handle.task.askForLimit(call.since + sensor.call.timeoutMs, rows.shape.sensors[position]?.slot ?? 0)
      this.#calls.mayHaveTimers()
    }
    this.#calls.leave()
    given.then(call.fulfilled, call.rejected)
  }

  /** The message before the one at hand, when the full state has not seen it. */
  #before({ row, materializedCount, source, offset }: RowHandle): Message | undefined {
    const { objects, layout } = this.#rows
    const count = this.#rows.count(row)
    if (materializedCount >= count - 1) return undefined
    // A indexed row still has it where it stands.
    return (objects[row * layout.objects + LAST] as Message | undefined) ?? source.messageOf(offset + count - 1)
  }

  /** Answers that came in one turn of the loop are taken together. */
  cameBack(call: RowCall): void {
    // The engine takes no turn for an answer that its task does not wait for.
    if (!call.isOpen) call.handOver()
    else if (this.#back.push(call) === 1) void this.#turn.then(this.#enqueueAll)
  }

  #takeAll(now: number): void {
    const all = this.#back
    this.#back = []
    for (const call of all) this.#answered(call, now)
  }

  /** The row goes on, unless the call was opened meanwhile. */
  #answered(call: RowCall, now: number): void {
    if (!call.isOpen) {
      call.handOver()
      return
    }
    const { value, hasFailed, sensor, position, rawData } = call
    const { open } = this.host
    call.value = undefined
    this.#rows.clock[1] = now
    this.#rows.goingOn = call
    this.answers++
    this.#batch.current = call.message
    this.#batch.currentRow = call.row
    try {
      const isHere = !hasFailed && (this.host.events.toldTypes & DETAIL_TYPES) === 0
      const state = isHere ? this.#batch.take(sensor as SensorCall, position, value, rawData) : -1
      if (state < 0) this.#goOnOpened(call, value, hasFailed)
      else this.#goOn(call, state)
    } finally {
      this.#rows.goingOn = undefined
      this.#batch.current = undefined
      open.closed()
    }
  }

  #goOn(call: RowCall, state: number): void {
    const rows = this.#rows
    const { row, position, rawData, message } = call
    const { sensors } = rows.shape
    this.#close(call)
    rows.clock[0] = rows.time(row)
    this.#batch.goesOn(row, position)
    let bits = call.bits | (state << (sensors[position]?.shift ?? 0))
    const worked = this.#worked(row, message as Message)
    for (let p = position + 1; p < sensors.length; p++) {
      const { steps, formula, shift } = sensors[p] as (typeof sensors)[number]
      const next = formula
        ? formulaState(formula, worked)
        : steps === undefined
          ? this.#batch.callNext(row, p, bits, rawData, message as Message)
          : stateOf(
              steps,
              message?.[steps.parameter] as number,
              rows.nums,
              rows.at(row) + rows.layout.constants + steps.constant,
            )
      if (next < 0) return
      bits |= next << shift
    }
    if (!this.#batch.endCalls(row, bits)) return
    const before = rows.before(row)
    rows.ints[2 * rows.at(row) + AFTER] = rows.seen(bits)
    const what = rows.entry(before, bits)
    if (what === NOTHING) return
    const handle = call.handle as RowHandle
    rows.era = handle.batch.eraOf(handle)
    this.#batch.code.follow(row, what, message as Message)
  }

  /** What its sensors calculate for a message, which was finite when the message came. */
  #worked(row: number, message: Message): FormulaValues {
    const { nums, layout, shape } = this.#rows
    const first = this.#rows.at(row) + layout.constants
    const values: FormulaValues = {
      parameter: (name) => message[name],
      constant: (place) => nums[first + place] ?? 0,
      numbers: [],
    }
    workOut(shape, values)
    return values
  }

  /** The answer is more than a row can hold, or somebody hears of it. */
  #goOnOpened(call: RowCall, value: unknown, hasFailed: boolean): void {
    const handle = call.handle as RowHandle
    const message = call.message as Message
    const { plug } = call.sensor as SensorCall
    const time = this.#rows.time(call.row)
    const execution = this.#open(call)
    const outcome = this.#calls.outcome(plug, value, hasFailed)
    handle.task.goOn(execution, outcome, time, this.#rows.clock[1] as number)
    handle.task.done(handle, message)
  }

  /** The tasks of all rows that wait go on in the state machine. */
  openAll(): void {
    for (const call of this.#own) if (call?.isOpen === true) call.handle?.task.detach()
  }

  /** Brings the full state to the open call of a row, which goes on there. */
  openWaiting(row: number): void {
    const call = this.#own[row] as RowCall // a row waits for its own
    const handle = call.handle as RowHandle
    const { sensor, since } = call
    const time = this.#rows.time(call.row)
    const execution = this.#open(call)
    handle.batch.opened++
    handle.task.goOn(execution, this.#calls.outcome((sensor as SensorCall).plug, call.elsewhere(), false), time, since)
    this.host.open.closed()
  }

  #open(call: RowCall): Execution {
    const context = call.context as RowContext
    const handle = call.handle as RowHandle
    const execution = this.#batch.openCall(call)
    this.#drop(call)
    context.opened = { execution, view: handle.task.view(execution, this.#rows.time(call.row), call.since) }
    return execution
  }

  /** When the open call of a row's sensor has to have answered, epoch ms; Infinity when it has none. */
  limitOf(row: number, slot: number): number {
    const { shape, waiting } = this.#rows
    const position = shape.sensors.findIndex((sensor) => sensor.slot === slot)
    const own = this.#own[row]
    if (own === undefined) return Number.POSITIVE_INFINITY
    if (waiting[row] === own && own.position === position) return own.since + (own.sensor?.call.timeoutMs ?? 0)
    // Who is told so drops the timer.
    own.armed[position] = false
    return Number.POSITIVE_INFINITY
  }

  /** Whether the call of that context is open. */
  isOpenFor(row: number, context: PlugContext): boolean {
    const call = this.#own[row]
    return call?.isOpen === true && call.context === context
  }

  /** Nobody wants the row's call any more. */
  forget(row: number): void {
    const call = this.#own[row]
    this.#own[row] = undefined
    if (call?.isOpen !== true) return
    this.#drop(call)
    this.host.open.closed()
  }

  /** Its record is not used again: its answer is still to come. */
  #drop(call: RowCall): void {
    this.#close(call)
    this.#own[call.row] = undefined
  }

  #close(call: RowCall): void {
    call.isOpen = false
    call.context = undefined
    this.#rows.setWaiting(call.row, undefined)
  }
}
