/**
 * Messages that run no sensor: they are not inputs, and what they say is there for what is taken later.
 *
 * IDLE-1 a timer that is due by the time of such a message does not see what it says, however early that comes.
 * IDLE-2 whatever may have seen less or more of such messages than in the order of their times is counted as skewed.
 */
import { earliestDue } from '../due-timer.ts'
import type { Input } from '../input.ts'
import { rememberAll } from '../invocation.ts'
import type { TaskRun } from '../run.ts'
import { admitNone, countReading, placeOfData, timeOfData, type Admitted } from './admit.ts'
import type { Readings } from './readings.ts'
import type { WaitingReading } from './reorder.ts'

/** Whether an input is readings that run nothing and were measured before a time: what waits behind them may be so, too. */
export function isIdleBefore(run: TaskRun, input: Input, time: number): boolean {
  if (input.kind !== 'data' || input.arrived === undefined) return false
  const { messages, arrived } = input
  return timeOfData(run, messages, arrived) === undefined && placeOfData(run, messages, arrived) < time
}

/** Takes what runs nothing: its values are there at once, unless a timer is due before. */
export function rememberIdle(run: TaskRun, input: Input, admitted: readonly Admitted[]): void {
  const { readings } = run.state
  if (readings === null || input.kind !== 'data' || input.arrived === undefined) return rememberAll(run, admitted)
  if (admitted.length === 0) return
  const { arrived } = input
  const messages = admitted.map(({ message }) => message)
  const time = placeOfData(run, messages, arrived)
  // What is late or repeated has been counted.
  if (readings.isBehind(time) && timeOfData(run, messages, arrived) === undefined) countReading(run, readings, 'skewed')
  if (earliestDue(run) > time) return rememberAll(run, admitted)
  const oldest = readings.ahead.hold({ time, arrived, input: { ...input, messages } })
  if (oldest === undefined) return
  countReading(run, readings, 'skewed')
  remember(run, oldest)
}

/** Remembers what was measured before an input that is taken now; at one time timers come first, then ticks. */
export function rememberUntil(run: TaskRun, { ahead }: Readings, { kind }: Input): void {
  if (ahead.list.length === 0) return
  const comesFirst = kind === 'timers' || kind === 'tick'
  for (const held of comesFirst ? ahead.before(run.now) : ahead.upTo(run.now)) remember(run, held)
}

function remember(run: TaskRun, { arrived, input }: WaitingReading): void {
  rememberAll(run, admitNone(run, input.messages, arrived))
}

/** Whether a value is there that was measured after a time. */
export function hasNewerValues({ state }: TaskRun, time: number): boolean {
  return state.streams.some((stream) => stream !== null && stream.at > time)
}
