/**
 * Handles messages that run no sensor: they are not inputs, but their values are available to later inputs.
 *
 * IDLE-1 a timer that is due by the time of such a message does not see its values, however early it arrives.
 * IDLE-2 a deviation from the order of times of such messages is counted as skewed.
 */
import { earliestDue } from '../due-timer.ts'
import type { Input } from '../input.ts'
import { load, loadFor } from '../members/load.ts'
import { rememberAll } from '../invocation.ts'
import type { TaskRun } from '../run.ts'
import { admitNone, countReading, sortTimeOf, timeOfData, type Admitted } from './admit.ts'
import type { Readings } from './readings.ts'
import type { WaitingReading } from './reorder.ts'

/** Whether an input's readings run nothing and precede a time; if so, check the inputs behind it too. */
export function isIdleBefore(run: TaskRun, input: Input, time: number): boolean {
  if (input.kind !== 'data' || input.arrived === undefined) return false
  const { messages, arrived } = input
  return timeOfData(run, messages, arrived) === undefined && sortTimeOf(run, messages, arrived) < time
}

/** Makes the values of messages that run nothing available: at once, or after a timer that is due before. */
export function rememberIdle(run: TaskRun, input: Input, admitted: readonly Admitted[]): void {
  const { readings } = run.state
  loadFor(
    run,
    admitted.map(({ message: { resource } }) => resource),
  )
  if (readings === null || input.kind !== 'data' || input.arrived === undefined) return rememberAll(run, admitted)
  if (admitted.length === 0) return
  const { arrived } = input
  const messages = admitted.map(({ message }) => message)
  const time = sortTimeOf(run, messages, arrived)
  // Late and repeated readings were counted before.
  if (readings.isBehind(time) && timeOfData(run, messages, arrived) === undefined) countReading(run, readings, 'skewed')
  if (earliestDue(run) > time) return rememberAll(run, admitted)
  const oldest = readings.ahead.hold({ time, arrived, input: { ...input, messages } })
  if (oldest === undefined) return
  countReading(run, readings, 'skewed')
  remember(run, oldest)
}

/** Makes values from before the current input available. At the same time, timers and ticks come before such values. */
export function rememberUntil(run: TaskRun, { ahead }: Readings, { kind }: Input): void {
  if (ahead.list.length === 0) return
  const comesFirst = kind === 'timers' || kind === 'tick'
  for (const held of comesFirst ? ahead.before(run.now) : ahead.upTo(run.now)) remember(run, held)
}

function remember(run: TaskRun, { arrived, input }: WaitingReading): void {
  const before = run.state.groups.map(({ loaded }) => loaded)
  loadFor(
    run,
    input.messages.map(({ resource }) => resource),
  )
  rememberAll(run, admitNone(run, input.messages, arrived))
  for (const [index, member] of before.entries()) load(run, index, member)
}

export function hasNewerValues({ state }: TaskRun, time: number): boolean {
  return state.streams.some((stream) => stream !== null && stream.at > time)
}
