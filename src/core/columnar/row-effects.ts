/**
 * Tracks actuator calls that stay open while their row takes more messages. The task's full state contains these calls;
 * in all else it lags behind the row. The task as a call sees it is created on demand.
 *
 * ACT-1 from the first such call on, the full state stores the results of all actuator calls
 * ACT-2 before the full state moves, the view of each open call is created
 * ACT-3 a call has the same numbers as in the state machine
 */
import type { Outcome } from '../engine/call-plug.ts'
import type { ActuatorNode, SensorNode, TriggerEdge } from '../graph/graph.ts'
import type { NodeData } from '../plug/plug.ts'
import type { Message } from '../task/origin.ts'
import { newExecution } from '../task/execution.ts'
import { frozenRun } from '../task/frozen-run.ts'
import type { TaskRun } from '../task/run.ts'
import { type ActuatorState, type Execution, stateName } from '../task/state.ts'
import { remember } from '../task/stream.ts'
import type { TaskState } from '../task/task-state.ts'
import { NO_ANSWER } from '../plug/result.ts'
import { isCalled } from './computed-sensors.ts'
import type { Following } from './followings.ts'
import { keptAnswer, setEdges, setNodes } from './materialize.ts'
import { keptSince, type FieldSetHistory } from './field-set-history.ts'
import { ALL, replay } from './replay.ts'
import type { RowHandle } from './row-handle.ts'
import { AT_BITS, AT_COUNT, blockAt, FIRED, firedBeforeAt, FLAG } from './row-layout.ts'
import type { RawData, RowStore } from './row-store.ts'
import { SeenTask, type RowEffect } from './seen-task.ts'

/** The message that fired an actuator, with its context. */
interface FiredBy {
  readonly message: Message
  readonly fieldSets: FieldSetHistory
  /** state bits before and after it */
  readonly before: number
  readonly after: number
  readonly rawData: readonly RawData[]
  /** number of firings and holds before this actuator */
  readonly earlier: number
  /** earlier results of the actuators */
  readonly answers: readonly ActuatorState['answer'][]
}

function stateFor(
  rows: RowStore,
  { task, offset, materializedCount }: RowHandle,
  run: TaskRun,
  by: FiredBy,
): TaskState {
  const { model, now, at } = run
  const { state } = frozenRun({ ...run, model, now, at, state: task.state, sink: run.sink })
  const own: TaskRun = { model, state, sink: run.sink, now, at }
  for (const [place, sensor] of rows.shape.sensors.entries()) {
    const node = state.sensors[sensor.slot]
    if (node !== undefined) Object.assign(node, { error: null }, isCalled(sensor) && { rawData: by.rawData[place] })
  }
  const seen = offset + materializedCount
  for (const one of keptSince(by.fieldSets, seen)) {
    remember({ model, state, now: one.time }, 0, one.message)
  }
  setNodes(rows, state, model, by.before, [], 0)
  setEdges(rows, state, model, by.before)
  // A held-back firing needs no result, so it is replayed as if it had fired.
  for (const actuator of state.actuators) actuator.firedAt = Number.NEGATIVE_INFINITY
  const answer = (execution: Execution): Outcome => {
    const place = rows.shape.sensors.findIndex(({ slot }) => slot === execution.node.slot)
    const sensor = rows.shape.sensors[place]
    if (execution.node.kind === 'actuator' || sensor === undefined) return NO_ANSWER
    if (!isCalled(sensor)) return task.callAs(own, execution)
    return { ...NO_ANSWER, state: (by.after >> sensor.shift) & sensor.mask, rawData: by.rawData[place] }
  }
  replay({ model, state }, by.message, now, answer, { ...ALL, firings: by.earlier })
  for (const [slot, actuator] of state.actuators.entries()) actuator.answer = by.answers[slot] ?? null
  return state
}

/**
 * Returns the effect of an actuator call, or undefined when the full state must determine its numbers. `slot`,
 * `trigger`: of the actuator.
 */
