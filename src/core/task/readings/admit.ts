/** Which sensors the readings of an input run: those for which they are neither late nor repeated. */
import type { DataPlan, Plan, SensorNode } from '../../graph/graph.ts'
import { makePlan } from '../../graph/plan.ts'
import type { Message, Sent } from '../origin.ts'
import type { TaskRun } from '../run.ts'
import { sensorState } from '../state.ts'
import { traceLog } from '../trace.ts'
import { keepLate } from './absorbed.ts'
import { isSameMessage, stampOf, verdictOf, withReading } from './reading.ts'
import { Readings } from './readings.ts'

/** Late readings of a resource in a row after which the log says so. */
const MANY_LATE = 10

/** A message and what it runs. */
export interface Admitted {
  readonly place: number
  readonly message: Message
  /** epoch ms: when it was measured, but never later than it came */
  readonly time: number
  /** the sensors that take it */
  readonly plan: Plan
}

/** Whether messages can be late or repeated for a task. */
export function tellsReadings({ model: { settings } }: TaskRun): boolean {
  return settings.time === 'event' || settings.duplicates === 'drop'
}

/** When a reading was measured, but never later than it came, epoch ms. */
function readingTime(message: Message, arrived: number): number {
  const stamp = stampOf(message)
  return stamp === undefined ? arrived : Math.min(stamp, arrived)
}

/**
 * Notes that messages have come, at `now` of the clock. False when it does not matter when they were measured: none of the
 * task's messages was ever stamped, or it does not look at that.
 */
export function noteArrival(run: TaskRun, now: number, messages: readonly Message[], sent: Sent | undefined): boolean {
  const { state, model } = run
  if (sent?.channel !== undefined) return false
  const { reorderMs } = model.settings
  if (state.readings === null && reorderMs === 0 && messages.every((one) => stampOf(one) === undefined)) return false
  if (!tellsReadings(run)) return false
  if (reorderMs > 0) state.readings ??= new Readings(state.lastExecutionTime, reorderMs)
  for (const message of messages) {
    const place = model.resources.indexOf(message.resource)
    const stamp = stampOf(message)
    if (place === -1 || stamp === undefined) continue
    // What runs nothing moves nothing; where it waits in order with others, it waits as long as they do.
    if (reorderMs === 0 && !runsSensor(model.dataPlans[place], message)) continue
    state.readings ??= new Readings(state.lastExecutionTime, reorderMs)
    if (state.downtime !== null) noteLag(state, message.resource, now - Math.min(stamp, now))
    state.readings.arrived(message.resource, Math.min(stamp, now), now)
  }
  return true
}

/** Of a resource that was not known at the last start. */
function noteLag(state: TaskRun['state'], resource: string, lag: number): void {
  const { downtime } = state
  if (downtime === null || Object.hasOwn(downtime.lags, resource)) return
  state.downtime = { ...downtime, lags: { ...downtime.lags, [resource]: lag } }
}

function runsSensor(plan: DataPlan | undefined, message: Message): boolean {
  return (plan?.partFor(message).sensors.length ?? 0) > 0
}

/** Whether a reading that waits is the same as one that comes, which is counted then: what a sensor has taken does not show it. */
export function isHeldAlready(run: TaskRun, messages: readonly Message[]): boolean {
  const { readings } = run.state
  if (run.model.settings.duplicates === 'take' || messages.some((one) => stampOf(one) === undefined)) return false
  const { identityIgnores } = run.model
  const isSame = (held: readonly Message[]): boolean =>
    held.length === messages.length &&
    messages.every((message, i) => isSameMessage(held[i] as Message, message, identityIgnores))
  if (readings?.reordering.list.some(({ input }) => isSame(input.messages)) !== true) return false
  countReading(run, readings, 'duplicate')
  return true
}

/** The time of an input of data: the highest of the readings that run something. Undefined: they run nothing. */
export function timeOfData({ model }: TaskRun, messages: readonly Message[], arrived: number): number | undefined {
  let time: number | undefined
  for (const message of messages) {
    if (!runsSensor(model.dataPlans[model.resources.indexOf(message.resource)], message)) continue
    time = Math.max(time ?? Number.NEGATIVE_INFINITY, timeIn(model.settings, message, arrived))
  }
  return time
}

/** Where an input stands in the order of times, also one of readings that run nothing. */
export function placeOfData(run: TaskRun, messages: readonly Message[], arrived: number): number {
  const times = messages.map((message) => timeIn(run.model.settings, message, arrived))
  return timeOfData(run, messages, arrived) ?? Math.max(...times)
}

function timeIn({ time }: TaskRun['model']['settings'], message: Message, arrived: number): number {
  return time === 'arrival' ? arrived : readingTime(message, arrived)
}

/** The readings of an input when none of them runs anything. */
export function admitNone({ model }: TaskRun, messages: readonly Message[], arrived: number): readonly Admitted[] {
  return messages.flatMap((message) => {
    const place = model.resources.indexOf(message.resource)
    const plan = model.dataPlans[place]?.partFor(message)
    return plan === undefined ? [] : [{ place, message, time: timeIn(model.settings, message, arrived), plan }]
  })
}

