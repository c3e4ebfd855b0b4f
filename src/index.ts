/**
 * The library. An engine for live use, `simulate` for virtual time, `definePlug` for plugs of one's own.
 * Here, and nowhere in the core, real time and real randomness come in.
 */
import { asyncScheduler, timer } from 'rxjs'
import type { Engine, EngineOptions } from './core/engine/api.ts'
import { CoreEngine } from './core/engine/engine.ts'
import type { Rule, Template } from './core/rule/rule.ts'
import { simulate as simulateCore, type Run, type SimulateOptions } from './core/simulate/simulate.ts'

/** Only `plugs` is needed; the rest has defaults for live use. */
export type CreateEngineOptions = Partial<EngineOptions> & Pick<EngineOptions, 'plugs'>

/** An engine on the machine's clock. Pass `scheduler`, `ids` and `seed` to take time, ids and chance into your own hands. */
export function createEngine(options: CreateEngineOptions): Engine {
  return new CoreEngine({
    scheduler: asyncScheduler,
    ids: () => globalThis.crypto.randomUUID(),
    seed: Math.floor(Math.random() * 2 ** 32),
    ...options,
  })
}

/** How long a simulation waits, in real ms, for an asynchronous plug before virtual time goes on without it. */
const PATIENCE_MS = 5000

/** Runs a rule or template over messages in virtual time. The same inputs and seed give the same events. */
export function simulate(rule: Rule | Template, options: SimulateOptions): Promise<Run> {
  const patience = (giveUp: () => void) => {
    const waiting = timer(PATIENCE_MS).subscribe(giveUp)
    return () => waiting.unsubscribe()
  }
  return simulateCore(rule, { patience, ...options })
}

export { definePlug } from './core/plug/define.ts'
export { VirtualClock } from './core/simulate/virtual-clock.ts'
export { validateRule, validateTemplate } from './core/rule/validate.ts'
export { createRegistry } from './core/plug/registry.ts'
export { AppError, describeIssue, ERRORS, type ErrorCode, type Issue } from './kernel/errors.ts'
export type { Engine, NodeView, SavedTask, StartSettings, Task, TaskInfo } from './core/engine/api.ts'
export type { EngineEvent, EventType, InputSummary, Why } from './core/engine/events.ts'
export type { Plug, PlugContext, PlugDefinition, PlugRegistry, PlugResult } from './core/plug/plug.ts'
export type { Logger, Ports } from './core/ports.ts'
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
export type { Run, SimulateOptions } from './core/simulate/simulate.ts'
export type { Explanation, Obstacle, TriggerExplanation } from './core/task/explain.ts'
export type { Message } from './core/task/origin.ts'
