/** Lists the built-in plugs, each in its own folder. */
import { type Interpreter, type Plug, type PlugServices, Sandbox } from '#plug'
import { aggregate } from './aggregate/plug.ts'
import { acknowledgeAlarmPlugs } from './acknowledge-alarm/plug.ts'
import { alarmEventSensor } from './alarm-event-sensor/plug.ts'
import { alwaysON } from './always-on/plug.ts'
import { alwaysONWithOFF } from './always-on-with-off/plug.ts'
import { bitflip } from './bitflip/plug.ts'
import { createCallUrl, createCallUrlActuator, type CallUrlOptions } from './call-url/plug.ts'
import { callWebscriptPlugs } from './call-webscript/plug.ts'
import { changedBy } from './changed-by/plug.ts'
import { clearAlarmPlugs } from './clear-alarm/plug.ts'
import { createComposite } from './composite/plug.ts'
import { createCondition } from './condition/plug.ts'
import { commentAlarmPlugs } from './comment-alarm/plug.ts'
import { createAlarmPlugs } from './create-alarm/plug.ts'
import { datetime, getWeekDay, isDate, isHour, isMonth, isWeekday, isWeekend } from './calendar/plug.ts'
import { debugDialog, debugDialogActuator } from './debug-dialog/plug.ts'
import { delaySensor } from './delay-sensor/plug.ts'
import { dice } from './dice/plug.ts'
import { executeCommandPlugs } from './execute-command/plug.ts'
import { classifyPlug } from './classify/plug.ts'
import { predictPlug } from './predict/plug.ts'
import { executeQueryPlug } from './execute-query/plug.ts'
import { createFunction } from './function/plug.ts'
import { getAlarmsByFilterPlug } from './get-alarms-by-filter/plug.ts'
import { getChildrenPlug } from './get-children/plug.ts'
import { getLatestAlarmPlug } from './get-latest-alarm/plug.ts'
import { getLatestMessagesPlug } from './get-latest-messages/plug.ts'
import { getLatestMetricsPlug } from './get-latest-metrics/plug.ts'
import { getMetadataPlug } from './get-metadata/plug.ts'
import { getMetricSeriesPlug } from './get-metric-series/plug.ts'
import { getMetricValuePlug } from './get-metric-value/plug.ts'
import { getObjectPlug } from './get-object/plug.ts'
import { hasDataSincePlug } from './has-data-since/plug.ts'
import { helloWorld } from './hello-world/plug.ts'
import { counter } from './counter/plug.ts'
import { debounce } from './debounce/plug.ts'
import { measure } from './measure/plug.ts'
import { stateMachine } from './state-machine/plug.ts'
import { holdsFor } from './holds-for/plug.ts'
import { hysteresis } from './hysteresis/plug.ts'
import { inRange } from './in-range/plug.ts'
import { invokeCount } from './invoke-count/plug.ts'
import { isBetweenTwoDates } from './is-between-two-dates/plug.ts'
import { isParameterAvailable } from './is-parameter-available/plug.ts'
import { isParameterEqual } from './is-parameter-equal/plug.ts'
import { iterate } from './iterate/plug.ts'
import { json } from './json/plug.ts'
import { log } from './log/plug.ts'
import { noDataFor } from './no-data-for/plug.ts'
import { objectEvent } from './object-event/plug.ts'
import { objectInsideGeofence } from './object-inside-geofence/plug.ts'
import { pick } from './pick/plug.ts'
import { putObjectPlugs } from './put-object/plug.ts'
import { queryResourcesPlug } from './query-resources/plug.ts'
import { createScript } from './script/plug.ts'
import { forwardMessagePlugs, storeMessagePlugs } from './message/plug.ts'
import { stream } from './stream/plug.ts'
import { streamingDataSensor } from './streaming-data-sensor/plug.ts'
import { streamingRangeSensor } from './streaming-range-sensor/plug.ts'
import { taskOutput } from './task-output/plug.ts'
import { template } from './template/plug.ts'
import { throttle } from './throttle/plug.ts'
import { createTransformer } from './transformer/plug.ts'
import { severityTable } from './severity-table/plug.ts'
import { shelveAlarmPlugs } from './shelve-alarm/plug.ts'
import { updateAlarmPlugs } from './update-alarm/plug.ts'
import { updateMetadataPlugs } from './update-metadata/plug.ts'
import { windowStats } from './window-stats/plug.ts'

const simple = [
  stream,
  streamingDataSensor,
  streamingRangeSensor,
  inRange,
  hysteresis,
  severityTable,
  changedBy,
  windowStats,
  aggregate,
  measure,
  holdsFor,
  debounce,
  counter,
  stateMachine,
  noDataFor,
  delaySensor,
  throttle,
  datetime,
  invokeCount,
  json,
  dice,
  bitflip,
  alwaysON,
  alwaysONWithOFF,
  helloWorld,
  debugDialog,
  debugDialogActuator,
  log,
  isWeekend,
  isWeekday,
  isHour,
  isDate,
  isMonth,
  getWeekDay,
  isBetweenTwoDates,
  isParameterAvailable,
  isParameterEqual,
  pick,
  iterate,
  template,
  objectInsideGeofence,
  taskOutput,
  alarmEventSensor,
  objectEvent,
] as const

