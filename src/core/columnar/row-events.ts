/**
 * Tells what fired, or was held back, in messages that rows take, event by event, while the rows stay rows. When all who
 * want to know are told when the input is done, records are made instead (firing-recorder.ts).
 *
 * ROWEVENT-1 a row emits the events of the state machine, with the same bytes, in the same order, and at the same point
 *   relative to calls of plugs: each actuator before its own call.
 * ROWEVENT-2 a subscriber that reads the task while the row emits an event sees the state that the task has in the
 *   middle of the state machine's step; the read does not change the row.
 */
import { FIRED, HELD } from '../engine/event-filter.ts'
import type { ExecutorHost } from '../engine/executor.ts'
import type { FiredEvent, HeldEvent, InputSummary } from '../engine/events.ts'
import type { Graph } from '../graph/graph.ts'
import type { Message } from '../task/origin.ts'
import { SILENT, type Sink } from '../task/run.ts'
import { KeptState } from './kept-state.ts'
import { EffectIds } from './effect-ids.ts'
import { firedEvent, heldEvent, inputOf, whyOf, type FiringTask } from './firing-events.ts'
import type { FiringTasks } from './firing-recorder.ts'
import { materializeBefore, materializeInto } from './materialize.ts'
import { ALL } from './replay.ts'
import type { RowHandle } from './row-handle.ts'
import type { Fires, Following } from './followings.ts'
import type { RowStore } from './row-store.ts'
import { RowTexts } from './row-texts.ts'
import type { RowMessage } from './row-message.ts'

/** A task whose row tells events. */
interface Teller extends FiringTask {
  readonly handle: RowHandle
  /** types that somebody wants of its events, as bits */
  readonly types: number
}

/** Ends a replay at the event that is being told. */
class Stopped extends Error {}

export class RowEventWriter implements FiringTasks {
  readonly #rows: RowStore
  readonly #host: ExecutorHost
  /** by row; undefined: to be made when it tells something */
  readonly #tellers: (Teller | undefined)[] = []
  readonly #texts = new WeakMap<Graph, RowTexts>()
  /** whose event is being told; then the full state is behind */
  #telling: Teller | undefined
  /** the full state of the one who tells, once somebody has looked at it */
  #kept: KeptState | undefined
  /** events of the message at hand that its row has told, or would have if somebody wanted them */
  #told = 0
  /** the message at hand: row and count; how many of its sensors have told what they fired, and states that are known */
  #row = -1
  #count = -1
  #sensors = 0
  #bits = 0
  /** the sensor after which the last actuator fired, and the place of that among those that did after the same */
  #position = -1
  #place = 0
  #input: InputSummary = { kind: 'data', time: 0 }

  constructor(rows: RowStore, host: ExecutorHost) {
    this.#rows = rows
    this.#host = host
  }

