/**
 * The part of the engine's events that the model predicts. Left out: ids of effects, `why`, logs, error texts and
 * the values of messages.
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

/** One comparable line per event that the model knows of, `undefined` for the others. */
export function eventLine(event: { type: string; time: number; invocation: number }): string | undefined {
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

/** The comparable lines of a whole run, times relative to `start`. */
export function eventLines(events: readonly { type: string; time: number; invocation: number }[], start = 0): string[] {
  return events.flatMap((event) => {
    const line = eventLine({ ...event, time: event.time - start })
    return line === undefined ? [] : [line]
  })
}
