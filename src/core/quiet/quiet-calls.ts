/** The call of a plug that is under way in the quiet lanes of one engine: at most one at a time. */
import { messageOf } from '../../kernel/errors.ts'
import { outcomeOf, type Outcome } from '../engine/call-plug.ts'
import type { Plug } from '../plug/plug.ts'
import type { Message } from '../task/origin.ts'
import type { Execution } from '../task/state.ts'
import type { Opened, Seat, SeatLane } from './seat.ts'
import { QuietContext, type ContextOwner } from './quiet-context.ts'

const ALL_DONE = Number.POSITIVE_INFINITY

export class QuietCalls implements ContextOwner {
  readonly globalSettings: Readonly<Record<string, unknown>>
  readonly hasLog: boolean
  #context: QuietContext
  /** for actuators, one after the other */
  #spare: QuietContext
  /** a call went on in the fold since somebody reset this: timers may have been asked for */
  hasOpened = false
  #isOn = false

  constructor(globalSettings: Readonly<Record<string, unknown>>, hasLog: boolean) {
    this.globalSettings = globalSettings
    this.hasLog = hasLog
    this.#spare = new QuietContext(this)
    this.#context = this.#spare
  }

  /** Sensors' plugs are called, one after the other: the caller says in the context which, and what those before gave. */
  sensors(lane: SeatLane, row: number, message: Message): QuietContext {
    const context = new QuietContext(this, lane, row, message)
    this.#context = context
    this.#isOn = true
    return context
  }

  /** An actuator's plug is called. */
  actuator(lane: SeatLane, row: number, slot: number, trigger: number): QuietContext {
    const context = this.#spare
    this.#context = context
    context.lane = lane
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
    this.#context = this.#spare
    this.#isOn = false
  }

  /** Whether the call under way belongs to a seat. */
  isAt(seat: Seat): boolean {
    return this.#isOn && this.#context.lane === seat.lane && this.#context.row === seat.row
  }

  /** State bits as far as they are known: all of them when an actuator is called. */
  bitsSoFar(all: number): number {
    return this.#context.isSensor ? this.#context.bits : all
  }

  /** What came back for a call, as an outcome; a promise of one never rejects. */
  outcome(plug: Plug, given: unknown, hasFailed: boolean): Outcome | Promise<Outcome> {
    try {
      return hasFailed ? { ok: false, error: messageOf(given) } : outcomeOf(plug, given)
    } catch (error) {
      return { ok: false, error: messageOf(error) }
    }
  }

  /** Brings the task's full state to the call under way, which is open in it from then on. */
  open(context = this.#context): Opened {
    if (context.opened !== null) return context.opened
    if (context.isKept) return context.openLater()
    const seat = context.seat()
    const progress = context.isSensor
      ? { sensors: context.nodeAt, firings: ALL_DONE }
      : { sensors: ALL_DONE, firings: seat.lane.earlierFirings(seat) }
    const execution = seat.lane.unfoldTo(seat, progress) as Execution
    context.opened = { execution, view: seat.task.view(execution, seat.lane.timeOf(seat)) }
    return context.opened
  }

  /** The plug gave more than a row can hold, or looked at its task. */
  answered(plug: Plug, given: unknown): void {
    this.goOn(this.outcome(plug, given, false))
  }

  failed(error: unknown): void {
    this.goOn({ ok: false, error: messageOf(error) })
  }

  goOn(given: Outcome | Promise<Outcome>): void {
    this.hasOpened = true
    const context = this.#context
    const seat = context.seat()
    const message = seat.lane.messageOf(seat)
    const now = seat.lane.timeOf(seat)
    const { execution, view } = this.open()
    if (given instanceof Promise && execution.node.kind === 'actuator') view.freeze()
    // The plug may keep its view: the next call gets another one.
    this.#spare = new QuietContext(this)
    this.#context = this.#spare
    this.#isOn = false
    seat.task.goOn(execution, given, now, Math.max(now, seat.lane.lastAnswerAt))
    seat.task.done(seat, message)
  }
}
