/** Exports the engine for code built around it: the host, the services, the test kit and the bench. */
export { CALENDAR_DAYS, type CalendarDocument } from './calendar/calendar.ts'
export { type CalendarReading, type CalendarState, handOverGaps, readCalendar } from './calendar/read-calendar.ts'
export type { Outcome } from './engine/call-plug.ts'
export type { Counts } from './engine/counts.ts'
export { recordOf } from './engine/event-batch.ts'
export type { Generate } from './engine/executor.ts'
export type { Reply } from './engine/journal.ts'
export type { TaskOrigin } from './engine/host-control.ts'
export type { LiveTask } from './engine/live-task.ts'
export { resolveResources } from './engine/model.ts'
export { Preparer } from './engine/prepare.ts'
export type { Prepared } from './engine/prepared.ts'
export { requireMessages } from './engine/refusals.ts'
export { isRendered } from './engine/render-call.ts'
export type { EngineStats } from './engine/stats.ts'
export {
  type ActuatorNode,
  ANY,
  FALSE,
  type GateNode,
  type Graph,
  type ObservableNode,
  type SensorNode,
  type TriggerEdge,
  TRUE,
  UNKNOWN,
} from './graph/graph.ts'
export type { RuleProperties } from './graph/rule-properties.ts'
export { compileValue } from './language/placeholders/value.ts'
export { parseResource, resolveResource } from './language/placeholders/resource.ts'
export { frozenCopy } from './plug/frozen-copy.ts'
export { plugsSchema } from './rule/plugs-schema.ts'
export { byName, exampleNode, plugPage } from './plug/plug-page.ts'
export { plugOfNode } from './plug/plug-of-node.ts'
export type { FieldFormat, FieldType, PlugAnswer, PlugKind } from './plug/plug.ts'
export { readAnswer } from './plug/result.ts'
export { followPlugs } from './plug/registry.ts'
export { compareVersions } from './plug/version-range.ts'
export type { Cause, PlainObject } from './ports.ts'
export { type BnGraph, BnGraphSchema } from './rule/bn/bn-graph.ts'
export { isBnDocument } from './rule/bn/read-bn.ts'
export { checkShape } from './rule/check/check-shape.ts'
export { readDocument } from './rule/check/read-document.ts'
export { type CheckOptions, Report } from './rule/check/report.ts'
export { isTemplateDocument } from './rule/is-template.ts'
export { findVariables, type FoundVariable } from './rule/find-variables.ts'
export { applyOverrides, mergeOverrides, overriddenAt } from './rule/overrides.ts'
export {
  NodeOverrideSchema,
  RuleSchema,
  TaskFromTemplateSchema,
  TaskSettingsSchema,
  TemplateSchema,
} from './rule/rule-schema.ts'
export type { DstPolicy, PlugNode, RuleGraph, TaskFromTemplate, TaskType, VariableDeclaration } from './rule/rule.ts'
export { normalizeSettings, settingsOf, type SharedSettings } from './rule/settings.ts'
export { type ValidatedTemplate, validateTaskRequest } from './rule/validate.ts'
export type { DowntimeRuns, RunNote, ScheduleChange, TouchedTime } from './schedule/next-runs.ts'
export { instantsOf } from './schedule/dst-policy.ts'
export { latestBefore } from './schedule/occurrences.ts'
export { parseSchedule } from './schedule/parse-schedule.ts'
export type { Schedule } from './schedule/schedule.ts'
export { parseZone } from './schedule/zone.ts'
export { type Difference, FiringMatcher, type SavedMatcher, type Side } from './simulate/diff-firings.ts'
export type { PartingSide } from './simulate/diff-parting.ts'
export { instantOf } from './simulate/instant.ts'
export {
  type Crash,
  type Lane,
  type MessageIterator,
  play,
  Playback,
  type PlaybackHooks,
  type Played,
} from './simulate/playback.ts'
export { addCounts, type NodeCounts, rehearse, type RehearsedLane, type RehearseOptions } from './simulate/rehearse.ts'
export { sweepValues } from './simulate/sweep-values.ts'
export { type SweepVariant, sweepVariants } from './simulate/sweep.ts'
export { isAffectedBy, isDowntimeSensitive } from './task/downtime.ts'
export { limitAfter, limitWithout } from './task/execution.ts'
export { isUnconditional } from './task/fire.ts'

export { LOST_PARTS } from './task/lost.ts'
export { type Ignored, ignoring, withoutStamp } from './task/readings/reading.ts'
export type { ReadingCounts } from './task/readings/readings.ts'
export type { DowntimeInterval, SavedInput, SavedState } from './task/saved.ts'
export type { Execution } from './task/state.ts'