  /** The row is another task's, or its task has gone on elsewhere. */
  forget(row: number): void {
    this.#tellers[row] = undefined
    if (row === this.#row) this.#row = -1
  }

  /** Others listen. */
  forgetAll(): void {
    this.#tellers.length = 0
  }

  isTelling(handle: RowHandle): boolean {
    return this.#telling?.handle === handle
  }

  /** Brings the full state to the event that is being told. */
  look(): void {
    const { handle } = this.#telling as Teller
    const rows = this.#rows
    if (this.#kept === undefined) {
      if (rows.layout.earlier !== -1) materializeBefore(rows, handle)
      this.#kept = new KeptState(handle.task.state)
    } else this.#kept.restore()
    let left = this.#told
    const event: Sink['event'] = ({ type }) => {
      // Nothing is done about it here but to leave the state as it is.
      if ((type === 'fired' || type === 'held') && --left === 0) throw new Stopped()
    }
    try {
      materializeInto(rows, handle, this.#bits, ALL, { ...SILENT, event })
    } catch (stopped) {
      if (!(stopped instanceof Stopped)) throw stopped
    }
  }

  /**
   * Tells that an actuator fires by a trigger, or that it cools down when `until` is not over, epoch ms. False when the row
   * is gone: then nothing more follows.
   */
  firing(told: RowMessage, one: Following, until: number): boolean {
    const teller = this.#teller(told.row)
    if ((teller.types & (FIRED | HELD)) === 0) return true
    const { row, time, message } = told
    const at = this.#rows.clockOf(row, time)
    this.#begin(teller, told)
    if (time < until) this.#held(teller, told, one.trigger, at, until)
    else {
      const place = one.position === this.#position ? this.#place + 1 : 0
      this.#position = one.position
      this.#place = place
      this.#fired(teller, told, one, at, place, this.#hasWhy ? this.#inputOf(message, time) : undefined)
    }
    return this.#end(this.#rows.handle(row) === teller.handle)
  }

  /** Tells which sensors were fired by others, as far as those before a position have answered. False when the row is gone. */
  innerFirings(told: RowMessage, position: number): boolean {
    const teller = this.#teller(told.row)
    const { inner, innerBefore } = teller.texts
    if ((teller.types & (FIRED | HELD)) === 0) return true
    const { row, time, message } = told
    const at = this.#rows.clockOf(row, time)
    const input = this.#hasWhy ? this.#inputOf(message, time) : undefined
    this.#begin(teller, told)
    for (; this.#sensors < position; this.#sensors++) {
      const first = innerBefore[this.#sensors] as number
      if (innerBefore[this.#sensors + 1] === first) continue
      this.#fired(teller, told, inner[first] as Fires, at, 0, input)
      if (this.#rows.handle(row) !== teller.handle) return this.#end(false)
    }
    return this.#end(true)
  }

  /** The message at hand of a row goes on with the answer of the sensor at a position; those before have told theirs. */
  goesOn(row: number, position: number): void {
    const { innerBefore } = this.#teller(row).texts
    this.#row = row
    this.#count = this.#rows.count(row)
    this.#position = -1
    this.#sensors = position
    this.#told = innerBefore[position] ?? 0
  }

  #begin(teller: Teller, { row, number, after }: RowMessage): void {
    this.#telling = teller
    this.#bits = after
    if (row === this.#row && number === this.#count) return
    this.#row = row
    this.#count = number
    this.#sensors = 0
    this.#told = 0
    this.#position = -1
  }

  #end(isThere: boolean): boolean {
    this.#telling = undefined
    return isThere
  }

  #held(teller: Teller, told: RowMessage, trigger: number, at: number, until: number): void {
    this.#told++
    if ((teller.types & HELD) !== 0) this.#emit(heldEvent(teller, told, trigger, at, until), HELD)
  }

  /** `input`: what its why says, undefined: it has none. */
  #fired(
    teller: Teller,
    told: RowMessage,
    fires: Fires,
    at: number,
    place: number,
    input: InputSummary | undefined,
  ): void {
    this.#told++
    if ((teller.types & FIRED) === 0) return
    const why = input && whyOf(teller.texts, told, fires, input)
    this.#emit(firedEvent(teller, told, fires, at, place, why), FIRED)
  }

  get #hasWhy(): boolean {
    return this.#host.why && this.#host.events.wantsWhy
  }

  #emit(event: FiredEvent | HeldEvent, type: number): void {
    this.#host.events.emitOfRow(event, type)
    if (this.#kept === undefined) return
    this.#kept.restore()
    this.#kept = undefined
  }

  /** Events of one message share what began them. */
  #inputOf(message: Message, time: number): InputSummary {
    const known = this.#input
    return known.values === message && known.time === time ? known : (this.#input = inputOf(message, time))
  }

  ofRow(row: number): FiringTask {
    return this.#teller(row)
  }

  #teller(row: number): Teller {
    return this.#tellers[row] ?? this.#newTeller(row)
  }

  #newTeller(row: number): Teller {
    const handle = this.#rows.handle(row) as RowHandle // who tells has it
    const { task, materializedCount } = handle
    const { id, graph } = task.model
    const { state } = task
    const { events } = this.#host
    let texts = this.#texts.get(graph)
    if (texts === undefined) this.#texts.set(graph, (texts = new RowTexts(this.#rows, task.model)))
    const teller: Teller = {
      handle,
      task: id,
      texts,
      types: events.toldTypes | events.typesOf(id),
      effects: new EffectIds(`${id}/${state.run}/`),
      inputs: state.inputs - materializedCount * (1 + this.#rows.shape.sensors.length),
      invocations: state.invocations - materializedCount,
    }
    this.#tellers[row] = teller
    return teller
  }
}
