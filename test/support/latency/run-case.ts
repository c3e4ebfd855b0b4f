/** Plays a case to a live engine on a virtual clock, and writes down all that must not depend on how long answers take. */
import { VirtualClock } from '../../../src/core/simulate/virtual-clock.ts'
import { createEngine, type Engine, type EngineEvent, type Rule, type SavedTask } from '../../../src/index.ts'
import { promisesSettled } from '../live-engine.ts'
import { CASE_START, type CaseStep, type LatencyCase } from './latency-case.ts'
import { SlowPlugs, type Answers } from './slow-plugs.ts'

export interface Observed {
  /** events as JSON, but for the clock's time and for what actuators answered */
  readonly events: readonly string[]
  /** what actuators answered, as JSON but for the clock's time, in no order */
  readonly answered: readonly string[]
  /** calls of sensors, in order */
  readonly calls: readonly string[]
  /** attempts to act by thing, in order */
  readonly attempts: Readonly<Record<string, readonly string[]>>
  /** what the task remembers */
  readonly state: unknown
  /** what broke the order of effects */
  readonly broken: readonly string[]
  /** calls that may begin ahead */
  readonly ahead: ReadonlySet<string>
}

export interface RunOptions {
  /** ms since the start */
  readonly crashes?: readonly number[]
  /** other rules that the task gets at these moments, ms since the start, in order */
  readonly changes?: readonly { readonly at: number; readonly rule: Rule }[]
  /** default true; tasks that nobody listens to go a shorter way */
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
 * The events of the task's own work as JSON. When an actuator answers is no part of it, and so when a onetime task that
 * waits for it is finished; nor what time the clock says.
 */
export function laneLines(events: readonly EngineEvent[], rule: Rule): string[] {
  const actuators = new Set((rule.actuators ?? []).map(({ label }) => label))
  return events.flatMap((event) => {
    if ((event.type === 'result' || event.type === 'log') && actuators.has(event.node ?? '')) return []
    const { at: _, ...rest } = { at: undefined, ...event }
    return [JSON.stringify(event.type === 'stopped' ? { ...rest, time: undefined } : rest)]
  })
}

/** What actuators answered: when it came is no part of it. */
function answeredLines(events: readonly EngineEvent[], rule: Rule): string[] {
  const actuators = new Set((rule.actuators ?? []).map(({ label }) => label))
  const answers = events.filter(({ type, node = '' }) => type === 'result' && actuators.has(node))
  return answers.map((event) => JSON.stringify({ ...event, at: undefined })).toSorted()
}

/** What a saved task says of its nodes and counts, but for what actuators answered and for places in lists. */
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
