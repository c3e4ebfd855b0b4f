/** Sends one message through the state machine without subscribers, to recreate a task's full state from its row. */
import type { Outcome } from '../engine/call-plug.ts'
import { nextCall } from '../task/advance.ts'
import type { Message } from '../task/origin.ts'
import { noteArrival } from '../task/readings/admit.ts'
import type { DataInput } from '../task/readings/reorder.ts'
import { SILENT, type Sink, type TaskRun } from '../task/run.ts'
import type { Execution } from '../task/state.ts'
import { step } from '../task/step.ts'

/** How far a message has been processed. */
export interface Progress {
  /** numbers of finished sensors and firings */
  readonly sensors: number
  readonly firings: number
}

export const ALL: Progress = { sensors: Number.POSITIVE_INFINITY, firings: Number.POSITIVE_INFINITY }

/**
 * Processes a message in `run.state`, replaying the results of its calls up to `progress`. Returns the call that is
 * then open, or undefined when the message is complete. `sink`: receives the events. `at`: the clock at the message's
 * arrival, epoch ms.
 */
export function replay(
  run: Pick<TaskRun, 'model' | 'state'>,
  message: Message,
  now: number,
  answer: (execution: Execution, place: number) => Outcome,
  until: Progress,
  sink: Sink = SILENT,
  at = now,
): Execution | undefined {
  const silent: TaskRun = { model: run.model, state: run.state, sink, now, at }
  step(silent, now, inputOf(silent, message, at), at, at)
  let sensors = 0
  let firings = 0
  for (let execution = nextCall(silent); execution !== undefined; execution = nextCall(silent)) {
    const isSensor = execution.node.kind === 'sensor'
    const place = isSensor ? sensors++ : firings++
    if (isSensor ? place === until.sensors : place === until.firings) return execution
    const outcome = answer(execution, place)
    if (outcome.ok) step(silent, now, { kind: 'answer', execution, answer: outcome }, at)
    else step(silent, now, { kind: 'error', execution, failure: outcome }, at)
  }
  return undefined
}

function inputOf(run: TaskRun, message: Message, at: number): DataInput {
  const { state } = run
  const messages = [message]
  if (state.readings === null) return { kind: 'data', messages }
  state.current = ++state.arrived
  return { kind: 'data', messages, ...(noteArrival(run, at, messages, undefined) && { arrived: at }) }
}
