/** Plays a case to a live engine on a virtual clock, and records everything that must not depend on latency. */
import { VirtualClock } from '../../../src/core/simulate/virtual-clock.ts'
import { createEngine, type Engine, type EngineEvent, type Rule, type SavedTask } from '../../../src/index.ts'
import { promisesSettled } from '../live-engine.ts'
import { CASE_START, type CaseStep, type LatencyCase } from './latency-case.ts'
import { SlowPlugs, type Answers } from './slow-plugs.ts'

export interface Observed {
  /** events as JSON, without the clock's time and results of actuators */
  readonly events: readonly string[]
  /** results of actuators as JSON, without the clock's time, in no order */
  readonly answered: readonly string[]
  /** calls of sensors, in order */
  readonly calls: readonly string[]
  /** attempts to act by thing, in order */
  readonly attempts: Readonly<Record<string, readonly string[]>>
  /** the state of the task */
  readonly state: unknown
  /** violations of the order of effects */
  readonly broken: readonly string[]
  /** calls that may begin ahead */
  readonly ahead: ReadonlySet<string>
}

export interface RunOptions {
  /** ms since the start */
  readonly crashes?: readonly number[]
  /** rules to change the task to at these times, ms since the start, in order */
  readonly changes?: readonly { readonly at: number; readonly rule: Rule }[]
  /** default true; tasks without subscribers take a shorter path */
  readonly listens?: boolean
}

export const TASK_ID = 'task'
const MAX_INSTANTS = 20_000

export async function runCase(
  { rule, steps }: Pick<LatencyCase, 'rule' | 'steps'>,
  answers: (clock: VirtualClock) => Answers,
  { crashes = [], changes = [], listens = true }: RunOptions = {},
): Promise<Observed & { readonly mostAhead: number; readonly made: number }> {
  const clock = new VirtualClock(CASE_START)
  const slow = new SlowPlugs(answers(clock))
  const events: EngineEvent[] = []
  const open = (): Engine => {
    const ids = (): string => TASK_ID
    const opened = createEngine({ plugs: slow.plugs, scheduler: clock, ids, seed: 1 })
    if (listens) opened.events$.subscribe((event) => events.push(event))
    return opened
  }
  let engine = open()
  for (const { at, input } of steps) clock.schedule(() => take(engine, input), at)
  await engine.start(rule)
  await promisesSettled()
  const left = crashes.map((at) => CASE_START + at)
  const changing = changes.map(({ at, ...change }) => ({ at: CASE_START + at, ...change }))
  for (let instants = 0; ; instants++) {
    if (instants > MAX_INSTANTS) throw new Error('the case does not end')
    const next = clock.nextAt()
    const [crash] = left
    if (next === undefined) break
    const [change] = changing
    clock.advanceTo(Math.min(next, crash ?? next, change?.at ?? next))
    await promisesSettled()
    if (change !== undefined && clock.now() >= change.at) {
      changing.shift()
      if (taskOf(engine).status === 'running') await engine.change(TASK_ID, change.rule)
      await promisesSettled()
    }
    if (crash === undefined || clock.now() < crash) continue
    left.shift()
    const saved = JSON.stringify(taskOf(engine).save())
    slow.crash()
    await engine.close()
    engine = open()
    await engine.restore(JSON.parse(saved) as SavedTask)
    await promisesSettled()
  }
  const state = stateOf(taskOf(engine).save())
  await engine.close()
  return {
    events: laneLines(events, rule),
    answered: answeredLines(events, rule),
    calls: slow.calls,
    attempts: Object.fromEntries([...slow.attempts].toSorted(([one], [other]) => (one < other ? -1 : 1))),
    state,
    broken: slow.broken,
    ahead: slow.ahead,
    mostAhead: slow.mostAhead,
    made: slow.made,
  }
}

function taskOf(engine: Engine) {
  const task = engine.tasks.get(TASK_ID)
  if (task === undefined) throw new Error('the task is gone')
  return task
}

function take(engine: Engine, input: CaseStep['input']): void {
  const task = taskOf(engine)
  if (task.status !== 'running') return
  switch (input.kind) {
    case 'data':
      engine.receive(input.messages)
      return
    case 'push':
      return task.push(input.node, { state: input.state })
    case 'run':
      return task.run(input.node)
    case 'resume':
      return task.resume(input.node)
  }
}

/**
 * Returns the events of the task's own work as JSON. Excludes the time of actuator results, and so the end of a onetime
 * task that waits for them, as well as the clock's time.
 */
export function laneLines(events: readonly EngineEvent[], rule: Rule): string[] {
  const actuators = new Set((rule.actuators ?? []).map(({ label }) => label))
  return events.flatMap((event) => {
    if ((event.type === 'result' || event.type === 'log') && actuators.has(event.node ?? '')) return []
    const { at: _, ...rest } = { at: undefined, ...event }
    return [JSON.stringify(event.type === 'stopped' ? { ...rest, time: undefined } : rest)]
  })
}

/** Returns the results of actuators, without their times. */
function answeredLines(events: readonly EngineEvent[], rule: Rule): string[] {
  const actuators = new Set((rule.actuators ?? []).map(({ label }) => label))
  const answers = events.filter(({ type, node = '' }) => type === 'result' && actuators.has(node))
  return answers.map((event) => JSON.stringify({ ...event, at: undefined })).toSorted()
}

/** Returns a saved task's nodes and counts, without results of actuators and places in lists. */
function stateOf({ state }: SavedTask): unknown {
  const { sensors, gates, streams, invocations, executions, lastExecutionTime, status, failures, skippedTicks } = state
  const nodes = Object.entries({ ...sensors, ...state.actuators }).map(([label, node]) => {
    const { firing, answer: _answer, error, ...rest } = { answer: undefined, ...node }
    const kept = label in sensors ? { ...rest, error, origin: undefined, via: undefined } : rest
    return [label, kept, firing && { ...firing, origin: 0, via: 0, seen: [] }]
  })
  const failed = failures?.toSorted((one, other) => one - other)
  return { invocations, executions, lastExecutionTime, status, failed, skippedTicks, nodes, gates, streams }
}
