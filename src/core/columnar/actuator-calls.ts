/**
 * Calls the actuators of rows. Calls that do not finish at once stay open in the full state while the row takes more
 * messages.
 */
import { isFinal } from '../engine/lane-inputs.ts'
import type { ActuatorNode } from '../graph/graph.ts'
import type { Plug } from '../plug/plug.ts'
import type { ActuatorState } from '../task/state.ts'
import { keptAnswer } from './materialize.ts'
import { LATER, NOT_ORDINARY, type KeptAnswer } from './ordinary-answers.ts'
import type { RowActuators, Values } from './row-code.ts'
import type { RowContext } from './row-context.ts'
import { answersBefore } from './row-effects.ts'
import type { Batch, RowHandle } from './row-handle.ts'
import { PLUG, PROPERTIES } from './row-layout.ts'
import { CONTINUES, type RowPlugCalls } from './row-plug-calls.ts'
import type { RowStore } from './row-store.ts'

/** The events that a batch's recorder receives about actuator calls. */
interface Records {
  answered(row: number, answer: KeptAnswer): void
}

export class ActuatorCalls implements RowActuators {
  readonly #rows: RowStore
  readonly #batch: Batch
  readonly #calls: RowPlugCalls
  readonly #records: Records
  /** handles with open calls in the full state, by row */
  readonly #acting = new Map<number, RowHandle>()

  constructor(rows: RowStore, batch: Batch, calls: RowPlugCalls, records: Records) {
    this.#rows = rows
    this.#batch = batch
    this.#calls = calls
    this.#records = records
  }

  fire(row: number, place: number, actuator: number, trigger: number): boolean {
    const { objects } = this.#rows
    const plug = objects[place + PLUG] as Plug
    const properties = objects[place + PROPERTIES] as Values | undefined
    const context = this.#calls.actuator(this.#batch, row, actuator, trigger)
    if (this.#acting.size > 0 && this.#mustWait(row)) return this.#queue(context)
    const result = this.#calls.execute(context, plug, properties, () => {
      const { graph, properties: own } = this.#batch.handleAt(row).task.model
      return own.of((graph.actuators[actuator] as ActuatorNode).call)
    })
    return result !== CONTINUES && this.#answered(context, row, actuator, plug, result)
  }

  firingAnswered(row: number, plug: Plug, result: unknown): boolean {
    return this.#answered(this.#calls.context, row, 0, plug, result)
  }

  firingFailed(error: unknown): void {
    this.#calls.failed(error)
  }

  #answered(context: RowContext, row: number, actuator: number, plug: Plug, result: unknown): boolean {
    if (context.opened === null) {
      if (this.#keeps(row, actuator, result)) {
        this.#calls.endAct(context)
        return true
      }
      const isHere = this.#goesOn(context, plug, result)
      if (isHere !== undefined) return isHere
    }
    this.#calls.answered(plug, result)
    return false
  }

  #keeps(row: number, actuator: number, result: unknown): boolean {
    const kept = this.#rows.keepAnswer(row, actuator, result)
    if (kept === NOT_ORDINARY) return false
    this.#note(row, kept)
    const handle = this.#acting.size === 0 ? undefined : this.#acting.get(row)
    if (handle === undefined) return true
    const state = handle.task.state.actuators[actuator] as ActuatorState
    state.error = null
    state.answer = { collectedTime: this.#rows.time(row), ...keptAnswer(kept) }
    return true
  }

  #note(row: number, answer: KeptAnswer): void {
    const { records, history } = this.#batch
    if (records !== undefined || history !== undefined) this.#records.answered(row, answer)
  }

  has(row: number): boolean {
    return this.#acting.size > 0 && this.#acting.has(row)
  }

  isAny(rows: readonly number[]): boolean {
    return this.#acting.size > 0 && rows.some((row) => this.#acting.has(row))
  }

  set(handle: RowHandle, acts: boolean): void {
    handle.acts = acts
    if (acts) this.#acting.set(handle.row, handle)
    else this.forget(handle.row)
  }

  forget(row: number): void {
    if (this.#acting.size > 0) this.#acting.delete(row)
  }

  #mustWait(row: number): boolean {
    const handle = this.#acting.get(row)
    return handle !== undefined && handle.task.state.effectQueues.size > 0
  }

  /**
   * Keeps an actuator call open in the full state while the row continues. Returns false when the plug's call moved the
   * row elsewhere, undefined when the state machine must finish the message.
   */
  #goesOn(context: RowContext, plug: Plug, result: unknown): boolean | undefined {
    if (this.#batch.records !== undefined) return undefined
    const outcome = this.#calls.outcome(plug, result, false)
    if (!(outcome instanceof Promise) && (!outcome.ok || (this.#batch.isStamped && !isFinal(outcome)))) return undefined
    this.#calls.begin(context)
    if (context.begun === null) return undefined
    const handle = context.handle()
    if (!handle.acts) this.#begin(handle, context.nodeAt)
    if (this.#batch.history !== undefined && !(outcome instanceof Promise)) this.#batch.emitSoFar(context.row)
    this.#note(context.row, LATER)
    return this.#calls.act(context, context.begun.effect, outcome)
  }

  #queue(context: RowContext): boolean {
    if (this.#batch.records === undefined && !this.#batch.isStamped) this.#calls.begin(context)
    if (context.begun !== null) {
      if (this.#batch.history !== undefined) this.#batch.emitSoFar(context.row)
      this.#note(context.row, LATER)
      return this.#calls.act(context, context.begun.effect, undefined)
    }
    this.#calls.open()
    this.#calls.goOn(undefined)
    return false
  }

  /** From now on, stores actuator results in the full state. `slot`: of the current call. */
  #begin(handle: RowHandle, slot: number): void {
    const answers = answersBefore(this.#rows, handle, slot)
    for (const [a, actuator] of handle.task.state.actuators.entries()) {
      if (actuator.answer !== answers[a]) Object.assign(actuator, { answer: answers[a], error: null })
    }
    this.set(handle, true)
  }
}
