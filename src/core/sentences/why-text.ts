/** Writes the chain of causes behind a firing or a state as one sentence per step. */
import type { FiredEvent, InputSummary, Why, WhyGate, WhySensor, WhyTrigger } from '../engine/events.ts'

const MAX_VALUES = 8
const MAX_VALUE_LENGTH = 40

/** Writes an instant in epoch ms for the reader, in a time zone of the reader's choice. */
export type TimeText = (instant: number) => string

export interface ChainStep {
  kind: 'data' | 'via' | 'sensor' | 'gate' | 'trigger'
  /** the node that the step is about; absent for data of a resource */
  node?: string
  text: string
}

export function conditionText({ source, matched, from, to }: WhyTrigger): string {
  if (matched === 'execution') return `${source} has run`
  if (matched === 'state') return `${source} is ${to}`
  return from === null ? `${source} became ${to}` : `${source} went from ${from} to ${to}`
}

/** Describes the condition of a firing; without recorded reasons, only its source. */
export function causeOf(event: Pick<FiredEvent, 'source' | 'why'>): string {
  return event.why === undefined ? event.source : conditionText(event.why.trigger)
}

/** Returns the steps to a firing: data, triggers that led to the source, sensors, gates, trigger. */
export function whySteps(why: Why, time: TimeText): ChainStep[] {
  const { input, trigger } = why
  return [
    { kind: 'data', ...ofNode(input), text: inputText(input, time) },
    ...stateSteps(why, input, time),
    { kind: 'trigger', node: trigger.destination, text: `${conditionText(trigger)}, so ${trigger.destination} fires` },
  ]
}

/** Returns the steps to the state of a node. `cause`: the input that an earlier step shows. */
export function stateSteps(
  { via = [], sensors, gates }: Pick<Why, 'via' | 'sensors' | 'gates'>,
  cause: InputSummary | undefined,
  time: TimeText,
): ChainStep[] {
  return [
    ...via.map((step): ChainStep => {
      const text = `${step.source} ran ${step.destination} at ${time(step.time)}`
      return { kind: 'via', node: step.destination, text }
    }),
    ...sensors.map((one): ChainStep => ({ kind: 'sensor', node: one.node, text: sensorText(one, cause, time) })),
    ...gates.map((gate): ChainStep => ({ kind: 'gate', node: gate.node, text: gateText(gate) })),
  ]
}

function ofNode({ node }: InputSummary): { node?: string } {
  return node === undefined ? {} : { node }
}

export function inputText(input: InputSummary, time: TimeText): string {
  switch (input.kind) {
    case 'data':
      return `${input.resource}: ${valuesText(input.values ?? {})}`
    case 'tick':
      return `tick of the task, due ${time(input.scheduledAt ?? input.time)}`
    case 'ownTick':
      return `tick of ${input.node}, due ${time(input.scheduledAt ?? input.time)}`
    case 'push':
      return `a value pushed into ${input.node}`
    case 'run':
      return `manual run of ${input.node}`
    case 'join':
      return `${input.resource} joins its group`
    case 'leave':
      return `${input.resource} leaves its group`
    case 'start':
      return 'the start of the task'
  }
}

function sensorText(
  { node, state, since, input, carried = {} }: WhySensor,
  cause: InputSummary | undefined,
  time: TimeText,
): string {
  if (state === null) return `${node} is unknown`
  const lines: string[] = []
  if (since !== undefined && (cause === undefined || since < cause.time)) lines.push(`since ${time(since)}`)
  if (input !== undefined && (input.resource !== cause?.resource || input.kind !== cause?.kind))
    lines.push(inputText(input, time))
  for (const [name, carriedFrom] of Object.entries(carried)) lines.push(`${name} of ${time(carriedFrom.time)}`)
  return `${node} is ${state}${lines.length > 0 ? ` (${lines.join(', ')})` : ''}`
}

function gateText({ node, type, state, row }: WhyGate): string {
  const parents = Object.entries(row).map(([parent, seen]) => `${parent} ${seen ?? 'unknown'}`)
  return `${node} is ${state ?? 'unknown'}: ${type} of ${parents.join(', ')}`
}

export function valuesText(values: Readonly<Record<string, unknown>>): string {
  const entries = Object.entries(values).filter(([key]) => key !== 'timestamp' && key !== 'resource')
  const shown = entries.slice(0, MAX_VALUES).map(([key, value]) => `${key} ${valueText(value)}`)
  if (entries.length > MAX_VALUES) shown.push(`and ${entries.length - MAX_VALUES} more`)
  return shown.length > 0 ? shown.join(', ') : 'a message without values'
}

function valueText(value: unknown): string {
  // JSON cannot represent these numbers.
  const text =
    typeof value === 'number' && !Number.isFinite(value) ? String(value) : (JSON.stringify(value) ?? String(value))
  return text.length > MAX_VALUE_LENGTH ? `${text.slice(0, MAX_VALUE_LENGTH - 3)}...` : text
}
