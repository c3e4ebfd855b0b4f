/**
 * `reflexarc/testing`: random messages for a rule of one's own, and properties that must hold for all of them.
 * Needs the package fast-check, which `npm i -D fast-check` brings.
 */
export { crashPoints } from './arbitraries/crash-points.ts'
export { messageStreams, readings, type Disturbance, type StreamOptions } from './arbitraries/messages.ts'
export { randomRules, type RandomRules } from './arbitraries/rules.ts'
export { checkRule, PropertyError, type CheckOptions } from './check-rule.ts'
export type { CheckedRun, Moment, RunCase } from './checked-run.ts'
export type { PropertyLike, RuleProperty, Verdict } from './property.ts'
export { coolDownRespected } from './properties/cool-down-respected.ts'
export { neverMoreThan, type WindowOptions } from './properties/never-more-than.ts'
export { neverSilentFor, type SilenceOptions } from './properties/never-silent-for.ts'
export { noFiringWithoutCause } from './properties/no-firing-without-cause.ts'
export { restartChangesNothing } from './properties/restart-changes-nothing.ts'
