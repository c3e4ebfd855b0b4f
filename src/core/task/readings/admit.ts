/** Decides which sensors the readings of an input run. */
import type { DataPlan, Plan, SensorNode } from '../../graph/graph.ts'
import { makePlan } from '../../graph/plan.ts'
import { targetsOf, type Target } from '../members/targets.ts'
import type { Message, Sent } from '../origin.ts'
import type { TaskRun } from '../run.ts'
import { sensorState } from '../state.ts'
import { traceLog } from '../trace.ts'
import { keepLate } from './absorbed.ts'
import { isSameMessage, mayComeAgain, stampOf, verdictOf, withReading, type Verdict } from './reading.ts'
import { Readings } from './readings.ts'

/** Number of consecutive late readings of a resource that causes a log line. */
const MANY_LATE = 10

export interface Admitted {
  readonly index: number
  readonly message: Message
  readonly time: number
  readonly plan: Plan
}

export function comparesReadings({ model: { settings } }: TaskRun): boolean {
  return settings.time === 'event' || settings.duplicates === 'drop'
}

/** Returns the measurement time, at most the time of arrival, epoch ms. */
function readingTime(message: Message, arrived: number): number {
  const stamp = stampOf(message)
  return stamp === undefined ? arrived : Math.min(stamp, arrived)
}

/** Records the arrival of messages. Returns false if measurement times do not matter to the task. */
export function noteArrival(run: TaskRun, now: number, messages: readonly Message[], sent: Sent | undefined): boolean {
  const { state, model } = run
  if (sent?.channel !== undefined) return false
  const { reorderMs } = model.settings
  if (state.readings === null && reorderMs === 0 && messages.every((one) => stampOf(one) === undefined)) return false
  if (!comparesReadings(run)) return false
  if (reorderMs > 0) state.readings ??= new Readings(state.lastExecutionTime, reorderMs)
  for (const message of messages) {
    const targets = targetsOf(run, message)
    if (targets.length === 0 || stampOf(message) === undefined) continue
    // Messages that run no sensor do not change times, except if readings are put in order: then they wait with the
    // others.
    if (reorderMs === 0 && !targets.some(({ dataPlan }) => runsSensor(dataPlan, message))) continue
    state.readings ??= new Readings(state.lastExecutionTime, reorderMs)
    const time = readingTime(message, now)
    noteLag(state, message.resource, now - time)
    state.readings.arrived(message.resource, time, now)
  }
  return true
}

function noteLag(state: TaskRun['state'], resource: string, lag: number): void {
  const { downtime } = state
  if (downtime === null || Object.hasOwn(downtime.lags, resource)) return
  state.downtime = { ...downtime, lags: { ...downtime.lags, [resource]: lag } }
}

function runsSensor(plan: DataPlan | undefined, message: Message): boolean {
  return (plan?.partFor(message).sensors.length ?? 0) > 0
}

/** Whether a waiting reading, which no sensor has processed yet, equals the new one; if so, counts a duplicate. */
export function isHeldAlready(run: TaskRun, messages: readonly Message[]): boolean {
  const { readings } = run.state
  if (run.model.settings.duplicates === 'take' || !messages.every(mayComeAgain)) return false
  const { identityIgnores } = run.model
  const isSame = (held: readonly Message[]): boolean =>
    held.length === messages.length &&
    messages.every((message, i) => isSameMessage(held[i] as Message, message, identityIgnores))
  if (readings?.reordering.list.some(({ input }) => isSame(input.messages)) !== true) return false
  countReading(run, readings, 'duplicate')
  return true
}

/** Returns the time of a data input: the highest of its readings that run a sensor, if any. */
export function timeOfData(run: TaskRun, messages: readonly Message[], arrived: number): number | undefined {
  let time: number | undefined
  for (const message of messages) {
    if (!targetsOf(run, message).some(({ dataPlan }) => runsSensor(dataPlan, message))) continue
    time = Math.max(time ?? Number.NEGATIVE_INFINITY, timeIn(run.model.settings, message, arrived))
  }
  return time
}

/** Returns the time by which an input is put in order, also if its readings run nothing. */
export function sortTimeOf(run: TaskRun, messages: readonly Message[], arrived: number): number {
  const times = messages.map((message) => timeIn(run.model.settings, message, arrived))
  return timeOfData(run, messages, arrived) ?? Math.max(...times)
}

function timeIn({ time }: TaskRun['model']['settings'], message: Message, arrived: number): number {
  return time === 'arrival' ? arrived : readingTime(message, arrived)
}

export function admitNone(run: TaskRun, messages: readonly Message[], arrived: number): readonly Admitted[] {
  return messages.flatMap((message) =>
    targetsOf(run, message).flatMap(({ index, dataPlan }) => {
      const plan = dataPlan?.partFor(message)
      return plan === undefined ? [] : [{ index, message, time: timeIn(run.model.settings, message, arrived), plan }]
    }),
  )
}

/** Admits readings without duplicates, records who processed each, and counts readings that no sensor processes. */
export function admit(
  run: TaskRun,
  readings: Readings,
  messages: readonly Message[],
  arrived: number,
): readonly Admitted[] {
  const { model } = run
  const admitted: Admitted[] = []
  for (const message of messages) {
    const targets = targetsOf(run, message)
    const [target] = targets
    if (targets.length > 1) {
      admitted.push(...admitToAll(run, readings, targets, message, arrived))
      continue
    }
    const plan = target?.dataPlan?.partFor(message)
    if (target === undefined || plan === undefined) continue
    const isAgain = plan.sensors.length > 0 && isRemembered(run, readings, plan, message, arrived)
    const verdicts = plan.sensors.map((node) => (isAgain ? 'duplicate' : take(run, readings, node, message, arrived)))
    const taking = plan.sensors.filter((_, i) => verdicts[i] === 'taken')
    noteVerdicts(run, readings, message, verdicts)
    if (taking.length === 0 && verdicts.includes('duplicate')) continue
    const isWhole = taking.length === plan.sensors.length
    const time = timeIn(model.settings, message, arrived)
    admitted.push({ index: target.index, message, time, plan: isWhole ? plan : makePlan(taking) })
  }
  return admitted
}

