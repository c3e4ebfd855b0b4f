/**
 * All that a plug may import: how to declare one, the types of what it is given and gives, and a few helpers.
 * plugins/hello-world/plug.ts is the one to copy.
 */
export { compileCondition } from './core/expression/condition.ts'
export { conditionFormula, conditionSteps } from './core/expression/condition-formula.ts'
export { compileExpression } from './core/expression/expression.ts'
export { formulasOf } from './core/expression/formula.ts'
export { hasNews, noNews, readsOf, type CodeReads } from './core/expression/message-names.ts'
export { namesRead } from './core/expression/names-read.ts'
export { compileNumber, type CompiledNumber, type NumberReading } from './core/expression/number.ts'
export { drawSeed } from './core/expression/run.ts'
export { readerOf } from './core/expression/reader.ts'
export { actsWith, touchesWith } from './core/plug/acts-with.ts'
export { actingPlugs } from './core/plug/acting-plugs.ts'
export { jsonFault, keptPlain } from './core/plug/answer-json.ts'
export { CALENDAR_OUTPUT, calendarOf, ZONE_INPUT, zoneFormat } from './core/plug/calendar.ts'
export { callInner } from './core/plug/call-inner.ts'
export { causeOf, requireService } from './core/plug/cause-of.ts'
export { definePlug } from './core/plug/define.ts'
export { isOfMessage, namesOfParameter, parameterOf } from './core/plug/parameter-of.ts'
export { dottedName } from './core/placeholders/dotted-name.ts'
export { endOfWait, type Downtime } from './core/plug/downtime.ts'
export { lacking } from './core/plug/lacking.ts'
export { latenessOf } from './core/plug/lateness-of.ts'
export { lengthOf } from './core/plug/length-of.ts'
export { parsePlainJson } from './core/plug/plain-json.ts'
export type { Plug, PlugContext, PlugLog } from './core/plug/plug.ts'
export { problemsOfCode } from './core/plug/problems-of-code.ts'
export type {
  AlarmPort,
  DataPort,
  ModelPort,
  ObjectPort,
  PlugServices,
  QueryPort,
  ResourcePort,
  WebscriptPort,
} from './core/plug/services.ts'
export { resourceOf } from './core/plug/resource-of.ts'
export { problemsOfIssues } from './core/plug/problems-of-issues.ts'
export { sampleTime } from './core/plug/sample-time.ts'
export { textList } from './core/plug/text-list.ts'
export { touching, touchingAlarm, touchingResource } from './core/plug/touching.ts'
export { compileCode, compileConditionCode, compileNumberCode, writeLine } from './core/script/compile-code.ts'
export { type Interpreter, Sandbox, type ScriptResult } from './core/script/sandbox.ts'
export { valuesOf } from './core/script/handed-in.ts'
export { compileScript } from './core/script/script-source.ts'
export { durationMs } from './kernel/duration.ts'
export { AppError, messageOf } from './kernel/errors.ts'
export { FORBIDDEN_KEYS, isPlainObject, ownValue } from './kernel/json.ts'
export { nextSeed, randomOf } from './kernel/random.ts'
export { isEqual, isKnown, numberIn, numberOfText, ofData, slackOf, whyNoNumber } from './kernel/values.ts'
