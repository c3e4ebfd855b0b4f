/** Runs a script on the real engine with a virtual clock, and may replace the engine by a restored one in between. */
import type { Engine } from '../../../src/core/engine/api.ts'
import type { EngineEvent, EventType } from '../../../src/core/engine/events.ts'
import type { PlugContext } from '../../../src/core/plug/plug.ts'
import type { Rule } from '../../../src/core/rule/rule.ts'
import { VirtualClock } from '../../../src/core/simulate/virtual-clock.ts'
import { createEngine, type SavedTask, type Task } from '../../../src/index.ts'
import { asPlugs, OpenCalls } from './as-plugs.ts'
import { type Script, type ScriptInput, SCRIPT_START, TASK_ID } from './script.ts'
import type { Call } from './test-plugs.ts'

export interface EngineRunOptions {
  /** whether to save the engine, discard it and restore it after step `n`, counted from 0; -1 is the start */
  restartAfter?: (n: number) => boolean
  onCall?: (call: Call, context: PlugContext) => void
  why?: boolean
  /** receives the task at the end of the script */
  atEnd?: (task: Task, engine: Engine) => void
  /** plugs read only message values, so that tasks may be rows */
  looksAtLittle?: boolean
  /** types of events to subscribe to; default all */
  types?: readonly EventType[]
  /** rule of another task that starts first and receives the same messages; its events are ignored */
  beside?: Rule
  /** a scheduled run at the very start counts, as in a simulation */
  runsAtStart?: boolean
}

const OTHER_ID = 'task-0'

const ENGINE_INPUTS: ReadonlySet<ScriptInput['kind']> = new Set(['data', 'push', 'run', 'resume'])

export async function runEngine(rule: Rule, script: Script, options: EngineRunOptions = {}): Promise<EngineEvent[]> {
  const events: EngineEvent[] = []
  const made = new Map<string, number>()
  let stage = open(SCRIPT_START, events, options, made)
  if (options.beside) await stage.engine.start(options.beside, { id: OTHER_ID })
  await stage.engine.start(rule, { id: TASK_ID })
  await promisesSettled()
  for (let n = -1; n < script.length; n++) {
    const step = script[n]
    if (step) {
      const time = SCRIPT_START + step.at
      // at an unchanged time, the engine must find by itself what is due before its input
      if (stage.clock.now() < time || !ENGINE_INPUTS.has(step.input.kind)) stage.clock.advanceTo(time)
      await promisesSettled()
      await take(stage, step.input)
      await promisesSettled()
    }
    if (options.restartAfter?.(n)) {
      const saved = JSON.stringify([...stage.engine.tasks.values()].map((task) => task.save()))
      stage.close()
      stage = open(stage.clock.now(), events, options, made)
      for (const task of JSON.parse(saved) as SavedTask[]) await stage.engine.restore(task)
      await promisesSettled()
    }
  }
  stage.clock.advanceTo(stage.clock.now())
  await promisesSettled()
  const task = stage.engine.tasks.get(TASK_ID)
  if (task) options.atEnd?.(task, stage.engine)
  stage.close()
  return events
}

type Stage = ReturnType<typeof open>

function open(now: number, events: EngineEvent[], options: EngineRunOptions, made: Map<string, number>) {
  const clock = new VirtualClock(now)
  const calls = new OpenCalls()
  const engine = createEngine({
    plugs: asPlugs(calls, options.onCall, made, options.looksAtLittle),
    scheduler: clock,
    ids: () => {
      throw new Error('all scripted tasks have ids')
    },
    seed: 1,
    ...(options.why === undefined ? {} : { why: options.why }),
    ...(options.runsAtStart === true && { runsAtStart: true }),
  })
  const subscription = engine.events(options.types && { types: options.types }).subscribe((event) => {
    if (event.task === TASK_ID) events.push(event)
  })
  return { clock, calls, engine, close: () => subscription.unsubscribe() }
}

async function take({ engine, calls }: Stage, input: ScriptInput): Promise<void> {
  const task = engine.tasks.get(TASK_ID)
  const running = task?.status === 'running'
  if (input.kind === 'start') {
    if (!running) await engine.start(TASK_ID)
    return
  }
  if (!task || !running) return
  switch (input.kind) {
    case 'wait':
      return
    case 'data':
      // a row may take a single message, but never an array
      engine.receive((input.messages.length === 1 && input.messages[0]) || input.messages)
      return
    case 'push':
      return task.push(input.node, pushed(input))
    case 'run':
      return task.run(input.node)
    case 'resume':
      return task.resume(input.node)
    case 'settle':
      return calls.settle(input.node, input.state)
    case 'stop':
      await engine.stop(TASK_ID)
  }
}

function pushed({ state, rawData }: { state?: string; rawData?: Record<string, unknown> }) {
  return { ...(state === undefined ? {} : { state }), ...(rawData === undefined ? {} : { rawData }) }
}

/** Lets ready promises settle, without advancing the virtual clock. */
function promisesSettled(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}
