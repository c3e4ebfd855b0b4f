/**
 * Brings a task's full state up to date from its row: sets it from the row's numbers to what it was before the last
 * message, then sends that message through the state machine again, with the results that its calls returned the first
 * time.
 */
import { UNKNOWN } from '../graph/graph.ts'
import type { Outcome } from '../engine/call-plug.ts'
import { NO_ANSWER } from '../plug/result.ts'
import type { Message } from '../task/origin.ts'
import { SILENT, type Sink, type TaskModel } from '../task/run.ts'
import { setBits } from '../task/fire.ts'
import type { ActuatorState, Execution } from '../task/state.ts'
import { TaskState } from '../task/task-state.ts'
import { isCalled } from './computed-sensors.ts'
import { MessageAndData, type KeptAnswer } from './ordinary-answers.ts'
import { evaluationOf, gateStates } from './possible-firings.ts'
import {
  AT_BITS,
  AT_COUNT,
  AT_FIRES,
  AT_SINCE,
  blockAt,
  FIRED,
  FIRED_AFTER,
  FIRED_BY,
  firedBeforeAt,
  FLAG,
  HELD,
  HELD_BY,
  holdAt,
  objectsAt,
  STATE_BITS,
} from './row-layout.ts'
import {
  keptSince,
  type BeforeUnknown,
  type FieldSetHistory,
  type NotRunCounts,
  type UnknownMessages,
  ALL_RAN,
  type FiredAfter,
  type NotRun,
} from './field-set-history.ts'
import { isSilent, type Part } from './message-parts.ts'
import { ALL, replay, type Progress } from './replay.ts'
import { withFailures } from '../task/result.ts'
import type { RowStore } from './row-store.ts'
import { originOf, setStanding, standingSensors } from './standing-nodes.ts'
import { remember } from '../task/stream.ts'
import { besideEffects } from './seen-task.ts'
import type { BatchTask, RowHandle } from './row-handle.ts'

const ALL_ANSWERED = -1

type Kept = Partial<{ readonly message: string; readonly rawData: Readonly<Record<string, unknown>> }>

interface Taken {
  readonly count: number
  readonly time: number
  /** state bits before it, and its sensors' state bits after it */
  readonly before: number
  readonly bits: number
  /** what messages up to this one did not run */
  readonly notRun: NotRun | undefined
}

function lastOf(rows: RowStore, row: number, bits: number): Taken {
  return { count: rows.count(row), time: rows.time(row), before: rows.before(row), bits, notRun: rows.notRun(row) }
}

/** Brings the full state up to the row's last message. */
export function materialize(rows: RowStore, handle: RowHandle): void {
  const { row } = handle
  const last = lastOf(rows, row, rows.after(row))
  materializeTo(rows, handle, last, ALL)
}

/**
 * Brings the full state up to a call within the row's last message, and returns that call, which is then open. `bits`:
 * states of its sensors so far. `sink`: receives the events until then. `answered`: called sensors that returned raw
 * data.
 */
export function materializeInto(
  rows: RowStore,
  handle: RowHandle,
  bits: number,
  until: Progress,
  sink: Sink,
  answered = ALL_ANSWERED,
): Execution | undefined {
  const { row } = handle
  if (until.sensors !== ALL.sensors) materializeBefore(rows, handle)
  const last = lastOf(rows, row, bits)
  return materializeTo(rows, handle, last, until, sink, answered)
}

/**
 * Brings the full state to the message before the last: sensors that have not finished keep their state from that
 * message.
 */
export function materializeBefore(rows: RowStore, handle: RowHandle): void {
  const { row } = handle
  const count = rows.count(row) - 1
  if (handle.materializedCount >= count) return
  const at = rows.at(row) + rows.layout.earlier
  const before = rows.nums[at] ?? 0
  const notRun = rows.notRun(row)
  materializeTo(rows, handle, { count, time: rows.nums[at + 1] ?? 0, before, bits: rows.before(row), notRun }, ALL)
  rows.forgetFirings(row)
  handle.materializedCount = count
  handle.failed.length = 0
}

function materializeTo(
  rows: RowStore,
  handle: RowHandle,
  taken: Taken,
  until: Progress,
  sink: Sink = SILENT,
  answered = ALL_ANSWERED,
): Execution | undefined {
  return besideEffects(handle, () => moveTo(rows, handle, taken, until, sink, answered))
}

