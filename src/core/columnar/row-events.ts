/**
 * Tells what fired, or was held back, in messages that rows take, while the rows stay rows.
 *
 * ROWEVENT-1 a row tells the same events as the state machine would, with the same bytes, in the same order, and at the
 *   same point relative to calls of plugs: all that a sensor's answer fires before the first call of those actuators.
 * ROWEVENT-2 whoever looks at a task while an event of its row is told sees it as it is in the midst of the state
 *   machine's step; the row goes on as if nobody had looked.
 */
import { FIRED, HELD } from '../engine/event-filter.ts'
import type { ExecutorHost } from '../engine/executor.ts'
import type { FiredEvent, HeldEvent, InputSummary, Why, WhySensor } from '../engine/events.ts'
import type { Graph } from '../graph/graph.ts'
import type { Match } from '../task/fire.ts'
import type { Message } from '../task/origin.ts'
import type { Sink } from '../task/run.ts'
import { KeptState } from './kept-state.ts'
import { EffectIds } from './effect-ids.ts'
import { materializeBefore, materializeInto } from './materialize.ts'
import { ALL, SILENT } from './replay.ts'
import type { RowHandle } from './row-handle.ts'
import { blockAt, FIRED as FIRED_AT } from './row-layout.ts'
import type { Following, RowStore } from './row-store.ts'
import { RowTexts, type SensorText, type TriggerText } from './row-texts.ts'
import type { RowMessage } from './row-message.ts'

/** A task whose row tells events. */
interface Teller {
  readonly handle: RowHandle
  readonly task: string
  readonly texts: RowTexts
  /** types that somebody wants of its events, as bits */
  readonly types: number
  readonly effects: EffectIds
  /** numbers of the input and the invocation of the message number 0 */
  readonly inputs: number
  readonly invocations: number
}

/** Of a trigger into a sensor. */
const WITHOUT_CONDITION = { matched: 'execution', from: -1, to: -1 } as const

/** Ends a replay at the event that is being told. */
class Stopped extends Error {}

