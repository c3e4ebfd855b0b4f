/** Runs one task on a virtual clock that starts at 0, and records everything that happens. */
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
  /** events of some types, or all, as short lines: `time type ...` */
  lines(...types: EventType[]): string[]
  /** destinations in firing order, as `time destination` */
  fired(): string[]
  firings(): FiredEvent[]
  /** moves the clock and runs all timers on the way; only for plugs that finish at once */
  to(time: number): void
  /** same, but also settles promises at each instant at which something happens */
  wait(time: number): Promise<void>
  /** sends a message with these values for resource `r` */
  send(values: Record<string, unknown>, resource?: string): boolean
  /** clears the record */
  clear(): void
}

export type LiveOptions = Partial<CreateEngineOptions> & {
  plugs?: never
  clock?: VirtualClock
  scripted?: ScriptedPlugs
}

/** Creates an engine without a task. */
export function liveEngine({ clock = new VirtualClock(0), scripted, ...options }: LiveOptions = {}) {
  const plugs = scripted ?? new ScriptedPlugs()
  const engine = createEngine({ ids: () => TASK_ID, seed: 1, ...options, scheduler: clock, plugs: plugs.plugs })
  const events: EngineEvent[] = []
  engine.events$.subscribe((event) => events.push(event))
  return { engine, clock, plugs, events }
}

/** Starts a rule, and runs what is due at once. */
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
 * Restores a saved task in another engine, as after a restart, with the same plugs and record of events. `changed`: the
 * task as another version would have saved it.
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

/** Lets ready promises settle, without advancing the virtual clock. */
export function promisesSettled(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}

/** Formats an event for readers. */
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