function moveTo(
  rows: RowStore,
  handle: RowHandle,
  { count, time, before, bits, notRun }: Taken,
  until: Progress,
  sink: Sink,
  answered: number,
): Execution | undefined {
  const { task, row, materializedCount } = handle
  const { nums } = rows
  const seen = handle.offset + materializedCount
  const fieldSets = handle.batch.fieldSetsOf(handle)
  const own = count === rows.count(row) ? fieldSets : handle.source.fieldSetsAt(handle.offset + count)
  const part = rows.parts.of(own.fields) as Part // taken messages have a part
  const kept = keptSince(own, seen)
  const open = rows.waiting[row]
  const message =
    (count === rows.count(row) ? open?.message : open?.before) ?? handle.source.messageOf(handle.offset + count)
  const calls = answers(rows, task, row, bits, true, answered)
  const isLast = rows.parts.isStamped && count === rows.count(row)
  const at = isLast ? Math.max(time, handle.source.arrivalOf(handle.offset + count)) : time
  const { unknown, failed } = handle
  const unknownAt = rows.unknownAt[row] as number
  const earlier = task.state.invocations - materializedCount
  task.state.failures = withFailures(
    task.state.failures,
    failed.map((one) => earlier + one),
  )
  if (unknownAt === count || unknownAt === count - 1) {
    // The full state is unchanged, because the row does not know which nodes had no state.
    const replayed = materializedCount < unknownAt ? (unknown?.replayed ?? []) : []
    if (replayed.length > 0 && unknown?.from !== undefined) setBefore(rows, handle, unknown.from, unknown, count)
    for (const one of unknownAt === count ? replayed.slice(0, -1) : replayed) {
      replay(task, one.message, one.time, calls, ALL)
    }
    return replay(task, message, time, calls, until, sink, at)
  }
  restoreFirings(rows, handle, count)
  addMessages(rows, task, count - 1 - materializedCount, rows.firesBefore(row, count), beforeOwn(part, notRun))
  const fired = count === rows.count(row) ? undefined : rows.firedAt(row, count)
  setEdges(rows, task.state, task.model, before)
  if (fired === undefined) setNodes(rows, task.state, task.model, before, nums, rows.at(row) + rows.layout.since)
  // The firing recorded when each unfinished node had entered its earlier state.
  else setNodes(rows, task.state, task.model, before, rows.past, fired + AT_SINCE)
  for (const [p, own] of rows.shape.sensors.entries()) {
    const sensor = task.state.sensors[own.slot]
    if (sensor === undefined) continue
    sensor.error = null
    if (!isCalled(own)) continue
    sensor.rawData = rows.rawData[row]?.[p]
    sensor.internalState = rows.memories[row * rows.shape.sensors.length + p]
  }
  if (part.missing > 0) setStanding(rows, task, standingSensors(rows, kept, part.runs), notRun?.prior ?? bits, bits)
  for (const one of kept) {
    remember({ model: task.model, state: task.state, now: one.time }, 0, one.message)
    if (isSilent(part) && !isSilent(rows.parts.of(one.fields))) task.state.lastExecutionTime = one.time
  }
  return replay(task, message, time, calls, until, sink, at)
}

/** Sets the full state to what it was before the messages to replay. `count`: of the row's last message. */
function setBefore(
  rows: RowStore,
  handle: RowHandle,
  unknown: BeforeUnknown,
  { replayed: [first], fired }: UnknownMessages,
  count: number,
): void {
  const { task, row, materializedCount, offset } = handle
  const { state, model } = task
  const { last, before, prior, missed } = unknown
  restoreFirings(rows, handle, count)
  // The replay must repeat what these messages fired, so no cool-down may hold it back.
  for (const actuator of state.actuators) actuator.firedAt = Math.min(actuator.firedAt, first?.time ?? 0)
  const messages = unknown.count - 1 - materializedCount
  addMessages(rows, task, messages, rows.firesBefore(row, count) - fired, missed ?? rows.notRun(row))
  setNodes(rows, state, model, before, unknown.since, 0)
  if (messages > 0) {
    for (const sensor of state.sensors) sensor.error = null
    const by = state.sensors.map(() => last)
    setStanding(rows, task, by, prior, before)
  }
  for (const one of keptSince(unknown.fieldSets, offset + materializedCount)) {
    remember({ model, state, now: one.time }, 0, one.message)
  }
}

