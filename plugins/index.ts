/** The built-in plugs (part 2, 2.1): one folder each, and this table. */
import type { Plug } from '../src/plug.ts'
import { alwaysON } from './always-on/plug.ts'
import { alwaysONWithOFF } from './always-on-with-off/plug.ts'
import { bitflip } from './bitflip/plug.ts'
import { changedBy } from './changed-by/plug.ts'
import { condition } from './condition/plug.ts'
import { datetime } from './datetime/plug.ts'
import { debugDialog, debugDialogActuator } from './debug-dialog/plug.ts'
import { delaySensor } from './delay-sensor/plug.ts'
import { dice } from './dice/plug.ts'
import { helloWorld } from './hello-world/plug.ts'
import { holdsFor } from './holds-for/plug.ts'
import { hysteresis } from './hysteresis/plug.ts'
import { inRange } from './in-range/plug.ts'
import { invokeCount } from './invoke-count/plug.ts'
import { json } from './json/plug.ts'
import { log } from './log/plug.ts'
import { noDataFor } from './no-data-for/plug.ts'
import { stream } from './stream/plug.ts'
import { streamingDataSensor } from './streaming-data-sensor/plug.ts'
import { streamingRangeSensor } from './streaming-range-sensor/plug.ts'
import { throttle } from './throttle/plug.ts'
import { windowStats } from './window-stats/plug.ts'

/** All of them, for `createEngine({ plugs: [...builtins, myPlug] })`. */
export const builtins: readonly Plug[] = Object.freeze([
  stream,
  streamingDataSensor,
  streamingRangeSensor,
  condition,
  inRange,
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
])

export {
  alwaysON,
  alwaysONWithOFF,
  bitflip,
  changedBy,
  condition,
  datetime,
  debugDialog,
  debugDialogActuator,
  delaySensor,
  dice,
  helloWorld,
  holdsFor,
  hysteresis,
  inRange,
  invokeCount,
  json,
  log,
  noDataFor,
  stream,
  streamingDataSensor,
  streamingRangeSensor,
  throttle,
  windowStats,
}
