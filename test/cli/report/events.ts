/** Builds small engine events for tests of the printed output. */
import type { FiredEvent, HeldEvent, ResultEvent, Why } from '../../../src/core/engine/events.ts'

export const START = Date.parse('2025-01-15T08:00:00Z')

export const hotAndStill: Why = {
  input: { kind: 'data', time: START, resource: 'boiler-1', values: { temperature: 93.5, pump: false } },
  trigger: { source: 'gate', destination: 'alarm', matched: 'state', from: null, to: 'TRUE' },
  sensors: [
    { node: 'temperature', state: 'Above', since: START },
    { node: 'pump', state: 'False', since: START - 60_000 },
  ],
  gates: [{ node: 'gate', type: 'AND', state: 'TRUE', row: { temperature: 'Above', pump: 'False' } }],
}

const base = { task: 't', invocation: 1 } as const

export function fired(node: string, time = START, why: Why | undefined = hotAndStill): FiredEvent {
  const event: FiredEvent = { ...base, time, type: 'fired', node, source: 'gate', effect: `t/1/${time}/0` }
  return why === undefined ? event : { ...event, why }
}

export function answered(node: string, message: string, time = START): ResultEvent {
  return { ...base, time, type: 'result', node, ok: true, message }
}

export function failed(node: string, error: string, time = START): ResultEvent {
  return { ...base, time, type: 'result', node, ok: false, error }
}

export function held(node: string, reason: HeldEvent['reason']): HeldEvent {
  return { ...base, time: START, type: 'held', node, source: 'gate', reason }
}
