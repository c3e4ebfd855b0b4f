/**
 * The library: an engine for live use, `simulate` for virtual time, `definePlug` for plugs of one's own.
 * Here, and nowhere in the core, real time and real randomness come in.
 */
import { asyncScheduler, timer } from 'rxjs'
import type { Engine, EngineOptions } from './core/engine/api.ts'
import { CoreEngine } from './core/engine/engine.ts'
import type { Rule, Template } from './core/rule/rule.ts'
import { diffRules as diffRulesCore, type Diff, type DiffOptions } from './core/simulate/diff.ts'
import type { PlaybackOptions } from './core/simulate/playback.ts'
import { simulate as simulateCore, type Run, type SimulateOptions } from './core/simulate/simulate.ts'
import { sweep as sweepCore, type Sweep, type SweepOptions } from './core/simulate/sweep.ts'
import { generatorHere } from './generate.ts'
import { LiveScheduler } from './live-scheduler.ts'

/** Only `plugs` is needed; the rest has defaults for live use. */
export type CreateEngineOptions = Partial<EngineOptions> & Pick<EngineOptions, 'plugs'>

/** A clock that was put forward is noticed within a minute; a fleet wakes the process at most 100 times a second. */
const LIVE_WAKING = { recheckMs: 60_000, restMs: 10 }

/** An engine on the machine's clock. Pass `scheduler`, `ids` and `seed` to take time, ids and chance into your own hands. */
export function createEngine(options: CreateEngineOptions): Engine {
  const generate = generatorHere()
  const isLive = options.scheduler === undefined || options.scheduler === asyncScheduler
  return new CoreEngine({
    scheduler: new LiveScheduler(),
    ...(isLive ? LIVE_WAKING : {}),
    ids: () => flat(globalThis.crypto.randomUUID()),
    seed: Math.floor(Math.random() * 2 ** 32),
    ...(generate && { generate }),
    ...options,
  })
}

/** Node puts a UUID together of fourteen pieces and keeps them all; read anew it is one piece, a kilobyte smaller. */
function flat(uuid: string): string {
  return JSON.parse(`"${uuid}"`) as string
}

/** How long a simulation waits, in real ms, for an asynchronous plug before virtual time goes on without it. */
const PATIENCE_MS = 5000

/** Runs a rule or template over messages in virtual time. The same inputs and seed give the same events. */
export function simulate(rule: Rule | Template, options: SimulateOptions): Promise<Run> {
  return simulateCore(rule, { patience, ...options })
}

/** Runs a rule once per combination of values, in one pass over the messages, and counts what fires. */
export function sweep(rule: Rule | Template, options: SweepOptions): Promise<Sweep> {
  return sweepCore(rule, { patience, ...options })
}

/** Runs two rules side by side over the messages: firings that only one has or that moved, where they part, and why. */
export function diffRules(
  before: Rule | Template,
  after: Rule | Template,
  options: PlaybackOptions & DiffOptions,
): Promise<Diff> {
  return diffRulesCore(before, after, { patience, ...options })
}

function patience(giveUp: () => void): () => void {
  const waiting = timer(PATIENCE_MS).subscribe(giveUp)
  return () => waiting.unsubscribe()
}

export { diffRuns } from './core/simulate/diff-runs.ts'
export { definePlug } from './core/plug/define.ts'
export { nextRuns, type NextRun, type NextRuns, type NextRunsOptions } from './core/schedule/next-runs.ts'
export { parseSchedule } from './core/schedule/parse-schedule.ts'
export type { Schedule, ScheduleSettings } from './core/schedule/schedule.ts'
export { shareTicks, type SharedTicks } from './core/schedule/share-ticks.ts'
export { ticks$, type Tick, type TickOptions } from './core/schedule/ticks.ts'
export { VirtualClock } from './core/simulate/virtual-clock.ts'
export { fromBn } from './core/rule/bn/from-bn.ts'
export { toBn } from './core/rule/bn/to-bn.ts'
export { validateRule, validateTemplate } from './core/rule/validate.ts'
export { createRegistry } from './core/plug/registry.ts'
export { AppError, describeIssue, ERRORS, type ErrorCode, type Issue } from './kernel/errors.ts'
export type { Changed, Engine, NodeView, SavedTask, StartSettings, Task, TaskInfo } from './core/engine/api.ts'
export type { Lost, LostPart } from './core/task/lost.ts'
export type {
  DataEvent,
  EngineEvent,
  EventType,
  EvictedEvent,
  FailedEvent,
  FiredEvent,
  GateEvent,
  HeldEvent,
  HeldReason,
  InputSummary,
  LogEvent,
  RareEvent,
  ResultEvent,
  StartedEvent,
  StateEvent,
  StoppedEvent,
  TickEvent,
  Why,
  WhyGate,
  WhySensor,
  WhyStep,
  WhyTrigger,
} from './core/engine/events.ts'
export type { EventBatch } from './core/engine/event-batch.ts'
export type { Firing, FiringWhy, SensorState } from './core/engine/firing.ts'
export type { EventFilter } from './core/engine/event-filter.ts'
export type { HistoryOptions, TaskHistory } from './core/engine/event-history.ts'
export type {
  InputField,
  OutputField,
  Plug,
  PlugContext,
  PlugDefinition,
  PlugRegistry,
  PlugResult,
  PropertiesOf,
  PropertyProblem,
} from './core/plug/plug.ts'
export type { Ports } from './core/ports.ts'
export type { Logger } from './kernel/logger.ts'
export type {
  Actuator,
  NodeOverride,
  Relation,
  Rule,
  Sensor,
  TaskSettings,
  Template,
  Trigger,
} from './core/rule/rule.ts'
export type { Diff, DiffOptions } from './core/simulate/diff.ts'
export type { DiffFiring, DiffTally, Difference } from './core/simulate/diff-firings.ts'
export type { Parting } from './core/simulate/diff-parting.ts'
export type { PlaybackOptions } from './core/simulate/playback.ts'
export type { Run, SimulateOptions } from './core/simulate/simulate.ts'
export type { Sweep, SweepOptions, SweepRow } from './core/simulate/sweep.ts'
export type { Explanation, Obstacle, TriggerExplanation } from './core/task/explain.ts'
export type { Message, Sent } from './core/task/origin.ts'
