/** Creates the events for firings and holds of rows, from a row's message and its states, at any later time. */
import type { FiredEvent, HeldEvent, InputSummary, Why, WhyGate, WhySensor } from '../engine/events.ts'
import type { Message } from '../task/origin.ts'
import type { RowTexts, SensorText, TriggerText } from './row-texts.ts'
import type { Fires } from './followings.ts'

export interface FiringTask {
  readonly task: string
  readonly texts: RowTexts
  /** prefix of its effect ids */
  readonly effects: string
  /** input and invocation numbers of message number 0 */
  readonly inputs: number
  readonly invocations: number
}

/** Fields that each event of a row's message needs. */
export interface NumberedMessage {
  /** number of the message within the row */
  readonly number: number
  /** epoch ms */
  readonly time: number
}

/** A row's message with the data that its explanations (`why`) need. */
export interface FiringMessage extends NumberedMessage {
  readonly message: Message
  /** state bits before the message, and the known ones after it */
  readonly before: number
  readonly after: number
  /** when each node entered the state that it had before the message */
  readonly since: ArrayLike<number>
}

/**
 * `number`, `time`: of the message, as in `FiringMessage`. `at`: the engine's clock. `place`: index among the firings
 * after the same sensor. `why`: undefined unless a subscriber asked for it.
 */
export function firedEvent(
  of: FiringTask,
  { number, time }: NumberedMessage,
  fires: Fires,
  at: number,
  place: number,
  why: Why | undefined,
): FiredEvent {
  const { texts, task } = of
  const { node, source } = texts.triggers[fires.trigger] as TriggerText
  const invocation = of.invocations + number
  const effect = effectOf(of, number, fires, place)
  if (why === undefined) {
    return at === time
      ? { time, task, invocation, type: 'fired', node, source, effect }
      : { time, at, task, invocation, type: 'fired', node, source, effect }
  }
  return at === time
    ? { time, task, invocation, type: 'fired', node, source, effect, why }
    : { time, at, task, invocation, type: 'fired', node, source, effect, why }
}

/** Returns the effect id. `number`: of the message. */
export function effectOf({ effects, inputs, texts }: FiringTask, number: number, fires: Fires, place: number): string {
  return `${effects}${inputs + (number - 1) * (1 + texts.sensors) + fires.position + 2}/${place}`
}

export function heldEvent(
  { texts, task, invocations }: FiringTask,
  { time, number }: NumberedMessage,
  trigger: number,
  at: number,
  until: number,
): HeldEvent {
  const { source, node } = texts.triggers[trigger] as TriggerText
  const invocation = invocations + number
  return at === time
    ? { time, task, invocation, type: 'held', node, source, until, reason: 'invocationPolicy' }
    : { time, at, task, invocation, type: 'held', node, source, until, reason: 'invocationPolicy' }
}

const NO_GATES: readonly WhyGate[] = []

export function inputOf(message: Message, time: number): InputSummary {
  return { kind: 'data', time, resource: message.resource, values: message }
}

/** `input`: what started the firing; all explanations of a message share it. */
export function whyOf(texts: RowTexts, explained: FiringMessage, fires: Fires, input: InputSummary): Why {
  const { sensors, hasGates } = texts.triggers[fires.trigger] as TriggerText
  const { before, after, time } = explained
  const gates = hasGates ? texts.gates(fires.trigger, after) : NO_GATES
  const via = texts.via(fires.trigger, time)
  const trigger = texts.trigger(fires, before, after)
  const also = texts.also(fires, before, after)
  if (also !== undefined) {
    const own = { input, trigger, also, sensors: whySensors(sensors, explained, input), gates }
    return via === undefined ? own : { ...own, via }
  }
  return via === undefined
    ? { input, trigger, sensors: whySensors(sensors, explained, input), gates }
    : { input, trigger, sensors: whySensors(sensors, explained, input), gates, via }
}

/**
 * Handles one and two sensors separately: nearly all lists are that short, and a callback costs more than its result.
 */
function whySensors(sensors: readonly SensorText[], explained: FiringMessage, input: InputSummary): WhySensor[] {
  const [one, two, three] = sensors
  if (one === undefined) return []
  const first = whySensor(one, explained, input)
  if (two === undefined) return [first]
  if (three === undefined) return [first, whySensor(two, explained, input)]
  return sensors.map((sensor) => whySensor(sensor, explained, input))
}

function whySensor(sensor: SensorText, explained: FiringMessage, input: InputSummary): WhySensor {
  const { node, states, shift, mask, slot } = sensor
  const state = (explained.after >> shift) & mask
  const isOld = state === ((explained.before >> shift) & mask)
  return {
    node,
    state: states[state] ?? null,
    since: isOld ? (explained.since[slot] as number) : explained.time,
    input,
  }
}
