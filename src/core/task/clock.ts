/**
 * Runs the clocks of a task and of its sensors; each tick is an input, which queues.
 *
 * CLOCK-1 every occurrence ticks at most once, or is counted as skipped.
 * CLOCK-2 an occurrence is missed when the engine did not run, or ran it more than a minute late; a tick in the queue
 *   is not missed.
 * CLOCK-3 the number of waiting ticks is bounded; further ticks are held, with an event.
 */
import type { SensorNode } from '../graph/graph.ts'
import { missed } from '../schedule/misfire.ts'
import { latestBefore } from '../schedule/occurrences.ts'
import type { Schedule } from '../schedule/schedule.ts'
import type { Origin } from './origin.ts'
import { cancelAll } from './result.ts'
import { isWork } from './execution.ts'
import type { TaskRun } from './run.ts'
import { sensorState } from './state.ts'
import { traceHeld, traceLog } from './trace.ts'

const GRACE_MS = 60_000
const MAX_WAITING_TICKS = 100
const NEVER = Number.POSITIVE_INFINITY

/** Sets clocks of sensors first, so that their data is polled before the task's own tick. */
export function startClocks(run: TaskRun): void {
  beginClocks(run, run.model.graph.sensors, true, run.now)
}

export function beginClocks(run: TaskRun, sensors: readonly SensorNode[], isTask: boolean, now: number): void {
  for (const node of sensors) {
    const schedule = scheduleOf(run, node)
    if (schedule !== undefined) plan(run, node, schedule.first(now))
  }
  if (isTask) plan(run, null, run.model.schedule?.first(now) ?? null)
}

/** Runs all due clocks in order of time; at the same time, clocks of sensors first, in order of declaration. */
export function clocksAreDue(run: TaskRun): void {
  const due: { at: number; node: SensorNode | null }[] = []
  for (const node of run.model.graph.sensors) {
    const at = run.state.work?.sensors[node.slot]?.ownTickAt ?? NEVER
    if (at <= clockOf(run)) due.push({ at, node })
  }
  if (run.state.nextTickAt <= clockOf(run)) due.push({ at: run.state.nextTickAt, node: null })
  for (const { node } of due.toSorted((a, b) => a.at - b.at)) clockIsDue(run, node)
}

/** Returns the time up to which ticks are due: they wait for readings of their time. */
function clockOf(run: TaskRun): number {
  return run.at - run.model.settings.reorderMs
}

/** Ticks at most one due occurrence now; other due occurrences wait or are skipped, as `misfire` demands. */
function clockIsDue(run: TaskRun, node: SensorNode | null): void {
  const schedule = scheduleOf(run, node)
  if (schedule === undefined) return
  const due = dueTicks(run, schedule, node === null ? run.state.nextTickAt : sensorState(run.state, node).ownTickAt)
  plan(run, node, due.next)
  if (due.skipped > 0) {
    run.state.skippedTicks += due.skipped
    const count = due.isExact ? due.skipped : `at least ${due.skipped}`
    traceLog(run, 'WARN', `${count} missed ${due.skipped === 1 ? 'tick was' : 'ticks were'} skipped`, node?.label)
  }
  const [first, ...later] = due.run
  if (first !== undefined) tick(run, node, first)
  for (const at of later) wait(run, node, at)
}

export function afterWork(run: TaskRun): void {
  const { state, model } = run
  if (model.schedule?.fixedDelay === true && state.nextTickAt === NEVER && !isBusy(run, null)) {
    plan(run, null, model.schedule.next(clockOf(run)))
  }
}

interface DueTicks {
  readonly run: readonly number[]
  readonly skipped: number
  /** false: there were too many to count, and `skipped` is a lower bound */
  readonly isExact: boolean
  readonly next: number | null
}

