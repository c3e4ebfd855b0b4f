/**
 * Creates the events of a message that a row took earlier: restores the task as it was before, then sends the message
 * through the state machine with the results that its calls returned.
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

/** Constants shared by all records of a shape. */
export interface Totals {
  /** numbers of sensors and of triggers into sensors, all of which each message runs and fires */
  readonly sensors: number
  readonly inner: number
  /** whether messages reset the observed states */
  readonly resets: boolean
}

/** Data shared by a row's records while the row belongs to one task. */
export interface RecordedTask {
  readonly rows: RowStore
  readonly task: BatchTask
  readonly model: TaskModel
  readonly run: number
  /** input and invocation numbers of message number 0 */
  readonly inputs: number
  readonly invocations: number
  /** whether `fired` events include their why */
  readonly why: boolean
}

export interface TakenMessage {
  readonly of: RecordedTask
  readonly message: Message
  /** number of the message within the row */
  readonly number: number
  /** epoch ms */
  readonly time: number
  /** the clock at its arrival, epoch ms */
  readonly at: number
  /** state bits before and after the message */
  readonly before: number
  readonly after: number
  readonly sensorData: SensorData | undefined
  /** when each node had entered its earlier state, then when each actuator had last fired; undefined: nothing fired */
  readonly earlier: readonly number[] | undefined
  /** results of the actuators in firing order, with holes for empty ones */
  readonly answers: readonly KeptAnswer[] | undefined
}

/** The results of called sensors. */
export interface SensorData {
  readonly rawData: readonly RawData[]
  /** positions, as bits, of the sensors that returned raw data for this message */
  readonly positions: number
}

const NOTHING_KNOWN: readonly number[] = []

/** `until`: stop at this actuator call, counted in firing order. */
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