export interface BuiltinOptions {
  /** returns ms, such as `() => performance.now()`, and limits scripts to a second. Default: limits only steps */
  readonly clock?: () => number
  /** runs scripts, for example in another thread, so that their plugs finish later */
  readonly interpreter?: Interpreter
  /** network access of callURL; default: offline */
  readonly outbound?: CallUrlOptions
  /** host services for plugs; a plug without its service fails with a message */
  readonly services?: PlugServices
  /** wraps each plug that calls those services */
  readonly calling?: (plug: Plug) => Plug
}

/** Builds the built-in plugs for a host. They share one interpreter for code. */
export function createBuiltins(options: BuiltinOptions = {}): readonly Plug[] {
  const { services = {}, calling } = options
  const asking: readonly Plug[] = askingPlugs(services)
  return listed(equipped(options), calling ? asking.map(calling) : asking)
}

function equipped({ clock, interpreter, outbound }: BuiltinOptions) {
  const sandbox = new Sandbox(clock, interpreter)
  const [condition, functionSensor, transformer] = [
    createCondition(sandbox),
    createFunction(sandbox),
    createTransformer(sandbox),
  ]
  return {
    condition,
    functionSensor,
    transformer,
    composite: createComposite([...simple, condition, functionSensor, transformer]),
    callURL: createCallUrl(outbound),
    callURLActuator: createCallUrlActuator(outbound),
    script: createScript(sandbox),
  }
}

function codePlugs(plugs: ReturnType<typeof equipped>) {
  const { condition, functionSensor, transformer, composite, callURL, callURLActuator, script } = plugs
  return [condition, functionSensor, transformer, composite, callURL, callURLActuator, script] as const
}

function askingPlugs({ alarms, data, resources, queries, webscripts, objects, models }: PlugServices) {
  return [
    ...createAlarmPlugs(alarms),
    ...clearAlarmPlugs(alarms),
    ...updateAlarmPlugs(alarms),
    ...acknowledgeAlarmPlugs(alarms),
    ...shelveAlarmPlugs(alarms),
    ...commentAlarmPlugs(alarms),
    getLatestAlarmPlug(alarms),
    getAlarmsByFilterPlug(alarms),
    getMetricValuePlug(data),
    getMetricSeriesPlug(data),
    executeQueryPlug(queries),
    getLatestMetricsPlug(data),
    getLatestMessagesPlug(data),
    hasDataSincePlug(data),
    ...storeMessagePlugs(data),
    ...forwardMessagePlugs(data),
    ...executeCommandPlugs(data),
    getMetadataPlug(resources),
    ...updateMetadataPlugs(resources),
    getChildrenPlug(resources),
    queryResourcesPlug(resources),
    ...callWebscriptPlugs(webscripts),
    predictPlug(models, data),
    classifyPlug(models, data),
    getObjectPlug(objects),
    ...putObjectPlugs(objects),
  ] as const
}

function listed(ofCode: ReturnType<typeof equipped>, asking: readonly Plug[]): readonly Plug[] {
  return Object.freeze([...simple, ...[...codePlugs(ofCode), ...asking].map(sharingDeclaration)])
}

/** by kind, name and version: the first instances */
const declared = new Map<string, Plug>()

/** Shares the declaration of a plug among hosts and tenants; only the functions differ. */
function sharingDeclaration(plug: Plug): Plug {
  const key = `${plug.kind} ${plug.name} ${plug.version}`
  const first = declared.get(key)
  if (first === undefined) {
    declared.set(key, plug)
    return plug
  }
  const { states, input, output } = first
  return Object.freeze({ ...plug, states, input, output })
}

const unequipped = equipped({})

/**
 * All built-in plugs without a host: offline, scripts bounded by steps. `createEngine({ plugs: [...builtins, myPlug]
 * })`
 */
export const builtins: readonly Plug[] = listed(unequipped, askingPlugs({}))

/** Any built-in plug, with the types of its declaration; for `reflexarc/rules`. */
export type Builtin =
  (typeof simple)[number] | ReturnType<typeof codePlugs>[number] | ReturnType<typeof askingPlugs>[number]

export type { CallUrlOptions } from './call-url/plug.ts'
export const { condition, functionSensor, transformer, composite, callURL, callURLActuator, script } = unequipped

export {
  alarmEventSensor,
  alwaysON,
  alwaysONWithOFF,
  bitflip,
  changedBy,
  counter,
  createCallUrl,
  createCallUrlActuator,
  createComposite,
  createCondition,
  createFunction,
  createScript,
  createTransformer,
  datetime,
  debounce,
  debugDialog,
  debugDialogActuator,
  delaySensor,
  dice,
  getWeekDay,
  helloWorld,
  holdsFor,
  hysteresis,
  severityTable,
  inRange,
  invokeCount,
  isBetweenTwoDates,
  isDate,
  isHour,
  isMonth,
  isParameterAvailable,
  isParameterEqual,
  isWeekday,
  isWeekend,
  iterate,
  json,
  log,
  measure,
  noDataFor,
  objectEvent,
  objectInsideGeofence,
  pick,
  stateMachine,
  stream,
  streamingDataSensor,
  streamingRangeSensor,
  taskOutput,
  template,
  throttle,
  windowStats,
  aggregate,
}
