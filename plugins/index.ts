/** The built-in plugs (part 2, 2.1): one folder each, and this table. */
import { type Plug, ScriptFence } from '../src/plug.ts'
import { alwaysON } from './always-on/plug.ts'
import { alwaysONWithOFF } from './always-on-with-off/plug.ts'
import { bitflip } from './bitflip/plug.ts'
import { createCallUrl } from './call-url/plug.ts'
import { changedBy } from './changed-by/plug.ts'
import { createComposite } from './composite/plug.ts'
import { condition } from './condition/plug.ts'
import { datetime } from './datetime/plug.ts'
import { debugDialog, debugDialogActuator } from './debug-dialog/plug.ts'
import { delaySensor } from './delay-sensor/plug.ts'
import { dice } from './dice/plug.ts'
import { functionSensor } from './function/plug.ts'
import { getWeekDay } from './get-week-day/plug.ts'
import { helloWorld } from './hello-world/plug.ts'
import { holdsFor } from './holds-for/plug.ts'
import { hysteresis } from './hysteresis/plug.ts'
import { inRange } from './in-range/plug.ts'
import { invokeCount } from './invoke-count/plug.ts'
import { isBetweenTwoDates } from './is-between-two-dates/plug.ts'
import { isDate } from './is-date/plug.ts'
import { isHour } from './is-hour/plug.ts'
import { isMonth } from './is-month/plug.ts'
import { isParameterAvailable } from './is-parameter-available/plug.ts'
import { isParameterEqual } from './is-parameter-equal/plug.ts'
import { isWeekday } from './is-weekday/plug.ts'
import { isWeekend } from './is-weekend/plug.ts'
import { iterate } from './iterate/plug.ts'
import { json } from './json/plug.ts'
import { log } from './log/plug.ts'
import { noDataFor } from './no-data-for/plug.ts'
import { objectInsideGeofence } from './object-inside-geofence/plug.ts'
import { pick } from './pick/plug.ts'
import { createScript } from './script/plug.ts'
import { stream } from './stream/plug.ts'
import { streamingDataSensor } from './streaming-data-sensor/plug.ts'
import { streamingRangeSensor } from './streaming-range-sensor/plug.ts'
import { taskOutput } from './task-output/plug.ts'
import { template } from './template/plug.ts'
import { throttle } from './throttle/plug.ts'
import { transformer } from './transformer/plug.ts'
import { windowStats } from './window-stats/plug.ts'

/** What composite may run. */
const plain: readonly Plug[] = [
  stream,
  streamingDataSensor,
  streamingRangeSensor,
  condition,
  inRange,
  functionSensor,
  hysteresis,
  changedBy,
  windowStats,
  holdsFor,
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
  transformer,
  template,
  objectInsideGeofence,
  taskOutput,
]

const composite = createComposite(plain)

const script = createScript(new ScriptFence())
const callURL = createCallUrl()

/** All of them, for `createEngine({ plugs: [...builtins, myPlug] })`. */
export const builtins: readonly Plug[] = Object.freeze([...plain, composite, callURL, script])

export {
  composite,
  callURL,
  script,
  alwaysON,
  alwaysONWithOFF,
  bitflip,
  changedBy,
  condition,
  createCallUrl,
  createComposite,
  createScript,
  datetime,
  debugDialog,
  debugDialogActuator,
  delaySensor,
  dice,
  functionSensor,
  getWeekDay,
  helloWorld,
  holdsFor,
  hysteresis,
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
  noDataFor,
  objectInsideGeofence,
  pick,
  stream,
  streamingDataSensor,
  streamingRangeSensor,
  taskOutput,
  template,
  throttle,
  transformer,
  windowStats,
}
