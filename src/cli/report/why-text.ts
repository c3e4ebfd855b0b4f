/** Formats the chain of causes behind a firing as lines of text. */
import type { FiredEvent, InputSummary, Why, WhyGate, WhySensor, WhyTrigger } from '#core'
import type { Paint } from '../terminal.ts'
import { formatTime } from '../time-text.ts'
import { visible } from '../visible.ts'
import type { Zone } from '../zone.ts'

const MAX_VALUES = 8
const MAX_VALUE_LENGTH = 40

export function conditionText({ source, matched, from, to }: WhyTrigger): string {
  if (matched === 'execution') return `${source} has run`
  if (matched === 'state') return `${source} is ${to}`
  return from === null ? `${source} became ${to}` : `${source} went from ${from} to ${to}`
}

/** Describes the condition of a firing; without recorded reasons, only its source. */
export function causeOf(event: Pick<FiredEvent, 'source' | 'why'>): string {
  return event.why === undefined ? event.source : conditionText(event.why.trigger)
}

export function whyLines(why: Why, zone: Zone, paint: Paint): string[] {
  const steps: [kind: string, text: string][] = [
    ['data', inputText(why.input, zone)],
    ...(why.via ?? []).map(({ source, destination, time }): [string, string] => {
      return ['via', `${source} ran ${destination} at ${formatTime(time, zone)}`]
    }),
    ...why.sensors.map((sensor): [string, string] => ['sensor', sensorText(sensor, why.input, zone)]),
    ...why.gates.map((gate): [string, string] => ['gate', gateText(gate)]),
    ['trigger', `${conditionText(why.trigger)}, so ${why.trigger.destination} fires`],
  ]
  return steps.map(([kind, text], index) => {
    const branch = index === steps.length - 1 ? '└' : '├'
    return `${paint('dim', `${branch} ${kind.padEnd(7)}`)} ${visible(text)}`
  })
}

function inputText(input: InputSummary, zone: Zone): string {
  switch (input.kind) {
    case 'data':
      return `${input.resource}: ${valuesText(input.values ?? {})}`
    case 'tick':
      return `tick of the task, due ${formatTime(input.scheduledAt ?? input.time, zone)}`
    case 'ownTick':
      return `tick of ${input.node}, due ${formatTime(input.scheduledAt ?? input.time, zone)}`
    case 'push':
      return `a value pushed into ${input.node}`
    case 'run':
      return `${input.node} run by hand`
    case 'start':
      return 'the start of the task'
  }
}

function sensorText({ node, state, since, input, carried = {} }: WhySensor, cause: InputSummary, zone: Zone): string {
  if (state === null) return `${node} is unknown`
  const lines: string[] = []
  if (since !== undefined && since < cause.time) lines.push(`since ${formatTime(since, zone)}`)
  if (input !== undefined && (input.resource !== cause.resource || input.kind !== cause.kind))
    lines.push(inputText(input, zone))
  for (const [name, { time }] of Object.entries(carried)) lines.push(`${name} of ${formatTime(time, zone)}`)
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
