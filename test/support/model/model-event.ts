import type { Rule } from '../../../src/core/rule/rule.ts'

/**
 * Defines the part of the engine's events that the model predicts. Excludes ids of effects, `why`, logs, error texts
 * and message values.
 */
export type ModelEvent = { time: number; invocation: number } & (
  | { type: 'started'; run: number }
  | { type: 'tick'; node?: string; scheduledAt: number }
  | { type: 'data'; resource: string }
  | { type: 'state' | 'gate'; node: string; from: string | null; to: string | null }
  | { type: 'fired'; node: string; source: string }
  | { type: 'held'; node: string; source?: string; reason: string; until?: number }
  | { type: 'result'; node: string; ok: boolean; state?: string; rawData?: unknown }
  | { type: 'evicted'; node: string; from: string }
  | { type: 'stopped'; reason: string }
)

type WithoutStamp<T> = T extends unknown ? Omit<T, 'time' | 'invocation'> : never

export type Happening = WithoutStamp<ModelEvent>

interface ComparedEvent {
  type: string
  time: number
  invocation: number
  node?: string
}

const COMPARED: Readonly<Record<string, readonly string[]>> = {
  started: ['run'],
  tick: ['node', 'scheduledAt'],
  data: ['resource'],
  state: ['node', 'from', 'to'],
  gate: ['node', 'from', 'to'],
  fired: ['node', 'source'],
  held: ['node', 'source', 'reason', 'until'],
  result: ['node', 'ok', 'state', 'rawData'],
  evicted: ['node', 'from'],
  stopped: ['reason'],
  failed: ['error'],
}

/** Returns a comparable line for an event that the model predicts, `undefined` for others. */
function eventLine(event: ComparedEvent): string | undefined {
  const fields = COMPARED[event.type]
  if (!fields) return undefined
  const values = new Map<string, unknown>(Object.entries(event))
  if (values.get('ok') === false) for (const name of ['state', 'rawData']) values.delete(name)
  const shown = fields.flatMap((name) => {
    const value = values.get(name)
    return value === undefined ? [] : [`${name}=${JSON.stringify(value)}`]
  })
  return `${event.time} #${event.invocation} ${event.type} ${shown.join(' ')}`
}

/**
 * Returns the comparable lines of a run, with times relative to `start`. The results of each actuator are listed
 * separately in order, because their times do not matter.
 */
export function eventLines(
  events: readonly ComparedEvent[],
  rule: Rule,
  start = 0,
): { task: string[]; actuators: Record<string, string[]> } {
  const task: string[] = []
  const actuators = Object.fromEntries((rule.actuators ?? []).map(({ label }) => [label, [] as string[]]))
  for (const event of events) {
    const ofActuator = event.type === 'result' ? actuators[event.node ?? ''] : undefined
    const line = eventLine({ ...event, time: ofActuator ? 0 : event.time - start })
    if (line !== undefined) (ofActuator ?? task).push(line)
  }
  return { task, actuators }
}
