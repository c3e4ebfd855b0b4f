/**
 * Entry point `reflexarc/testing`: generates random messages for a rule, and checks properties that must hold for all
 * of them. It needs the package fast-check (`npm i -D fast-check`).
 */
export { constantsOf, type RuleConstants } from './arbitraries/constants.ts'
export { messageStreams, type Disturbance, type Metrics, type StreamOptions } from './arbitraries/messages.ts'
export { randomRules, type RandomRules } from './arbitraries/rules.ts'
export { episodes, ramp, walk, type Episodes, type Signal, readings } from './arbitraries/signals.ts'
export type { CheckOptions, Cover } from './check-options.ts'
export type { CheckReport, Share } from './check-report.ts'
export { checkCase, checkRule, PropertyError } from './check-rule.ts'
export type { CheckedRun, CrashPoint, Moment, RestartOptions, RunCase, UnheardRun } from './checked-run.ts'
export { mutantsOf, type Mutant } from './mutate/mutants.ts'
export { mutateRule, type MutateOptions, type Mutation } from './mutate/mutate-rule.ts'
export type { Monitor, Need, PropertyLike, RuleProperty, Verdict } from './property.ts'
export type { InputClass } from './prove/input-classes.ts'
export { proveRule, type Proof, type ProveOptions } from './prove/prove-rule.ts'
export {
  coolDownRespected,
  neverMoreThan,
  neverSilentFor,
  noFiringWithoutCause,
  type SilenceOptions,
  type WindowOptions,
} from './properties/firings.ts'
export { noErrors } from './properties/implicit.ts'
export {
  columnarAsPlain,
  deterministic,
  latencyChangesNothing,
  restartChangesNothing,
  type RestartChoice,
} from './properties/repeated-runs.ts'
export {
  and,
  becomes,
  ends,
  fires,
  iff,
  implies,
  inState,
  isUnknown,
  not,
  or,
  reads,
  recently,
  since,
  type Condition,
  type ConditionLike,
  type ReadsOptions,
} from './temporal/condition.ts'
export { always, leadsTo, never, once, sometimes, until, type WithinOptions } from './temporal/properties.ts'
export { duplicatesChangeNothing, resourcesAreAlike, sameAs, scaled, shiftedInTime } from './relations/relations.ts'
export { caseText, readCase } from './write-case.ts'
export { checkWorld, type WorldOptions, type WorldReport } from './world/check-world.ts'
export {
  memoryWorld,
  type MemoryAlarm,
  type MemoryServices,
  type MemoryWorldOptions,
  type WorldAround,
  type WorldState,
} from './world/memory-world.ts'
export { inWorld, type World, type WorldMoment, type WorldStep, type WorldTask } from './world/world-run.ts'
