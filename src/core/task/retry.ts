/** Retries of sensors and actuators: attempts after failures and deadlines, with exponential backoff. */
import { UNKNOWN } from '../graph/graph.ts'
import type { BadAnswer } from '../plug/result.ts'
import { callAgain, enqueueFirst, letGo, pause, wakeAt } from './execution.ts'
import { observe } from './observe.ts'
import { apply, countFailure, destinationFor, finish } from './result.ts'
import { timeOf, type TaskRun } from './run.ts'
import { NOT_PLACED, type Execution } from './state.ts'
import { traceError, traceLog } from './trace.ts'

/** Handles a failure: makes another attempt, sets another state, or reports an error that changes nothing. */
export function failed(
  run: TaskRun,
  execution: Execution,
  { error: message, isFinal, retryAfter = 0 }: Omit<BadAnswer, 'ok'>,
  timedOut = false,
): void {
  const { node } = execution
  destinationFor(run, execution).error = { time: timeOf(run, execution), message }
  const { retry } = node.call
  const timeoutState = timedOut && node.kind === 'sensor' ? node.timeoutState : UNKNOWN
  if (timedOut) run.sink.cancelled(execution)
  const mayRetry = timeoutState === UNKNOWN && isFinal !== true
  if (mayRetry && retry !== undefined && execution.attempt < retry.maxRetries) {
    const backoff = Math.max(retryAfter, retry.minBackoffMs * 2 ** execution.attempt)
    const delay = Math.min(retry.maxBackoffMs, backoff)
    execution.attempt++
    execution.phase = 'retrying'
    traceLog(
      run,
      'WARN',
      `${message}; attempt ${execution.attempt + 1} of ${retry.maxRetries + 1} in ${delay} ms`,
      node.label,
    )
    // The backoff of a sensor holds the lane, since otherwise a later input would overtake this one.
    if (node.kind === 'sensor') run.state.holder = execution
    else letGo(run, execution)
    wakeAt(run, execution, run.at + delay)
    return
  }
  letGo(run, execution)
  execution.wakeAt = Number.POSITIVE_INFINITY
  countFailure(run, execution.invocation)
  traceError(run, execution, message)
  const instead = timeoutState !== UNKNOWN ? timeoutState : (retry?.errorState ?? UNKNOWN)
  if (instead !== UNKNOWN && node.kind === 'sensor') {
    const { invocation, origin, via } = execution
    observe(run, node, instead, { invocation, origin, via, hasSucceeded: false })
  }
  finish(run, execution)
}

export function wake(run: TaskRun, execution: Execution): void {
  if (execution.phase === 'holding' && execution.held !== null) {
    if (execution.placedAt !== NOT_PLACED) execution.placedAt += execution.held.after ?? 0
    apply(run, execution, execution.held)
  } else if (execution.phase === 'retrying') retry(run, execution)
  else if (execution.phase === 'called' || execution.phase === 'rendering')
    failed(run, execution, { error: timeLimitText(execution) }, true)
  else if (execution.phase === 'paused')
    failed(run, execution, { error: 'the node was not resumed within its pause limit' }, true)
}

/** Retries after a pause. A node that was not resumed waits for a resume again. */
function retry(run: TaskRun, execution: Execution): void {
  const { pauseMs } = execution.node.call
  if (pauseMs !== undefined && !execution.resumed) pause(run, execution, pauseMs)
  else if (execution.touches === null) enqueueFirst(run, execution)
  else callAgain(run, execution)
}

function timeLimitText(execution: Execution): string {
  return `${execution.node.call.plug.name} took longer than ${execution.node.call.timeoutMs} ms`
}