/**
 * `callsAgain`: call sensors now, with the task's state, if they were not called before; otherwise return only their
 * states.
 */
function answers(
  rows: RowStore,
  task: BatchTask,
  row: number,
  bits: number,
  callsAgain: boolean,
  answered = ALL_ANSWERED,
) {
  return (execution: Execution): Outcome => {
    if (execution.node.kind === 'actuator') return { ...NO_ANSWER, ...answerOf(rows, row, execution.node.slot) }
    const place = rows.shape.sensors.findIndex(({ slot }) => slot === execution.node.slot)
    const sensor = rows.shape.sensors[place]
    if (sensor === undefined || (callsAgain && !isCalled(sensor))) return task.call(execution)
    const rawData = (answered >> place) & 1 ? rows.rawData[row]?.[place] : undefined
    const internalState = rows.memories[row * rows.shape.sensors.length + place]
    return { ...NO_ANSWER, state: (bits >> sensor.shift) & sensor.mask, rawData, internalState }
  }
}

function answerOf({ answers, layout }: RowStore, row: number, actuator: number): Kept {
  return keptAnswer(answers[row * layout.actuators + actuator])
}

export function keptAnswer(kept: KeptAnswer): Kept {
  if (kept === undefined) return {}
  if (typeof kept === 'string') return { message: kept }
  return kept instanceof MessageAndData ? { message: kept.message, rawData: kept.rawData } : { rawData: kept }
}

/** Restores the last firing and hold of each actuator, as they were before message `count`. */
function restoreFirings(rows: RowStore, handle: RowHandle, count: number): void {
  const { past, pastInts, layout } = rows
  const { state, model } = handle.task
  const p = rows.pastAt(handle.row)
  const replayed = new Map<number, TaskState>()
  // All of them first, because their new values are counted from the last materialized state.
  const blocks = state.actuators.map((_, a) => p + blockAt(layout, a))
  for (const [a, b] of blocks.entries()) {
    const at = past[b + AT_COUNT] ?? -1
    if (at !== -1 && at !== count && !replayed.has(at)) replayed.set(at, stateAt(rows, handle, a, at))
  }
  for (const [a, actuator] of state.actuators.entries()) {
    const b = blocks[a] ?? 0
    const at = past[b + AT_COUNT] ?? -1
    if (at !== -1) actuator.firedAt = past[b + (at === count ? firedBeforeAt(layout, a) : FIRED)] ?? 0
    if (at !== -1 && at !== count) actuator.firing = replayed.get(at)?.actuators[a]?.firing ?? null
    if (at !== -1 && (at !== count || ((pastInts[2 * (b + AT_BITS)] ?? 0) & FLAG) !== 0)) {
      actuator.answer = { collectedTime: actuator.firedAt, ...answerOf(rows, handle.row, a) }
      actuator.error = null
      actuator.held = null
    }
    if (((pastInts[2 * (b + AT_BITS) + 1] ?? 0) & FLAG) === 0) continue
    const hold = p + holdAt(layout, a)
    const time = past[hold + HELD] ?? 0
    const trigger = model.graph.triggers[past[hold + HELD_BY] ?? -1]
    if (trigger !== undefined) {
      actuator.held = { reason: 'invocationPolicy', time, until: actuator.firedAt + trigger.policyMs, trigger }
    }
  }
}

