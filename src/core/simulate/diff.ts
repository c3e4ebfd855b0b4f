/** Compares two rules over the same messages. */
import { AppError, durationMs } from '#kernel'
import type { Task } from '../engine/api.ts'
import type { EngineEvent, FiredEvent } from '../engine/events.ts'
import type { Rule, Template } from '../rule/rule.ts'
import { Comparison, type Compared } from './diff-comparison.ts'
import type { Side } from './diff-firings.ts'
import { isWatched, type PartingInput, type WatchedEvent, type Witness } from './diff-parting.ts'
import { play, type PlaybackOptions, type Step } from './playback.ts'

export interface DiffOptions {
  /** ms, or ISO 8601: firings of one destination within this distance count as moved; default ten minutes */
  readonly tolerance?: number | string
  /** receives the firings of the new rule */
  readonly onFired?: (event: FiredEvent) => void
}

export interface Diff extends Compared {
  readonly messages: number
  readonly late: number
  readonly from: number
  readonly until: number
}

const DEFAULT_TOLERANCE_MS = 600_000

/**
 * Runs both rules side by side and compares them at every step. Memory does not grow with the recording. Throws like
 * `simulate`, and `VALIDATION` for an invalid tolerance.
 */
export async function diffRules(
  before: Rule | Template,
  after: Rule | Template,
  options: PlaybackOptions & DiffOptions,
): Promise<Diff> {
  const { tolerance, onFired, ...playback } = options
  const comparison = new LaneComparison(tolerance)
  const compare = comparison.listener('new')
  const lanes = [
    { rule: before, name: 'the old rule', onEvent: comparison.listener('old') },
    {
      rule: after,
      name: 'the new rule',
      onEvent: (event: EngineEvent) => {
        compare(event)
        if (event.type === 'fired') onFired?.(event)
      },
    },
  ]
  const { messages, late, from, until } = await play(lanes, playback, {
    onStep: (step, [oldTask, newTask]) => comparison.step(step, oldTask as Task, newTask as Task),
  })
  return { ...comparison.end(), messages, late, from, until }
}

/** Compares two lanes of a playback at every step. */
export class LaneComparison {
  readonly #comparison: Comparison
  #events: Record<Side, WatchedEvent[]> = { old: [], new: [] }
  #messages = 0

  /** `tolerance`: as in `DiffOptions`. Throws `VALIDATION` if it is invalid. */
  constructor(tolerance?: number | string) {
    this.#comparison = new Comparison(toleranceMs(tolerance))
  }

  listener(side: Side): (event: EngineEvent) => void {
    return (event) => {
      if (isWatched(event)) this.#events[side].push(event)
    }
  }

  step(step: Step, oldTask: Task, newTask: Task): void {
    const comparison = this.#comparison
    if (step.kind === 'start') comparison.expect(oldTask.save().rule, newTask.save().rule)
    if (step.kind === 'message') this.#messages++
    const events = this.#events
    if (events.old.length + events.new.length > 0) {
      const { kind, message } = step
      const input: PartingInput = message === undefined ? { kind } : { kind, number: this.#messages, message }
      comparison.instant(step.time, input, events, { old: onTask(oldTask), new: onTask(newTask) })
      this.#events = { old: [], new: [] }
    }
    comparison.settle(step.time)
  }

  end(): Compared {
    return this.#comparison.end()
  }
}

export function toleranceMs(tolerance: number | string | undefined): number {
  const ms = typeof tolerance === 'string' ? durationMs(tolerance) : (tolerance ?? DEFAULT_TOLERANCE_MS)
  if (ms >= 0 && Number.isFinite(ms)) return ms
  throw new AppError(
    'VALIDATION',
    `tolerance: ${String(tolerance)} is not a valid duration; use ms from 0, PT10M or 10m`,
  )
}

function onTask(task: Task): Witness {
  return {
    blocked: (node) => attempt(() => task.explain(node).triggers),
    state(node) {
      const view = attempt(() => task.node(node))
      const best = view?.mostLikelyState
      return {
        state: best?.probability === 1 ? best.state : null,
        ...(view?.rawData !== undefined && { rawData: view.rawData }),
      }
    },
  }
}

/** Returns undefined for a node that exists only in the other rule. */
function attempt<T>(question: () => T): T | undefined {
  try {
    return question()
  } catch (error) {
    if (error instanceof AppError) return undefined
    throw error
  }
}
