/** The call of a plug that is under way in the batches of one engine: at most one at a time. */
import { messageOf } from '#kernel'
import { fillProperties, outcomeOf, type Outcome } from '../engine/call-plug.ts'
import type { NodeProperties } from '../graph/rule-properties.ts'
import { LOG } from '../engine/event-filter.ts'
import type { ExecutorHost } from '../engine/executor.ts'
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
  /** of the last call */
  context: RowContext
  #spare: RowContext
  #isOn = false

  constructor(host: ExecutorHost) {
    this.globalSettings = host.globalSettings
    this.#host = host
    this.#spare = new RowContext(this)
    this.context = this.#spare
  }

  /** A call goes on in the state machine: timers may have been asked for. */
  mayHaveTimers(): void {
    this.#host.end.hasWork = true
  }

  /** Whether log lines of plugs are kept or have a subscriber. */
  get hasLog(): boolean {
    return this.#host.keepsLog || (this.#host.events.anyTypes & LOG) !== 0
  }

  /** Sensors' plugs are called, one after the other: the caller says in the context which, and what those before gave. */
  sensors(batch: Batch, row: number, message: Message): RowContext {
    const context = new RowContext(this, batch, row, message)
    this.context = context
    this.#isOn = true
    return context
  }

  /** An actuator's plug is called. */
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

  /** The call gave nothing but what a row can hold. */
  end(): void {
    this.#isOn = false
  }

  /** The call goes on, and with it what its plug sees. */
  leave(): void {
    this.context = this.#spare
    this.#isOn = false
  }

  /** Whether the call under way belongs to a handle. */
  isAt(handle: RowHandle): boolean {
    return this.#isOn && this.context.batch === handle.batch && this.context.row === handle.row
  }

  /** State bits as far as they are known: all of them when an actuator is called. */
  bitsSoFar(all: number): number {
    return this.context.isSensor ? this.context.bits : all
  }

  /**
   * Calls a plug with fixed properties, or else with its own ones resolved. Returns CONTINUES when the call failed and
   * continues in the state machine.
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

  /** What came back for a call, as an outcome; a promise of one never rejects. */
  outcome(plug: Plug, result: unknown, hasFailed: boolean): Outcome | Promise<Outcome> {
    try {
      return hasFailed ? { ok: false, error: messageOf(result) } : outcomeOf(plug, result)
    } catch (error) {
      return { ok: false, error: messageOf(error) }
    }
  }

  /** Brings the task's full state to the call under way, which is open in it from then on. */
  open(context = this.context): Opened {
    if (context.opened !== null) return context.opened
    const handle = context.handle()
    const progress = context.isSensor
      ? { sensors: context.nodeAt, firings: ALL_DONE }
      : { sensors: ALL_DONE, firings: handle.batch.earlierFirings(handle) }
    const execution = handle.batch.materializeTo(handle, progress) as Execution
    if (context.begun !== null) {
      // It is in flight already.
      handle.task.state.inFlight.delete(execution)
      return (context.opened = context.begun)
    }
    const time = handle.batch.timeOf(handle)
    context.opened = { execution, view: handle.task.view(execution, time, Math.max(time, handle.batch.lastAt)) }
    return context.opened
  }

  begin(context: RowContext): Opened {
    if (context.begun !== null) return context.begun
    const handle = context.handle()
    const effect = handle.batch.beginEffect(context.row, context.nodeAt, context.triggerAt)
    if (effect === undefined) return this.open(context)
    handle.task.begin(effect)
    return (context.begun = new Begun(effect, handle.task))
  }

  /** The call of an actuator is over within its row. */
  endAct(context: RowContext): void {
    const { begun } = context
    this.#isOn = false
    if (begun === null) return
    context.begun = null
    context.handle().task.ended(begun.execution)
  }

  /** The plug of an actuator goes on, or is called later, while its row does. False when the row went another way meanwhile. */
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

  /** The plug gave more than a row can hold, or looked at its task. */
  answered(plug: Plug, result: unknown): void {
    this.goOn(this.outcome(plug, result, false))
  }

  failed(error: unknown): void {
    this.goOn({ ok: false, error: messageOf(error) })
  }

  goOn(result: Outcome | Promise<Outcome> | undefined): void {
    this.mayHaveTimers()
    const context = this.context
    const handle = context.handle()
    const message = handle.batch.messageOf(handle)
    const now = handle.batch.timeOf(handle)
    const { execution, view } = this.open()
    if (result instanceof Promise && execution.node.kind === 'actuator') view.freeze()
    // The plug may keep its view: the next call gets another one.
    this.#spare = new RowContext(this)
    this.context = this.#spare
    this.#isOn = false
    handle.task.goOn(execution, result, now, Math.max(now, handle.batch.lastAt))
    handle.task.done(handle, message)
  }
}
