/** One run of a rule over made-up messages, as properties look at it. */
import { timer } from 'rxjs'
import type { Task } from '../core/engine/api.ts'
import type { EngineEvent, FiredEvent } from '../core/engine/events.ts'
import { instantOf } from '../core/simulate/instant.ts'
import { play, type PlaybackOptions } from '../core/simulate/playback.ts'
import type { Rule, RuleGraph, Template } from '../core/rule/rule.ts'
import type { Message } from '../core/task/origin.ts'

/** What a run was made of; enough to run it again. */
export interface RunCase {
  readonly rule: Rule | Template
  readonly messages: readonly Message[]
  /** after how many messages `restarted` lets the process die */
  readonly crashes: readonly number[]
}

export interface CheckedRun extends RunCase {
  readonly events: readonly EngineEvent[]
  /** the state of affairs after each message, and after each instant at which the clock made something happen */
  readonly moments: readonly Moment[]
  /** epoch ms */
  readonly from: number
  readonly until: number
  /** firings of one destination, or of all */
  firings(node?: string): readonly FiredEvent[]
  /** the same messages, but the process dies at every crash point and goes on from what was saved */
  restarted(): Promise<CheckedRun>
}

export interface Moment {
  /** epoch ms */
  readonly time: number
  /** absent when it was the clock */
  readonly message?: Message
  /** what has fired since the moment before */
  readonly fired: readonly FiredEvent[]
  /** the state of a sensor or gate; null when it is not known */
  state(node: string): string | null
  /** the newest message of a resource, or of any */
  latest(resource?: string): Message | undefined
}

export interface CaseOptions extends Pick<
  PlaybackOptions,
  'plugs' | 'resource' | 'variables' | 'settings' | 'ports' | 'metadata' | 'patience'
> {
  /** ms that the clock runs on after the last message */
  readonly tail: number
}

/** How long, in real time, asynchronous plugs are waited for. */
const PATIENCE_MS = 1000

const patience = (giveUp: () => void): (() => void) => {
  const waiting = timer(PATIENCE_MS).subscribe(giveUp)
  return () => waiting.unsubscribe()
}

export async function runCase(one: RunCase, options: CaseOptions, restarts = false): Promise<CheckedRun> {
  const events: EngineEvent[] = []
  const moments: Moment[] = []
  const labels = observedLabels(one.rule)
  const latest = new Map<string, Message>()
  let newest: Message | undefined
  let seen = 0
  const { tail, ...playback } = options
  const crashes = new Set(restarts ? one.crashes : [])
  const { from, until } = await play(
    [{ rule: one.rule, onEvent: (event) => void events.push(event) }],
    { patience, ...playback, messages: one.messages, until: untilOf(one.messages, tail) },
    {
      restartAfter: (count) => crashes.has(count),
      onStep(step, [task]) {
        if (step.message) {
          newest = step.message
          latest.set(step.message.resource, step.message)
        }
        moments.push({
          time: step.time,
          ...(step.message && { message: step.message }),
          fired: events.slice(seen).filter(isFired),
          ...lookAt(task, labels, new Map(latest), newest),
        })
        seen = events.length
      },
    },
  )
  return {
    ...one,
    events,
    moments,
    from,
    until,
    firings: (node) => events.filter(isFired).filter((event) => node === undefined || event.node === node),
    restarted: () => runCase(one, options, true),
  }
}

/** Epoch ms at which a run over these messages ends: none goes beyond the latest of them and the tail. */
export function untilOf(messages: readonly Message[], tail: number): number {
  const times = messages.map((message, i) => instantOf(message, i + 1))
  return Math.max(0, ...times) + tail
}

function lookAt(
  task: Task | undefined,
  labels: readonly string[],
  latest: ReadonlyMap<string, Message>,
  newest: Message | undefined,
): Pick<Moment, 'state' | 'latest'> {
  const states = new Map<string, string>()
  for (const label of labels) {
    const best = task?.node(label).mostLikelyState
    if (best?.probability === 1) states.set(label, best.state)
  }
  return {
    state: (node) => states.get(node) ?? null,
    latest: (resource) => (resource === undefined ? newest : latest.get(resource)),
  }
}

function observedLabels({ sensors = [], relations = [] }: RuleGraph): readonly string[] {
  return [...sensors, ...relations].map(({ label }) => label)
}

function isFired(event: EngineEvent): event is FiredEvent {
  return event.type === 'fired'
}