/** Admits a reading to the sensors on its resource and on groups that contain its resource. */
function admitToAll(
  run: TaskRun,
  readings: Readings,
  targets: readonly Target[],
  message: Message,
  arrived: number,
): readonly Admitted[] {
  const parts = targets.flatMap(({ index, dataPlan }) => {
    const plan = dataPlan?.partFor(message)
    return plan === undefined ? [] : [{ index, plan }]
  })
  const all = makePlan(parts.flatMap(({ plan }) => plan.sensors))
  const isAgain = all.sensors.length > 0 && isRemembered(run, readings, all, message, arrived)
  const verdicts = new Map(
    all.sensors.map((node) => [node, isAgain ? 'duplicate' : take(run, readings, node, message, arrived)] as const),
  )
  noteVerdicts(run, readings, message, [...verdicts.values()])
  const time = timeIn(run.model.settings, message, arrived)
  return parts.flatMap(({ index, plan }) => {
    const taking = plan.sensors.filter((node) => verdicts.get(node) === 'taken')
    if (taking.length === 0 && plan.sensors.some((node) => verdicts.get(node) === 'duplicate')) return []
    return [{ index, message, time, plan: taking.length === plan.sensors.length ? plan : makePlan(taking) }]
  })
}

/** Whether the task remembers readings itself, since sensors remember only readings of their newest time. */
export function remembersReadings({ late, time, duplicates }: TaskRun['model']['settings']): boolean {
  return duplicates === 'drop' && (late === 'take' || time === 'arrival')
}

/** Whether a reading was processed before; also remembers the reading. */
function isRemembered(run: TaskRun, readings: Readings, { sensors }: Plan, message: Message, arrived: number): boolean {
  const { settings, identityIgnores, dedupWindow } = run.model
  if (!remembersReadings(settings) || !mayComeAgain(message)) return false
  const time = readingTime(message, arrived)
  const isNewer = sensors.every((node) => time > (sensorState(run.state, node).taken?.time ?? time - 1))
  const recent = readings.recentOf(message.resource)
  recent.forgetBefore(run.at - dedupWindow)
  const before = recent.room
  const isNew = recent.add(message, identityIgnores, run.at, isNewer)
  run.sink.remembered(recent.room - before)
  return !isNew
}

function take(run: TaskRun, readings: Readings, node: SensorNode, message: Message, arrived: number): Verdict {
  const sensor = sensorState(run.state, node)
  const { settings, identityIgnores } = run.model
  const isStamped = stampOf(message) !== undefined
  // Nothing is remembered for a resource without timestamps.
  if (!isStamped && !readings.newest.has(message.resource)) return 'taken'
  const time = readingTime(message, arrived)
  const verdict = isStamped ? verdictOf(sensor.taken, time, message, identityIgnores) : 'taken'
  if (verdict === 'late' && settings.late === 'drop' && settings.time === 'event') {
    keepLate(node, sensor, message)
    return verdict
  }
  if (verdict === 'duplicate' && settings.duplicates === 'drop') return verdict
  sensor.taken = withReading(sensor.taken, time, message)
  return 'taken'
}

export function forgetTimes({ state }: Pick<TaskRun, 'state'>): void {
  state.readings?.forgetTimes()
  for (const sensor of state.work?.sensors ?? []) sensor.taken = null
  for (const { members } of state.groups)
    for (const member of members.values()) {
      for (const sensor of member.sensors) sensor.taken = null
      member.taken = []
    }
}

export function countReading(
  { sink }: Pick<TaskRun, 'sink'>,
  { counts }: Readings,
  reason: 'late' | 'duplicate' | 'skewed',
): void {
  counts[reason]++
  if (sink.counts !== null) sink.counts[reason]++
}

function noteVerdicts(run: TaskRun, readings: Readings, message: Message, verdicts: readonly Verdict[]): void {
  const { inRow, mixed, newest } = readings
  const { resource } = message
  const stamp = stampOf(message)
  if (stamp === undefined) {
    if (verdicts.length === 0 || mixed.has(resource) || !newest.has(resource)) return
    mixed.add(resource)
    const text = `messages of ${resource} arrive both with and without a timestamp: after a message without a timestamp, messages measured before its arrival are late`
    return traceLog(run, 'WARN', text)
  }
  if (verdicts.every((one) => one === 'taken')) return void inRow.delete(resource)
  if (verdicts.includes('duplicate')) return countReading(run, readings, 'duplicate')
  countReading(run, readings, 'late')
  const count = (inRow.get(resource) ?? 0) + 1
  inRow.set(resource, count)
  if (count !== MANY_LATE) return
  const behind = ((newest.get(resource)?.time ?? stamp) - stamp) / 1000
  const text = `the clock of ${resource} may have been set back by ${behind} s: ${MANY_LATE} readings in a row were older than an earlier one; resync the task (POST /api/tasks/{id}/command/resync) or restart it to accept its readings again`
  traceLog(run, 'WARN', text)
}