function dueTicks(run: TaskRun, schedule: Schedule, scheduledAt: number): DueTicks {
  const now = clockOf(run)
  const { misfire, maxLatenessMs, maxMissed } = run.model.settings
  const isExact = true
  if (schedule.fixedDelay === true) {
    const isWanted = misfire === 'once' || (misfire === 'all' && maxMissed > 0)
    const runs = isOnTime(run, scheduledAt) || (isWanted && now - scheduledAt <= (maxLatenessMs ?? NEVER))
    // With a fixed delay, the end of the work plans the next tick; a skipped tick has no work, so it is planned here.
    return { run: runs ? [scheduledAt] : [], skipped: runs ? 0 : 1, isExact, next: runs ? null : schedule.next(now) }
  }
  const next = schedule.next(scheduledAt)
  if ((next === null || next > now) && isOnTime(run, scheduledAt)) {
    return { run: [scheduledAt], skipped: 0, isExact, next }
  }
  const latest = latestBefore(schedule, now + 1, scheduledAt - 1) ?? scheduledAt
  const isPunctual = isOnTime(run, latest)
  const policy = { misfire, maxLatenessMs, cap: maxMissed }
  const gone = missed(schedule, scheduledAt - 1, isPunctual ? latest : now + 1, policy, now)
  const following = schedule.next(now)
  if (!isPunctual) return { ...gone, next: following }
  // With `once`, a punctual tick replaces the late one.
  const late = misfire === 'all' ? gone.run : []
  const skipped = gone.skipped + gone.run.length - late.length
  return { run: [...late, latest], skipped, isExact: gone.isExact, next: following }
}

function isOnTime(run: TaskRun, scheduledAt: number): boolean {
  return scheduledAt >= run.state.restoredAt && clockOf(run) - scheduledAt <= GRACE_MS
}

function tick(run: TaskRun, node: SensorNode | null, at: number): void {
  const { overlap } = run.model.settings
  if (overlap === 'cancelPrevious') cancelAll(run, (origin) => isWorkOf(origin, node))
  else if (overlap === 'skip' && isAtWork(run, node)) return held(run, node, 'overlap')
  arrive(run, node, at)
}

function arrive(run: TaskRun, node: SensorNode | null, scheduledAt: number): void {
  const { state } = run
  const ticks = state.waiting.reduce((count, { input }) => count + (input.kind === 'tick' ? 1 : 0), 0)
  if (ticks >= MAX_WAITING_TICKS) return held(run, node, 'queue')
  wait(run, node, scheduledAt)
}

/** Queues a tick. Consecutive ticks with the same time form one input. */
function wait({ state, at }: TaskRun, node: SensorNode | null, scheduledAt: number): void {
  const last = state.waiting.at(-1)
  if (last?.input.kind !== 'tick' || last.input.scheduledAt !== scheduledAt) {
    state.wait(at, { kind: 'tick', nodes: [node], scheduledAt })
  } else {
    const nodes = [...last.input.nodes, node]
    state.waiting = [...state.waiting.slice(0, -1), { ...last, input: { ...last.input, nodes } }]
  }
}

function held(run: TaskRun, node: SensorNode | null, reason: 'queue' | 'overlap'): void {
  if (run.sink.counts !== null) run.sink.counts.held++
  traceHeld(run, run.state.invocations, node?.label ?? run.model.id, reason, {})
}

function isBusy(run: TaskRun, node: SensorNode | null): boolean {
  if (isInEvaluation(run, node)) return true
  for (const execution of run.state.inFlight) if (isWorkOf(execution.origin, node)) return true
  return run.state.waiting.some(({ input }) => input.kind === 'tick' && input.nodes.includes(node))
}

/** Whether a sensor that this clock began is at work. Waits do not count, since a new run ends them, nor do effects. */
function isAtWork(run: TaskRun, node: SensorNode | null): boolean {
  for (const execution of run.state.inFlight) {
    if (isWork(execution) && isWorkOf(execution.origin, node)) return true
  }
  return isInEvaluation(run, node)
}

function isInEvaluation({ state: { evaluation } }: TaskRun, node: SensorNode | null): boolean {
  for (const origin of evaluation?.selected.values() ?? []) if (isWorkOf(origin, node)) return true
  return false
}

function isWorkOf(origin: Origin, node: SensorNode | null): boolean {
  return node === null ? origin.kind === 'tick' : origin.kind === 'ownTick' && origin.node === node.label
}

function scheduleOf(run: TaskRun, node: SensorNode | null): Schedule | undefined {
  return node === null ? run.model.schedule : run.model.sensorSchedules.get(node.slot)
}

function plan(run: TaskRun, node: SensorNode | null, at: number | null): void {
  if (node === null) run.state.nextTickAt = at ?? NEVER
  else sensorState(run.state, node).ownTickAt = at ?? NEVER
  if (at !== null)
    run.sink.timer(node === null ? 'tick' : 'ownTick', at + run.model.settings.reorderMs, node?.slot ?? 0)
}