function stateAt(
  rows: RowStore,
  { task, row, offset, materializedCount }: RowHandle,
  actuator: number,
  count: number,
): TaskState {
  const { past, pastInts, layout } = rows
  const b = rows.pastAt(row) + blockAt(layout, actuator)
  const state = new TaskState(task.model.graph, 1)
  const { inputs, invocations, executions, run, seed } = task.state
  Object.assign(state, { status: 'running', inputs, invocations, executions, run, seed })
  const after = rows.objects[row * layout.objects + objectsAt(actuator) + FIRED_AFTER] as FieldSetHistory | FiredAfter
  const fieldSets = 'fieldSets' in after ? after.fieldSets : after
  const part = rows.parts.of(fieldSets.fields) as Part // taken messages have a part
  addMessages(
    rows,
    { state, model: task.model },
    count - 1 - materializedCount,
    past[b + AT_FIRES] ?? 0,
    beforeOwn(part, 'fieldSets' in after ? after : undefined),
  )
  setNodes(rows, state, task.model, (pastInts[2 * (b + AT_BITS)] ?? 0) & STATE_BITS, past, b + AT_SINCE)
  setEdges(rows, state, task.model, (pastInts[2 * (b + AT_BITS)] ?? 0) & STATE_BITS)
  if ('fieldSets' in after && after.gates !== undefined) setGates(state, task.model, after.gates)
  if (part.missing > 0) {
    const by = standingSensors(rows, keptSince(fieldSets, offset + materializedCount), part.runs)
    for (const [slot, sensor] of state.sensors.entries()) {
      const kept = by[slot]
      if (part.runs[slot] === true) continue
      sensor.origin = kept === undefined ? (task.state.sensors[slot]?.origin ?? null) : originOf(kept)
    }
  }
  for (const [a, other] of state.actuators.entries()) other.firedAt = past[b + firedBeforeAt(layout, a)] ?? 0
  const message = rows.objects[row * layout.objects + objectsAt(actuator) + FIRED_BY] as Message
  const bits = (pastInts[2 * (b + AT_BITS) + 1] ?? 0) & STATE_BITS
  replay({ model: task.model, state }, message, past[b + FIRED] ?? 0, answers(rows, task, row, bits, false), ALL)
  return state
}

function beforeOwn(part: Part, { missed, silent }: NotRunCounts = ALL_RAN): NotRunCounts {
  return { missed: missed - part.missing, silent: silent - (isSilent(part) ? 1 : 0) }
}

function addMessages(
  { shape }: RowStore,
  { state, model }: Pick<BatchTask, 'state' | 'model'>,
  messages: number,
  firings: number,
  { missed, silent }: NotRunCounts = ALL_RAN,
): void {
  state.invocations += messages - silent
  if (state.readings !== null) state.arrived += messages
  state.inputs += messages * (1 + shape.sensors.length) - missed
  state.executions += messages * shape.sensors.length - missed + firings
  if (messages > 0) setNews(state, model)
}

function setNews(state: TaskState, model: TaskModel): void {
  const { nodes } = evaluationOf(model)
  for (const node of model.graph.sensors) {
    if (node.reads.length === 0) continue
    const place = nodes.indexOf(node)
    const news = node.reads.filter((read) => nodes.indexOf(read) > place).map(({ label }) => label)
    const sensor = state.sensors[node.slot]
    if (sensor !== undefined) sensor.news = news
  }
}

function setGates(state: TaskState, { graph }: TaskModel, gates: number): void {
  for (const { index, slot } of graph.gates) {
    const observed = state.observed[index]
    if (observed !== undefined) observed.state = observed.memory = (gates >> slot) & 1
  }
}

export function setEdges({ shape }: RowStore, state: TaskState, { graph }: TaskModel, bits: number): void {
  if (shape.edgeMask === 0) return
  for (const [slot, { incoming }] of graph.actuators.entries()) {
    for (const place of incoming.keys()) {
      const own = shape.edges.filter((edge) => edge.actuator === slot && edge.place === place)
      const set = own.filter(({ shift }) => ((bits >> shift) & 1) === 1)
      if (own.length > 0)
        setBits(
          state.actuators[slot] as ActuatorState,
          place,
          set.reduce((all, { kind }) => all | kind, 0),
        )
    }
  }
}

/** Sets node states to those before a message, except what the message overwrites anyway. */
export function setNodes(
  rows: RowStore,
  state: TaskState,
  model: TaskModel,
  bits: number,
  nums: ArrayLike<number>,
  since: number,
): void {
  const sensors = rows.states(bits)
  const all = [...sensors, ...gateStates(model.graph, sensors, model.settings.gatesNeedFullObservation)]
  for (const [index, observed] of state.observed.entries()) {
    observed.state = all[index] ?? UNKNOWN
    observed.memory = observed.state
    observed.since = nums[since + index] ?? -1
  }
}
