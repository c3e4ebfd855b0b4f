/**
 * Tracks the calls of sensors that returned promises. Each row waits for its call, and then continues with the next
 * sensor. Anything else that comes for the task opens the call in the full state first, which then awaits the promise.
 *
 * ROWCALL-1 a row waits for at most one call, and takes no message meanwhile
 * ROWCALL-2 the rest of a message has the message's time, however late the result arrives; the call's deadline follows
 *   the clock
 * ROWCALL-3 a result is used once: by the row, or by the call that was opened in its place
 */
import type { ExecutorHost } from '../engine/executor.ts'
import type { Message } from '../task/origin.ts'
import { isCalled } from './computed-sensors.ts'
import { AFTER, LAST } from './row-layout.ts'
import type { RowCode, RowEvents } from './row-code.ts'
import type { RowContext } from './row-context.ts'
import type { RowHandle } from './row-handle.ts'
import type { RowPlugCalls } from './row-plug-calls.ts'
import { NOTHING, type OpenMessage, type RawData, type RowStore, type SensorCall } from './row-store.ts'

interface CallingBatch extends Pick<RowEvents, 'beginCalls' | 'call' | 'endCalls'> {
  current: Message | undefined
  readonly code: Pick<RowCode, 'follow'>
  /** Keeps a result in the row and returns its state; returns -1 when the row cannot hold it. */
  keep(row: number, sensor: SensorCall, position: number, result: unknown, rawData: RawData[]): number
  fieldSetsOf(handle: RowHandle): RowStore['fieldSets']
}

const NO_TIMER = Number.NEGATIVE_INFINITY

/** The call of a row. It serves the row again and again, because each result arrives once. */
class RowCall implements OpenMessage {
  context: RowContext
  before: Message | undefined
  promise: Promise<unknown> | undefined
  /** epoch ms */
  deadline = 0
  /** epoch ms: the timer that was requested for deadlines */
  timer = NO_TIMER
  result: unknown
  hasFailed = false
  readonly fulfilled: (result: unknown) => void
  readonly rejected: (error: unknown) => void

  constructor(context: RowContext, arrived: (call: RowCall) => void) {
    this.context = context
    const settled = (hasFailed: boolean) => (result: unknown) => {
      if (!this.context.isOpen) return
      this.result = result
      this.hasFailed = hasFailed
      arrived(this)
    }
    this.fulfilled = settled(false)
    this.rejected = settled(true)
  }

  get message(): Message {
    return this.context.message
  }
}

export class RowCalls {
  results = 0
  readonly #rows: RowStore
  readonly #batch: CallingBatch
  readonly #calls: RowPlugCalls
  readonly #host: ExecutorHost
  /** by row: its call, open or not */
  readonly #own: (RowCall | undefined)[] = []
  #arrived: RowCall[] = []
  readonly #turn = Promise.resolve()

  constructor(rows: RowStore, batch: CallingBatch, calls: RowPlugCalls, host: ExecutorHost) {
    this.#rows = rows
    this.#batch = batch
    this.#calls = calls
    this.#host = host
  }

  /** Lets a row wait for a sensor, whose plug used only data that the row has. */
  begin(context: RowContext, timeoutMs: number, promise: Promise<unknown>): void {
    const rows = this.#rows
    const { row, nodeAt } = context
    const handle = context.handle()
    const since = Math.max(rows.clock[0] as number, rows.clock[1] as number)
    const call = (this.#own[row] ??= new RowCall(context, this.#add))
    // Only the first call of a message can find the message before.
    if (rows.waiting[row] === undefined) call.before = this.#before(handle)
    call.context = context
    call.promise = promise
    call.deadline = since + timeoutMs
    rows.waiting[row] = call
    context.keep(handle, rows.time(row), since)
    this.#calls.leave()
    this.#host.open.opened()
    if (call.timer <= since || call.timer > call.deadline) {
      call.timer = call.deadline
      handle.task.wakeAt(call.deadline, rows.shape.sensors[nodeAt]?.slot ?? 0)
      this.#calls.mayHaveTimers()
    }
    promise.then(call.fulfilled, call.rejected)
  }

  #before({ row, materializedCount, source, offset }: RowHandle): Message | undefined {
    const { objects, layout } = this.#rows
    const count = this.#rows.count(row) - 1
    if (materializedCount >= count) return undefined
    return (objects[row * layout.objects + LAST] as Message | undefined) ?? source.messageOf(offset + count)
  }

