/** Manages the current plug call in the batches of one engine: at most one at a time. */
import { fillProperties, outcomeOf, type Outcome } from '../engine/call-plug.ts'
import type { NodeProperties } from '../graph/rule-properties.ts'
import { LOG } from '../engine/event-filter.ts'
import type { ExecutorHost } from '../engine/executor.ts'
import { failedAnswer } from '../plug/call-error.ts'
import type { Plug } from '../plug/plug.ts'
import type { BadAnswer } from '../plug/result.ts'
import type { Message } from '../task/origin.ts'
import type { Execution } from '../task/state.ts'
import type { Opened, RowHandle, Batch } from './row-handle.ts'
import type { RowEffect } from './seen-task.ts'
import { Begun, RowContext, type ContextOwner } from './row-context.ts'

/** Returned for a call that continues in the state machine. */
export const CONTINUES: unique symbol = Symbol('continues')

const ALL_DONE = Number.POSITIVE_INFINITY

export class RowPlugCalls implements ContextOwner {
  readonly globalSettings: Readonly<Record<string, unknown>>
  readonly #host: ExecutorHost
  /** context of the last call */
  context: RowContext
  #spare: RowContext
  #isOn = false

  constructor(host: ExecutorHost) {
    this.globalSettings = host.globalSettings
    this.#host = host
    this.#spare = new RowContext(this)
    this.context = this.#spare
  }

  /** Called when a call continues in the state machine, because its plug may have set timers. */
  mayHaveTimers(): void {
    this.#host.end.hasWork = true
  }

  /** Returns whether log lines of plugs are stored or have a subscriber. */
  get hasLog(): boolean {
    return this.#host.keepsLog || (this.#host.events.anyTypes & LOG) !== 0
  }

  /**
   * Begins the calls of a row's sensors. For each, the caller sets the sensor and the earlier results in the context.
   */
  sensors(batch: Batch, row: number, message: Message): RowContext {
    const context = new RowContext(this, batch, row, message)
    this.context = context
    this.#isOn = true
    return context
  }

  /** Begins the call of an actuator. */
  actuator(batch: Batch, row: number, slot: number, trigger: number): RowContext {
    const context = this.#spare
    this.context = context
    context.begun = null
    context.batch = batch
    context.row = row
    context.isSensor = false
    context.nodeAt = slot
    context.triggerAt = trigger
    this.#isOn = true
    return context
  }

  /** Ends a call whose result fits into the row. */
  end(): void {
    this.#isOn = false
  }

  /** Leaves the call and its context open. */
  leave(): void {
    this.context = this.#spare
    this.#isOn = false
  }

  /** Returns whether the current call belongs to a handle. */
  isAt(handle: RowHandle): boolean {
    return this.#isOn && this.context.batch === handle.batch && this.context.row === handle.row
  }

  /**
   * Calls a plug with its fixed properties, or resolves its properties first. Returns CONTINUES when the call failed
   * and continues in the state machine.
   */
  execute(
    context: RowContext,
    plug: Plug,
    properties: Readonly<Record<string, unknown>> | undefined,
    own: () => NodeProperties,
  ): unknown {
    let refused: BadAnswer | undefined
    try {
      if (properties === undefined) refused = fillProperties(own(), context)
      else {
        context.properties = properties
        context.prepared = undefined
      }
      if (refused === undefined) return plug.execute(context)
    } catch (error) {
      this.failed(error)
      return CONTINUES
    }
    this.goOn(refused)
    return CONTINUES
  }

  /** Converts a plug's result to an outcome; if it is a promise, that promise never rejects. */
  outcome(plug: Plug, result: unknown, hasFailed: boolean): Outcome | Promise<Outcome> {
    try {
      return hasFailed ? failedAnswer(result) : outcomeOf(plug, result)
    } catch (error) {
      return failedAnswer(error)
    }
  }

  /** Brings the task's full state to the current call, which is then open there. */
  open(context = this.context): Opened {
    if (context.opened !== null) return context.opened
    return context.isKept ? context.openLater() : this.enter(context)
  }

  /** Brings the full state to a call of which it does not know yet. */
  enter(context: RowContext): Opened {
    const handle = context.handle()
    const progress = context.isSensor
      ? { sensors: context.nodeAt, firings: ALL_DONE }
      : { sensors: ALL_DONE, firings: handle.batch.earlierFirings(handle) }
    const bits = context.isSensor ? context.bits : undefined
    const execution = handle.batch.materializeTo(handle, progress, bits) as Execution
    if (context.begun !== null) {
      // The call is already open there.
      handle.task.state.inFlight.delete(execution)
      return (context.opened = context.begun)
    }
    const time = context.now
    const at = context.isKept ? context.since : Math.max(time, handle.batch.lastAt)
    return (context.opened = { execution, view: handle.task.view(execution, time, at) })
  }

  begin(context: RowContext): Opened {
    if (context.begun !== null) return context.begun
    const handle = context.handle()
    const effect = handle.batch.beginEffect(context.row, context.nodeAt, context.triggerAt)
    if (effect === undefined) return this.open(context)
    handle.task.begin(effect)
    return (context.begun = new Begun(effect, handle.task))
  }

  /** Closes an actuator's call that ended within its row. */
  endAct(context: RowContext): void {
    const { begun } = context
    this.#isOn = false
    if (begun === null) return
    context.begun = null
    context.handle().task.ended(begun.execution)
  }

  /**
   * Continues an actuator's call, or schedules it, while its row continues. Returns false when the row moved elsewhere
   * meanwhile.
   */
  act(context: RowContext, effect: RowEffect, result: Outcome | Promise<Outcome> | undefined): boolean {
    this.mayHaveTimers()
    const handle = context.handle()
    const message = handle.batch.messageOf(handle)
    if (result instanceof Promise) context.begun?.view.outlasts()
    handle.task.goOn(effect.execution, result, effect.seen.now, effect.seen.at)
    const isHere = context.opened === null
    context.opened = context.begun
    this.#spare = new RowContext(this)
    this.leave()
    if (!isHere) handle.task.done(handle, message)
    return isHere
  }

  /** Continues a call in the state machine, because its result does not fit into the row or its plug read the task. */
  answered(plug: Plug, result: unknown): void {
    this.goOn(this.outcome(plug, result, false))
  }

  failed(error: unknown): void {
    this.goOn(failedAnswer(error))
  }

  goOn(result: Outcome | Promise<Outcome> | undefined, context = this.context): void {
    this.mayHaveTimers()
    const handle = context.handle()
    const message = handle.batch.messageOf(handle)
    const { now } = context
    const { execution, view } = context.opened ?? this.enter(context)
    if (result instanceof Promise && execution.node.kind === 'actuator') view.freeze()
    // The plug may keep its context, so the next call uses another one.
    this.#spare = new RowContext(this)
    this.context = this.#spare
    this.#isOn = false
    handle.task.goOn(execution, result, now, Math.max(now, handle.batch.lastAt))
    handle.task.done(handle, message)
  }
}