export function effectOf(
  rows: RowStore,
  handle: RowHandle,
  slot: number,
  trigger: number,
  message: Message,
): RowEffect | undefined {
  const { row, task, materializedCount } = handle
  const { shape } = rows
  const fieldSets = wholeFieldSets(rows, handle)
  if (fieldSets === undefined) return undefined
  const [before, after] = [rows.before(row), rows.after(row)]
  const list = rows.followingOf(task.model, before, after)
  const earlier = list.findIndex(({ actuator }) => actuator === slot)
  const following = list[earlier]
  if (following === undefined) return undefined
  const { model, state } = task
  const { graph } = model
  const count = rows.count(row)
  const messages = count - 1 - materializedCount
  const time = rows.time(row)
  const sensors = shape.sensors.length
  const { position } = following
  const node = graph.actuators[slot] as ActuatorNode
  const execution = newExecution(
    node,
    { kind: 'data', time, resource: message.resource, values: message },
    state.executions + messages * sensors + position + 1 + rows.fires(row),
    state.invocations + messages + 1,
    { trigger: graph.triggers[trigger] as TriggerEdge, time, earlier: null },
    state.inputs + messages * (1 + sensors) + position + 2,
    placeOf(rows, row, list, earlier, count),
  )
  const answers = answersBefore(rows, handle, slot)
  const by = { message, fieldSets, before, after, rawData: rows.rawData[row] ?? [], earlier, answers }
  const run = task.timed(time, rows.clockOf(row, time))
  const seen = new SeenTask(run, (own) => stateFor(rows, handle, own, by))
  execution.seen = seen
  return { execution, seen }
}

function placeOf(rows: RowStore, row: number, list: readonly Following[], until: number, count: number): number {
  let place = 0
  for (let i = 0; i < until; i++) {
    const { position, actuator } = list[i] as Following
    if (position !== list[until]?.position) continue
    if (rows.past[rows.pastAt(row) + blockAt(rows.layout, actuator) + AT_COUNT] === count) place++
  }
  return place
}

/**
 * Returns what an actuator's call sees of a sensor that the row's last message called; undefined when only the full
 * state knows.
 */
export function calledData(rows: RowStore, handle: RowHandle, label: string): NodeData | undefined {
  const { row, task } = handle
  if (wholeFieldSets(rows, handle) === undefined) return undefined
  const { sensors } = task.model.graph
  const place = rows.shape.sensors.findIndex((one) => isCalled(one) && sensors[one.slot]?.label === label)
  const sensor = rows.shape.sensors[place]
  if (sensor === undefined) return undefined
  const state = stateName(sensors[sensor.slot] as SensorNode, (rows.after(row) >> sensor.shift) & sensor.mask)
  return { ...rows.rawData[row]?.[place], ...(state !== null && { state }), collectedTime: rows.time(row) }
}

/** Returns undefined unless the row's last message ran all sensors, with values of its own. */
function wholeFieldSets(rows: RowStore, handle: RowHandle): FieldSetHistory | undefined {
  const { row, batch } = handle
  if (rows.shape.inner || rows.oddGates.has(row) || rows.hasUnknown(row) || rows.notRun(row) !== undefined)
    return undefined
  const fieldSets = batch.fieldSetsOf(handle)
  const part = rows.parts.of(fieldSets.fields)
  const isWhole = part !== null && part.missing === 0 && part.carried.length === 0 && part.lacks.length === 0
  return isWhole ? fieldSets : undefined
}

/** Returns the actuators' results before the current call, which is at `slot`. */
export function answersBefore(rows: RowStore, handle: RowHandle, slot: number): readonly ActuatorState['answer'][] {
  return handle.task.state.actuators.map((actuator, a) => {
    const time = handle.acts ? undefined : answeredAt(rows, handle.row, a, slot)
    return time === undefined ? actuator.answer : { collectedTime: time, ...givenBy(rows, handle.row, a) }
  })
}

/**
 * Returns the epoch ms of the last call that the row knows and the full state does not; undefined if the full state is
 * current.
 */
export function answeredAt(rows: RowStore, row: number, actuator: number, atHand: number): number | undefined {
  const { past, pastInts, layout } = rows
  const block = rows.pastAt(row) + blockAt(layout, actuator)
  const at = past[block + AT_COUNT] ?? -1
  if (at === -1) return undefined
  if (actuator !== atHand) return past[block + FIRED]
  const hadFired = ((pastInts[2 * (block + AT_BITS)] ?? 0) & FLAG) !== 0
  return hadFired ? past[block + firedBeforeAt(layout, actuator)] : undefined
}

function givenBy({ answers, layout }: RowStore, row: number, actuator: number): ReturnType<typeof keptAnswer> {
  return keptAnswer(answers[row * layout.actuators + actuator])
}
