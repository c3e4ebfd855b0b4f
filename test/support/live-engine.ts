/** One task on a virtual clock that stands at 0, with everything that happens written down. */
import type { Engine, SavedTask, StartSettings, Task } from '../../src/core/engine/api.ts'
import type { EngineEvent, EventType, FiredEvent } from '../../src/core/engine/events.ts'
import type { Rule, Template } from '../../src/core/rule/rule.ts'
import { createEngine, VirtualClock, type CreateEngineOptions } from '../../src/index.ts'
import { ScriptedPlugs } from './scripted-plugs.ts'

export const TASK_ID = 't'

export interface Live {
  readonly engine: Engine
  readonly clock: VirtualClock
  readonly plugs: ScriptedPlugs
  readonly events: EngineEvent[]
  readonly task: Task
  /** events as short lines, of some types or all; `time type ...` */
  lines(...types: EventType[]): string[]
  /** destinations in the order in which they fired, as `time destination` */
  fired(): string[]
  firings(): FiredEvent[]
  /** moves the clock; all timers on the way act. Only for plugs that answer at once */
  to(time: number): void
  /** the same, and lets promises run at each instant at which something happens */
  wait(time: number): Promise<void>
  /** hands in a message of the values for resource `r` */
  send(values: Record<string, unknown>, resource?: string): boolean
  /** forgets what was written down */
  clear(): void
}

export type LiveOptions = Partial<CreateEngineOptions> & {
  plugs?: never
  clock?: VirtualClock
  scripted?: ScriptedPlugs
}

/** An engine without a task. */
export function liveEngine({ clock = new VirtualClock(0), scripted, ...options }: LiveOptions = {}) {
  const plugs = scripted ?? new ScriptedPlugs()
  const engine = createEngine({ ids: () => TASK_ID, seed: 1, ...options, scheduler: clock, plugs: plugs.plugs })
  const events: EngineEvent[] = []
  engine.events$.subscribe((event) => events.push(event))
  return { engine, clock, plugs, events }
}

/** Starts a rule and lets what is due at once happen. */
export async function live(
  rule: Rule | Template,
  options: LiveOptions & { settings?: StartSettings; script?: (plugs: ScriptedPlugs) => void } = {},
): Promise<Live> {
  const { settings, script, ...rest } = options
  const base = liveEngine(rest)
  script?.(base.plugs)
  const task = await base.engine.start(rule, settings)
  await promisesSettled()
  base.clock.advanceTo(base.clock.now())
  await promisesSettled()
  return handle(base, task)
}

/**
 * Another engine that goes on with a saved task, as after a restart. It shares the plugs and the record of events. `changed`:
 * the task as another version would have saved it.
 */
export async function restarted(
  before: Live,
  at = before.clock.now(),
  changed: (saved: SavedTask) => SavedTask = (saved) => saved,
): Promise<Live> {
  const saved = changed(JSON.parse(JSON.stringify(before.task.save())) as SavedTask)
  await before.engine.close()
  const base = liveEngine({ clock: new VirtualClock(at), scripted: before.plugs })
  const task = await base.engine.restore(saved)
  await promisesSettled()
  base.clock.advanceTo(at)
  await promisesSettled()
  return handle(base, task)
}

export function handle(base: ReturnType<typeof liveEngine>, task: Task): Live {
  const { engine, clock, events } = base
  const firings = (): FiredEvent[] => events.filter((event) => event.type === 'fired')
  return {
    ...base,
    task,
    lines: (...types) => events.filter((event) => types.length === 0 || types.includes(event.type)).map(line),
    firings,
    fired: () => firings().map((event) => `${event.time} ${event.node}`),
    to: (time) => clock.advanceTo(time),
    wait: async (time) => {
      for (let next = clock.nextAt(); next !== undefined && next <= time; next = clock.nextAt()) {
        clock.advanceTo(next)
        await promisesSettled()
      }
      clock.advanceTo(time)
      await promisesSettled()
    },
    send: (values, resource = 'r') => engine.receive({ resource, ...values }),
    clear: () => void (events.length = 0),
  }
}

/** Lets promises that are ready run; no time passes on the virtual clock. */
export function promisesSettled(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}

/** One event as people would write it down. */
export function line(event: EngineEvent): string {
  return [event.time, event.type, ...details(event)].join(' ')
}

function details(event: EngineEvent): readonly (string | number)[] {
  switch (event.type) {
    case 'started':
      return [event.run]
    case 'tick':
      return event.node === undefined ? [] : [event.node]
    case 'data':
      return [event.resource]
    case 'state':
    case 'gate':
      return [event.node, `${event.from ?? '?'}>${event.to ?? '?'}`]
    case 'fired':
      return [`${event.source}>${event.node}`]
    case 'held':
      return [`${event.source === undefined ? '' : `${event.source}>`}${event.node}`, event.reason]
    case 'result':
      return event.ok ? [event.node, event.state ?? '-'] : [event.node, 'failed:', event.error ?? '']
    case 'evicted':
      return [event.node, event.from]
    case 'log':
      return [event.level, event.message]
    case 'stopped':
      return [event.reason]
    case 'failed':
      return [event.error]
  }
}
