/**
 * The events of a message that a row took earlier: the task as it was before is set up once more, and takes the message
 * through the state machine with the answers that its calls gave.
 */
import type { Outcome } from '../engine/call-plug.ts'
import type { EngineEvent } from '../engine/events.ts'
import type { Message } from '../task/origin.ts'
import { SILENT, type Sink, type TaskModel, type TaskRun } from '../task/run.ts'
import { TaskState } from '../task/task-state.ts'
import { isCalled } from './computed-sensors.ts'
import { LATER, type KeptAnswer } from './ordinary-answers.ts'
import { NO_ANSWER } from '../plug/result.ts'
import { keptAnswer, setEdges, setNodes } from './materialize.ts'
import { ALL, replay } from './replay.ts'
import type { BatchTask } from './row-handle.ts'
import type { RawData, RowStore } from './row-store.ts'

/** What all records of a shape have in common. */
export interface Totals {
  /** sensors, and triggers into sensors: each message runs and fires them all */
  readonly sensors: number
  readonly inner: number
  /** messages reset what was observed */
  readonly resets: boolean
}

/** What the records of one row share, as long as one task has it. */
export interface RecordedTask {
  readonly rows: RowStore
  readonly task: BatchTask
  readonly model: TaskModel
  readonly run: number
  /** numbers of the input and the invocation of the message number 0 */
  readonly inputs: number
  readonly invocations: number
  /** whether `fired` events have their why */
  readonly why: boolean
}

/** What a row's message did. */
export interface TakenMessage {
  readonly of: RecordedTask
  readonly message: Message
  /** its number among those of the row */
  readonly number: number
  /** epoch ms */
  readonly time: number
  /** the same of the clock when it came */
  readonly at: number
  /** state bits before it, and after it */
  readonly before: number
  readonly after: number
  readonly sensorData: SensorData | undefined
  /** since when each node had its state before it, then when each actuator had fired; undefined: nothing fired */
  readonly earlier: readonly number[] | undefined
  /** what actuators gave, in the order in which they fired; a place is left out when it was nothing */
  readonly answers: readonly KeptAnswer[] | undefined
}

/** What called sensors gave. */
export interface SensorData {
  readonly rawData: readonly RawData[]
  /** positions of sensors that returned raw data with this message, as bits */
  readonly positions: number
}

const NOTHING_KNOWN: readonly number[] = []

/** `until`: as far as that call of an actuator, by the order in which they fire. */
export function eventsOf(taken: TakenMessage, until = Number.POSITIVE_INFINITY): readonly EngineEvent[] {
  const { of, message, number, time, at, before, after, sensorData, earlier, answers } = taken
  const { rows, task, model, run, inputs, invocations, why } = of
  const events: EngineEvent[] = []
  let isLater = false
  const add = (event: EngineEvent): void => {
    if (!isLater || event.type !== 'result') events.push(event)
    isLater = false
  }
  const sink: Sink = { ...SILENT, event: add, detail: add, why }
  const state = new TaskState(model.graph, 1)
  Object.assign(state, {
    status: 'running',
    run,
    inputs: inputs + (number - 1) * (1 + rows.shape.sensors.length),
    invocations: invocations + number - 1,
  })
  setNodes(rows, state, model, before, earlier ?? NOTHING_KNOWN, 0)
  setEdges(rows, state, model, before)
  const { nodes } = rows.layout
  for (const [a, actuator] of state.actuators.entries()) actuator.firedAt = earlier?.[nodes + a] ?? actuator.firedAt
  const own: TaskRun = { model, state, sink, now: time, at: time }
  replay(
    own,
    message,
    time,
    (execution, firing): Outcome => {
      const { kind, slot } = execution.node
      if (kind === 'actuator') {
        isLater = answers?.[firing] === LATER
        return { ...NO_ANSWER, ...keptAnswer(answers?.[firing]) }
      }
      const place = rows.shape.sensors.findIndex((sensor) => sensor.slot === slot)
      const sensor = rows.shape.sensors[place]
      if (sensor === undefined || !isCalled(sensor)) return task.callAs(own, execution)
      const rawData = ((sensorData?.positions ?? 0) >> place) & 1 ? sensorData?.rawData[place] : undefined
      return { ...NO_ANSWER, state: (after >> sensor.shift) & sensor.mask, rawData }
    },
    { ...ALL, firings: until },
    sink,
    at,
  )
  return events
}
