/** Exports the engine for users of the library and of the plug SDK. */
export type {
  Changed,
  Engine,
  EngineOptions,
  NodeView,
  SavedTask,
  StartSettings,
  Task,
  TaskInfo,
} from './engine/api.ts'
export { CoreEngine } from './engine/engine.ts'
export type { EventBatch } from './engine/event-batch.ts'
export type { EventFilter } from './engine/event-filter.ts'
export type { HistoryOptions, TaskHistory } from './engine/event-history.ts'
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
  WhyMembers,
  WhySensor,
  WhyStep,
  WhyTrigger,
} from './engine/events.ts'
export type { Firing, FiringWhy, SensorState } from './engine/firing.ts'
export { conditionFormula, conditionSteps } from './language/expression/condition-formula.ts'
export { compileCondition } from './language/expression/condition.ts'
export { compileExpression } from './language/expression/expression.ts'
export { formulasOf } from './language/expression/formula.ts'
export { type CodeReads, hasNewData, withoutNewData, readsOf } from './language/expression/message-names.ts'
export { namesRead } from './language/expression/names-read.ts'
export { type CompiledNumber, compileNumber, type NumberReading } from './language/expression/number.ts'
export { readerOf } from './language/expression/reader.ts'
export { drawSeed } from './language/expression/run.ts'
export { dottedName } from './language/placeholders/dotted-name.ts'
export { compileCode, compileConditionCode, compileNumberCode, writeLine } from './language/script/compile-code.ts'
export { valuesOf } from './language/script/encoded-values.ts'
export { compileScript } from './language/script/script-source.ts'
export { actingPlugs } from './plug/acting-plugs.ts'
export { actsWith, touchesWith } from './plug/acts-with.ts'
export { jsonFault, keptPlain } from './plug/answer-json.ts'
export { CALENDAR_OUTPUT, calendarOf, ZONE_INPUT, zoneFormat } from './plug/calendar.ts'
export { CallError } from './plug/call-error.ts'
export { callInner } from './plug/call-inner.ts'
export { causeOf, requireService } from './plug/cause-of.ts'
export { definePlug } from './plug/define.ts'
export { type Downtime, endOfWait } from './plug/downtime.ts'
export { lacking } from './plug/lacking.ts'
export { latenessOf } from './plug/lateness-of.ts'
export { lengthOf } from './plug/length-of.ts'
export { isOfMessage, namesOfParameter, parameterOf } from './plug/parameter-of.ts'
export type {
  InputField,
  OutputField,
  Plug,
  PlugContext,
  DefinedPlug,
  PlugDefinition,
  PlugLog,
  PlugRegistry,
  PlugResult,
  PropertiesOf,
  PropertyProblem,
} from './plug/plug.ts'
export { problemsOfCode } from './plug/problems-of-code.ts'
export { problemsOfIssues } from './plug/problems-of-issues.ts'
export { createRegistry } from './plug/registry.ts'
export { RESOURCE_INPUT, resourceOf } from './plug/resource-of.ts'
export { sampleTime } from './plug/sample-time.ts'
export { textList } from './plug/text-list.ts'
export { touching, touchingAlarm, touchingResource } from './plug/touching.ts'
export type {
  AlarmPort,
  DataPort,
  ModelPort,
  ObjectPort,
  PlugServices,
  Ports,
  QueryPort,
  ResourcePort,
  WebscriptPort,
} from './ports.ts'
export { fromBn } from './rule/bn/from-bn.ts'
export { toBn } from './rule/bn/to-bn.ts'
export type {
  Actuator,
  Group,
  NodeOverride,
  Relation,
  Rule,
  Sensor,
  StateChange,
  TaskSettings,
  Template,
  Trigger,
  VariableDeclaration,
} from './rule/rule.ts'
export { validateRule, validateTemplate } from './rule/validate.ts'
export { explanationText, type ExplanationText } from './sentences/index.ts'
export { type NextRun, type NextRuns, nextRuns, type NextRunsOptions } from './schedule/next-runs.ts'
export { parseSchedule } from './schedule/parse-schedule.ts'
export type { Schedule, ScheduleSettings } from './schedule/schedule.ts'
export { type SharedTicks, shareTicks } from './schedule/share-ticks.ts'
export { type Tick, type TickOptions, ticks$ } from './schedule/ticks.ts'
export type { Difference, DiffFiring, DiffTally } from './simulate/diff-firings.ts'
export type { Parting } from './simulate/diff-parting.ts'
export { diffRuns } from './simulate/diff-runs.ts'
export { type Diff, type DiffOptions, diffRules } from './simulate/diff.ts'
export type { PlaybackOptions } from './simulate/playback.ts'
export { type Run, simulate, type SimulateOptions } from './simulate/simulate.ts'
export { type Sweep, sweep, type SweepOptions, type SweepRow } from './simulate/sweep.ts'
export { VirtualClock } from './simulate/virtual-clock.ts'
export type { Explanation, Obstacle, StateExplanation, TriggerExplanation } from './task/explain.ts'
export type { Lost, LostPart } from './task/lost.ts'
export type { Message, Sent } from './task/origin.ts'