  /** Takes results that arrive in one turn of the event loop together. */
  readonly #add = (call: RowCall): void => {
    if (this.#arrived.push(call) === 1) void this.#turn.then(this.#enqueue)
  }

  readonly #enqueue = (): void => this.#host.enqueue(this.#takeAll)

  readonly #takeAll = (now: number): void => {
    const all = this.#arrived
    this.#arrived = []
    for (const call of all) if (call.context.isOpen) this.#take(call, now)
  }

  #take(call: RowCall, now: number): void {
    const rows = this.#rows
    const { context, result, hasFailed } = call
    const { row, nodeAt: position } = context
    const sensor = rows.sensorCalls[row * rows.shape.sensors.length + position] as SensorCall
    call.result = undefined
    context.isOpen = false
    rows.clock[0] = rows.time(row)
    rows.clock[1] = now
    this.results++
    try {
      const state = hasFailed ? -1 : this.#batch.keep(row, sensor, position, result, rows.rawData[row] as RawData[])
      if (state === -1) this.#calls.goOn(this.#calls.outcome(sensor.plug, result, hasFailed), context)
      else this.#continue(context, state)
    } finally {
      if (!call.context.isOpen) rows.waiting[row] = undefined
      this.#batch.current = undefined
      this.#host.open.closed()
    }
  }

  /** Continues a message after a sensor; rows evaluate computed sensors before they call any. */
  #continue(context: RowContext, state: number): void {
    const rows = this.#rows
    const { row, nodeAt: position, message } = context
    const { sensors } = rows.shape
    let bits = context.bits | (state << (sensors[position]?.shift ?? 0))
    let rawData: RawData[] | null = null
    for (const [p, sensor] of sensors.entries()) {
      if (p <= position || !isCalled(sensor)) continue
      rawData ??= this.#batch.beginCalls(row, message) as RawData[]
      const call = rows.sensorCalls[row * sensors.length + p] as SensorCall
      const next = this.#batch.call(call, p, bits, rawData)
      if (next === -1) return
      bits |= next << sensor.shift
    }
    this.#batch.endCalls(row, bits)
    rows.ints[2 * rows.at(row) + AFTER] = rows.seen(bits)
    const what = rows.entry(rows.before(row), bits)
    if (what === NOTHING) return
    rows.fieldSets = this.#batch.fieldSetsOf(context.handle())
    this.#batch.code.follow(row, what, message)
  }

  /** Opens the call of a waiting row in the full state. */
  open({ row, batch, task }: RowHandle): void {
    const { context, promise } = this.#own[row] as RowCall // of a waiting row
    const { now, since, nodeAt } = context
    const { plug } = this.#rows.sensorCalls[row * this.#rows.shape.sensors.length + nodeAt] as SensorCall
    batch.opened++
    context.isOpen = false
    const { execution } = this.#calls.enter(context)
    this.forget(row)
    task.goOn(execution, this.#calls.outcome(plug, promise, false), now, since)
    this.#host.open.closed()
  }

  openAll(): void {
    for (const call of this.#own) if (call?.context.isOpen === true) call.context.handle().task.detach()
  }

  /**
   * Returns when the open call of a row must have returned, epoch ms. Returns undefined when none is open; the timer is
   * then dropped.
   */
  deadlineOf(row: number): number | undefined {
    const call = this.#own[row]
    if (call?.context.isOpen === true) return call.deadline
    if (call !== undefined) call.timer = NO_TIMER
    return undefined
  }

  /** Drops the call of a row that is freed. */
  forget(row: number): void {
    const context = this.#own[row]?.context
    this.#own[row] = undefined
    this.#rows.waiting[row] = undefined
    if (context?.isOpen !== true) return
    context.isOpen = false
    this.#host.open.closed()
  }
}