export class RowEventWriter {
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
   * Tells what follows from a message with the answer of the sensor of the following at a place: actuators that fire, and
   * those that cool down. False when the row is gone: then nothing more follows.
   */
  firings(told: RowMessage, list: readonly Following[], from: number): boolean {
    const teller = this.#teller(told.row)
    if ((teller.types & (FIRED | HELD)) === 0) return true
    const { row, count, time } = told
    const { length } = this.#rows.shape.sensors
    const position = list[from]?.position
    const input = teller.inputs + (count - 1) * (1 + length) + (position ?? 0) + 2
    /** actuators that have fired, as bits, and how many firings there were */
    let fired = 0
    let place = 0
    this.#begin(teller, told)
    for (let i = from; i < list.length; i++) {
      const following = list[i] as Following
      const { actuator, policyMs } = following
      if (following.position !== position) break
      const until = policyMs === 0 ? time : ((fired >> actuator) & 1 ? time : this.#firedAt(row, actuator)) + policyMs
      if (time < until) this.#held(teller, told, following, until)
      else {
        this.#fired(teller, told, following, input, place++)
        fired |= 1 << actuator
      }
      if (this.#rows.handle(row) !== teller.handle) return this.#end(false)
    }
    return this.#end(true)
  }

  /** Tells which sensors were fired by others, as far as those before a position have answered. False when the row is gone. */
  innerFirings(told: RowMessage, position: number): boolean {
    const teller = this.#teller(told.row)
    if ((teller.types & (FIRED | HELD)) === 0) return true
    const first = teller.inputs + (told.count - 1) * (1 + this.#rows.shape.sensors.length) + 1
    this.#begin(teller, told)
    for (; this.#sensors < position; this.#sensors++) {
      for (const [place, trigger] of (teller.texts.inner[this.#sensors] ?? []).entries()) {
        const following = { trigger, position: this.#sensors, ...WITHOUT_CONDITION }
        this.#fired(teller, told, following, first + this.#sensors + 1, place)
        if (this.#rows.handle(told.row) !== teller.handle) return this.#end(false)
      }
    }
    return this.#end(true)
  }

  /** The message at hand of a row goes on with the answer of the sensor at a position; those before have told theirs. */
  goesOn(row: number, position: number): void {
    const { inner } = this.#teller(row).texts
    this.#row = row
    this.#count = this.#rows.count(row)
    this.#sensors = position
    this.#told = inner.slice(0, position).reduce((sum, { length }) => sum + length, 0)
  }

  #begin(teller: Teller, { row, count, after }: RowMessage): void {
    this.#telling = teller
    this.#bits = after
    if (row === this.#row && count === this.#count) return
    this.#row = row
    this.#count = count
    this.#sensors = 0
    this.#told = 0
  }

  #end(isThere: boolean): boolean {
    this.#telling = undefined
    return isThere
  }

  #held(teller: Teller, told: RowMessage, { trigger }: Following, until: number): void {
    this.#told++
    if ((teller.types & HELD) === 0) return
    const { source, node } = teller.texts.triggers[trigger] as TriggerText
    const { time, count } = told
    const at = this.#at(told)
    const invocation = teller.invocations + count
    const { task } = teller
    const event: HeldEvent =
      at === time
        ? { time, task, invocation, type: 'held', node, source, until, reason: 'invocationPolicy' }
        : { time, at, task, invocation, type: 'held', node, source, until, reason: 'invocationPolicy' }
    this.#emit(event, HELD)
  }

  #fired(
    teller: Teller,
    told: RowMessage,
    { trigger, position, matched, from, to }: Pick<Following, 'trigger' | 'position' | 'matched' | 'from' | 'to'>,
    input: number,
    place: number,
  ): void {
    this.#told++
    if ((teller.types & FIRED) === 0) return
    const text = teller.texts.triggers[trigger] as TriggerText
    const { node, source } = text
    const { time, count } = told
    const { task } = teller
    const at = this.#at(told)
    const invocation = teller.invocations + count
    const effect = teller.effects.of(input, place)
    const { why: isKept, events } = this.#host
    let event: FiredEvent
    if (isKept && events.wantsWhy) {
      const why = this.#why(teller.texts, trigger, text, told, position, matched, from, to)
      event =
        at === time
          ? { time, task, invocation, type: 'fired', node, source, effect, why }
          : { time, at, task, invocation, type: 'fired', node, source, effect, why }
    } else {
      event =
        at === time
          ? { time, task, invocation, type: 'fired', node, source, effect }
          : { time, at, task, invocation, type: 'fired', node, source, effect }
    }
    this.#emit(event, FIRED)
  }

  #emit(event: FiredEvent | HeldEvent, type: number): void {
    this.#host.events.emitOfRow(event, type)
    if (this.#kept === undefined) return
    this.#kept.restore()
    this.#kept = undefined
  }

  #why(
    texts: RowTexts,
    trigger: number,
    text: TriggerText,
    told: RowMessage,
    position: number,
    matched: Match,
    from: number,
    to: number,
  ): Why {
    const { sensor, source, node, sensors, hasGates } = text
    const { time, before, after, message } = told
    const input = this.#inputOf(message, time)
    const gates = hasGates ? texts.gates(trigger, after & this.#rows.keyMask, position) : []
    const via = texts.via[position] ?? []
    const why: Why = {
      input,
      trigger:
        sensor === undefined
          ? { source, destination: node, matched, from: gateName(from), to: gateName(to) }
          : { source, destination: node, matched, from: nameOf(sensor, before), to: nameOf(sensor, after) },
      sensors: this.#whySensors(sensors, told, position, input),
      gates,
    }
    if (via.length > 0) why.via = via.map((step) => ({ ...step, time }))
    return why
  }

  /** Lists of one and two by themselves: nearly all are, and a function for each costs more than what it makes. */
  #whySensors(sensors: readonly SensorText[], told: RowMessage, position: number, input: InputSummary): WhySensor[] {
    const [one, two, three] = sensors
    if (one === undefined) return []
    const first = this.#whySensor(one, told, position, input)
    if (two === undefined) return [first]
    if (three === undefined) return [first, this.#whySensor(two, told, position, input)]
    return sensors.map((sensor) => this.#whySensor(sensor, told, position, input))
  }

  #whySensor(
    sensor: SensorText,
    { time, before, after, since, sinceAt }: RowMessage,
    position: number,
    input: InputSummary,
  ): WhySensor {
    const { node, states, shift, mask, slot } = sensor
    if (sensor.position > position) return { node, state: null }
    const state = (after >> shift) & mask
    const isOld = state === ((before >> shift) & mask)
    return { node, state: states[state] ?? null, since: isOld ? (since[sinceAt + slot] as number) : time, input }
  }

  /** Events of one message share what began them. */
  #inputOf(message: Message, time: number): InputSummary {
    const known = this.#input
    if (known.values === message && known.time === time) return known
    return (this.#input = { kind: 'data', time, resource: message.resource, values: message })
  }

  /** The engine's clock: ahead of the message when a sensor answered late. */
  #at({ row, time }: RowMessage): number {
    const { goingOn, clock } = this.#rows
    return goingOn?.row === row ? Math.max(time, clock[1] as number) : time
  }

  #firedAt(row: number, actuator: number): number {
    const rows = this.#rows
    return rows.past[rows.pastAt(row) + blockAt(rows.layout, actuator) + FIRED_AT] as number
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

function nameOf({ states, shift, mask }: SensorText, bits: number): string | null {
  return states[(bits >> shift) & mask] ?? null
}

function gateName(state: number): string | null {
  return state === 0 ? 'TRUE' : state === 1 ? 'FALSE' : null
}
