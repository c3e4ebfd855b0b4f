/**
 * Events of what fires in rows, or is held back: made from a message of a row and from what follows from its states. When
 * they are made is no matter: nothing that they are made from changes any more.
 */
import type { FiredEvent, HeldEvent, InputSummary, Why, WhySensor } from '../engine/events.ts'
import type { Message } from '../task/origin.ts'
import type { EffectIds } from './effect-ids.ts'
import type { RowTexts, SensorText, TriggerText } from './row-texts.ts'
import type { Fires } from './row-store.ts'

/** A task whose row fires. */
export interface FiringTask {
  readonly task: string
  readonly texts: RowTexts
  readonly effects: EffectIds
  /** numbers of the input and the invocation of the message number 0 */
  readonly inputs: number
  readonly invocations: number
}

/** A message of a row. */
export interface FiringMessage {
  /** its number among those of the row */
  readonly number: number
  /** epoch ms */
  readonly time: number
  readonly message: Message
  /** state bits before it, and after it as far as they are known */
  readonly before: number
  readonly after: number
  /** since when each node had its state before the message, from a place on */
  readonly since: ArrayLike<number>
  readonly sinceAt: number
}

/** `at`: the engine's clock. `place`: among those that the same answer fires. `input`: what its why says, undefined: it has none. */
export function firedEvent(
  of: FiringTask,
  told: FiringMessage,
  fires: Fires,
  at: number,
  place: number,
  input: InputSummary | undefined,
): FiredEvent {
  const { texts, task } = of
  const { time, number } = told
  const text = texts.triggers[fires.trigger] as TriggerText
  const { node, source } = text
  const invocation = of.invocations + number
  const effect = of.effects.of(of.inputs + (number - 1) * (1 + texts.via.length) + fires.position + 2, place)
  if (input === undefined) {
    return at === time
      ? { time, task, invocation, type: 'fired', node, source, effect }
      : { time, at, task, invocation, type: 'fired', node, source, effect }
  }
  const why = whyOf(texts, text, told, fires, input)
  return at === time
    ? { time, task, invocation, type: 'fired', node, source, effect, why }
    : { time, at, task, invocation, type: 'fired', node, source, effect, why }
}

export function heldEvent(
  { texts, task, invocations }: FiringTask,
  { time, number }: FiringMessage,
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

export function inputOf(message: Message, time: number): InputSummary {
  return { kind: 'data', time, resource: message.resource, values: message }
}

function whyOf(texts: RowTexts, text: TriggerText, told: FiringMessage, fires: Fires, input: InputSummary): Why {
  const { sensor, source, node, sensors, hasGates } = text
  const { before, after, time } = told
  const { trigger, position, matched, from, to } = fires
  const gates = hasGates ? texts.gates(trigger, after, position) : []
  const via = texts.via[position] ?? []
  const why: Why = {
    input,
    trigger:
      sensor === undefined
        ? { source, destination: node, matched, from: gateName(from), to: gateName(to) }
        : { source, destination: node, matched, from: nameOf(sensor, before), to: nameOf(sensor, after) },
    sensors: whySensors(sensors, told, position, input),
    gates,
  }
  if (via.length > 0) why.via = via.map((step) => ({ ...step, time }))
  return why
}

/** Lists of one and two by themselves: nearly all are, and a function for each costs more than what it makes. */
function whySensors(
  sensors: readonly SensorText[],
  told: FiringMessage,
  position: number,
  input: InputSummary,
): WhySensor[] {
  const [one, two, three] = sensors
  if (one === undefined) return []
  const first = whySensor(one, told, position, input)
  if (two === undefined) return [first]
  if (three === undefined) return [first, whySensor(two, told, position, input)]
  return sensors.map((sensor) => whySensor(sensor, told, position, input))
}

function whySensor(sensor: SensorText, told: FiringMessage, position: number, input: InputSummary): WhySensor {
  const { node, states, shift, mask, slot } = sensor
  if (sensor.position > position) return { node, state: null }
  const state = (told.after >> shift) & mask
  const isOld = state === ((told.before >> shift) & mask)
  return {
    node,
    state: states[state] ?? null,
    since: isOld ? (told.since[told.sinceAt + slot] as number) : told.time,
    input,
  }
}

function nameOf({ states, shift, mask }: SensorText, bits: number): string | null {
  return states[(bits >> shift) & mask] ?? null
}

function gateName(state: number): string | null {
  return state === 0 ? 'TRUE' : state === 1 ? 'FALSE' : null
}