/** Takes the readings that came together, counts those that no sensor takes, and notes what each sensor has taken. */
export function admit(
  run: TaskRun,
  readings: Readings,
  messages: readonly Message[],
  arrived: number,
): readonly Admitted[] {
  const { model } = run
  const admitted: Admitted[] = []
  for (const message of messages) {
    const place = model.resources.indexOf(message.resource)
    const plan = model.dataPlans[place]?.partFor(message)
    if (plan === undefined) continue
    const isAgain = plan.sensors.length > 0 && isRemembered(run, readings, plan, message, arrived)
    const taking = isAgain ? [] : plan.sensors.filter((node) => isTaken(run, readings, node, message, arrived))
    noteVerdict(run, readings, plan, taking, message, isAgain)
    const isWhole = taking.length === plan.sensors.length
    const time = timeIn(model.settings, message, arrived)
    admitted.push({ place, message, time, plan: isWhole ? plan : makePlan(taking) })
  }
  return admitted
}

/** Whether readings are taken that are older than what sensors know: each knows those of its newest time alone. */
export function remembersReadings({ late, time, duplicates }: TaskRun['model']['settings']): boolean {
  return duplicates === 'drop' && (late === 'take' || time === 'arrival')
}

/** Whether a reading was taken before; from now on it was. */
function isRemembered(run: TaskRun, readings: Readings, { sensors }: Plan, message: Message, arrived: number): boolean {
  const { settings, identityIgnores, dedupWindow } = run.model
  if (!remembersReadings(settings) || stampOf(message) === undefined) return false
  const time = readingTime(message, arrived)
  const isNewer = sensors.every((node) => time > (sensorState(run.state, node).taken?.time ?? time - 1))
  const recent = readings.recentOf(message.resource)
  recent.forgetBefore(run.at - dedupWindow)
  const before = recent.room
  const isNew = recent.add(message, identityIgnores, run.at, isNewer)
  run.sink.remembered(recent.room - before)
  return !isNew
}

function isTaken(run: TaskRun, readings: Readings, node: SensorNode, message: Message, arrived: number): boolean {
  const sensor = sensorState(run.state, node)
  const { late, duplicates, time: byTime } = run.model.settings
  const stamp = stampOf(message)
  // Nothing is kept of a resource whose messages are never stamped.
  if (stamp === undefined && !readings.newest.has(message.resource)) return true
  const time = stamp === undefined ? arrived : Math.min(stamp, arrived)
  const { identityIgnores } = run.model
  const verdict = stamp === undefined ? 'taken' : verdictOf(sensor.taken, time, message, identityIgnores)
  if (verdict === 'late' && late === 'drop' && byTime === 'event') {
    keepLate(node, sensor, message)
    return false
  }
  if (verdict === 'duplicate' && duplicates === 'drop') return false
  sensor.taken = withReading(sensor.taken, time, stamp === undefined ? undefined : message)
  return true
}

/** Readings are compared with none that came before. */
export function forgetTimes({ state }: Pick<TaskRun, 'state'>): void {
  state.readings?.forgetTimes()
  for (const sensor of state.work?.sensors ?? []) sensor.taken = null
}

/** Counts a reading that is not taken in its order, for its task and for who counts all of them. */
export function countReading(
  { sink }: Pick<TaskRun, 'sink'>,
  { counts }: Readings,
  reason: 'late' | 'duplicate' | 'skewed',
): void {
  counts[reason]++
  if (sink.counts !== null) sink.counts[reason]++
}

function noteVerdict(
  run: TaskRun,
  readings: Readings,
  { sensors }: Plan,
  taking: readonly SensorNode[],
  message: Message,
  isAgain: boolean,
): void {
  const { inRow, mixed, newest } = readings
  const { resource } = message
  const stamp = stampOf(message)
  if (stamp === undefined) {
    if (sensors.length === 0 || mixed.has(resource) || !newest.has(resource)) return
    mixed.add(resource)
    const text = `some messages of ${resource} have a timestamp and some have none: one without makes those late that were measured before it came`
    return traceLog(run, 'WARN', text)
  }
  if (taking.length === sensors.length) return void inRow.delete(resource)
  const isRepeated = isAgain || sensors.some((node) => !taking.includes(node) && !isLate(run, node, message))
  if (isRepeated) return countReading(run, readings, 'duplicate')
  countReading(run, readings, 'late')
  const count = (inRow.get(resource) ?? 0) + 1
  inRow.set(resource, count)
  if (count !== MANY_LATE) return
  const behind = ((newest.get(resource)?.time ?? stamp) - stamp) / 1000
  const text = `the clock of ${resource} may have gone back by ${behind} s: ${MANY_LATE} readings in a row were older than one that was taken; they are taken again once the task is resynced (POST /api/tasks/{id}/command/resync) or restarted`
  traceLog(run, 'WARN', text)
}

function isLate(run: TaskRun, node: SensorNode, message: Message): boolean {
  const { taken } = sensorState(run.state, node)
  return taken !== null && (stampOf(message) ?? taken.time) < taken.time
}
