/**
 * The library: an engine for live use, `simulate` for virtual time, `definePlug` for plugs of one's own.
 * Here, and nowhere in the core, real time and real randomness come in.
 */
import { asyncScheduler, timer } from 'rxjs'
import {
  CoreEngine,
  type Diff,
  type DiffOptions,
  diffRules as diffRulesCore,
  type Engine,
  type EngineOptions,
  type PlaybackOptions,
  type Rule,
  type Run,
  simulate as simulateCore,
  type SimulateOptions,
  sweep as sweepCore,
  type Sweep,
  type SweepOptions,
  type Template,
} from '#core'
import { generatorHere } from '#platform/generate'
import { LiveScheduler } from '#platform/live-scheduler'

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

/** Flattens a UUID, which Node builds of fourteen strings and retains: a copy is one string, a kilobyte smaller. */
function flat(uuid: string): string {
  return JSON.parse(`"${uuid}"`) as string
}

/** How long a simulation waits, in real ms, for an asynchronous plug before virtual time goes on without it. */
const PATIENCE_MS = 5000

/** Runs a rule or template over messages in virtual time. The same inputs and seed produce the same events. */
export function simulate(rule: Rule | Template, options: SimulateOptions): Promise<Run> {
  return simulateCore(rule, { ...playedHere(), ...options })
}

/** Runs a rule once per combination of values, in one pass over the messages, and counts what fires. */
export function sweep(rule: Rule | Template, options: SweepOptions): Promise<Sweep> {
  return sweepCore(rule, { ...playedHere(), ...options })
}

/** Runs two rules side by side over the messages: firings that only one has or that moved, where they part, and why. */
export function diffRules(
  before: Rule | Template,
  after: Rule | Template,
  options: PlaybackOptions & DiffOptions,
): Promise<Diff> {
  return diffRulesCore(before, after, { ...playedHere(), ...options })
}

function playedHere(): Pick<PlaybackOptions, 'patience' | 'generate'> {
  const generate = generatorHere()
  return { patience, ...(generate && { generate }) }
}

function patience(giveUp: () => void): () => void {
  const waiting = timer(PATIENCE_MS).subscribe(giveUp)
  return () => waiting.unsubscribe()
}

export {
  type Actuator,
  type Changed,
  createRegistry,
  type DataEvent,
  definePlug,
  type Diff,
  type Difference,
  type DiffFiring,
  type DiffOptions,
  diffRuns,
  type DiffTally,
  type Engine,
  type EngineEvent,
  type EventBatch,
  type EventFilter,
  type EventType,
  type EvictedEvent,
  type Explanation,
  explanationText,
  type ExplanationText,
  type FailedEvent,
  type FiredEvent,
  type Firing,
  type FiringWhy,
  fromBn,
  type GateEvent,
  type Group,
  type HeldEvent,
  type HeldReason,
  type HistoryOptions,
  type InputField,
  type InputSummary,
  type LogEvent,
  type Lost,
  type LostPart,
  type Message,
  type NextRun,
  nextRuns,
  type NextRuns,
  type NextRunsOptions,
  type NodeOverride,
  type NodeView,
  type Obstacle,
  type OutputField,
  parseSchedule,
  type Parting,
  type PlaybackOptions,
  type Plug,
  type PlugContext,
  type DefinedPlug,
  type PlugDefinition,
  type PlugRegistry,
  type PlugResult,
  type Ports,
  type PropertiesOf,
  type PropertyProblem,
  type RareEvent,
  type Relation,
  type ResultEvent,
  type Rule,
  type Run,
  type SavedTask,
  type Schedule,
  type ScheduleSettings,
  type Sensor,
  type SensorState,
  type Sent,
  type SharedTicks,
  shareTicks,
  type SimulateOptions,
  type StartedEvent,
  type StartSettings,
  type StateEvent,
  type StateExplanation,
  type StoppedEvent,
  type Sweep,
  type SweepOptions,
  type SweepRow,
  type Task,
  type TaskHistory,
  type TaskInfo,
  type TaskSettings,
  type Template,
  type Tick,
  type TickEvent,
  type TickOptions,
  ticks$,
  toBn,
  type Trigger,
  type TriggerExplanation,
  validateRule,
  validateTemplate,
  VirtualClock,
  type Why,
  type WhyGate,
  type WhyMembers,
  type WhySensor,
  type WhyStep,
  type WhyTrigger,
} from '#core'
export { AppError, describeIssue, type ErrorCode, ERRORS, type Issue, type Logger, type PatchOperation } from '#kernel'
