/** Runs a rule over recorded or generated messages in virtual time, with the same engine that runs live. */
import type { Task } from '../engine/api.ts'
import type { EngineEvent, EventType } from '../engine/events.ts'
import type { Rule, Template } from '../rule/rule.ts'
import type { Explanation } from '../task/explain.ts'
import { play, type PlaybackOptions } from './playback.ts'

export interface SimulateOptions extends PlaybackOptions {
  /** events that are kept in `run.events`; default all */
  readonly keep?: 'all' | 'none' | readonly EventType[]
  readonly onEvent?: (event: EngineEvent) => void
}

export interface Run {
  readonly events: readonly EngineEvent[]
  readonly messages: number
  /** number of messages older than the clock */
  readonly late: number
  readonly from: number
  readonly until: number
  /** longest time, in ms, that an input waited for earlier ones; 0 without `latency` */
  readonly maxLag: number
  readonly task: Task
  explain(node: string): Explanation
}

/** Runs a simulation. Throws like `engine.start`, and `BAD_RECORDING` for a message without a time. */
export async function simulate(rule: Rule | Template, options: SimulateOptions): Promise<Run> {
  const events: EngineEvent[] = []
  const { tasks, ...played } = await play([{ rule, onEvent: listener(events, options) }], options)
  const [task] = tasks as [Task]
  return { events, ...played, task, explain: (node) => task.explain(node) }
}

function listener(
  events: EngineEvent[],
  { keep = 'all', onEvent }: SimulateOptions,
): ((event: EngineEvent) => void) | undefined {
  if (keep === 'none') return onEvent
  const kept = keep === 'all' ? undefined : new Set<EventType>(keep)
  return (event) => {
    if (kept === undefined || kept.has(event.type)) events.push(event)
    onEvent?.(event)
  }
}
