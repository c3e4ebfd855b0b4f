/** Sets up a task's new row: its handle, and what its plugs are called with. */
import type { SensorNode } from '../graph/graph.ts'
import { isCalled } from './computed-sensors.ts'
import type { RowHandle } from './row-handle.ts'
import { FIELD_SETS, FIRED_BY, HANDLE, KEPT, LAST, objectsAt, PLUG, PROPERTIES } from './row-layout.ts'
import type { RowStore } from './row-store.ts'

/** Sets all objects of the row. Its numbers are set from the task's state. */
export function setUpRow(rows: RowStore, handle: RowHandle): void {
  const { row, task } = handle
  const own = row * rows.layout.objects
  rows.objects[own + LAST] = undefined
  rows.objects[own + FIELD_SETS] = undefined
  rows.objects[own + KEPT] = undefined
  rows.objects[own + HANDLE] = handle
  const { graph, properties } = task.model
  for (const [i, { call }] of graph.actuators.entries()) {
    const { prepared, constant } = properties.of(call)
    const place = own + objectsAt(i)
    rows.objects[place + FIRED_BY] = undefined
    rows.objects[place + PLUG] = call.plug
    rows.objects[place + PROPERTIES] = prepared === undefined ? constant : undefined
  }
  for (const [i, sensor] of rows.shape.sensors.entries()) {
    if (!isCalled(sensor)) continue
    const { call } = graph.sensors[sensor.slot] as SensorNode
    rows.sensorCalls[row * graph.sensors.length + i] = rows.sensorCall(i, call, properties.of(call))
  }
}
