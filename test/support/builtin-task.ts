/** Runs one task of built-in plugs on a virtual clock that begins at 0. */
import { builtins } from '../../plugins/index.ts'
import type { SavedTask, Task } from '../../src/core/engine/api.ts'
import type { EngineEvent } from '../../src/core/engine/events.ts'
import type { Rule } from '../../src/core/rule/rule.ts'
import type { DowntimeInterval } from '../../src/core/task/saved.ts'
import { createEngine, VirtualClock } from '../../src/index.ts'

export interface BuiltinTask {
  readonly task: Task
  readonly clock: VirtualClock
  /** state changes of a node, as `time state` */
  states(node: string): readonly string[]
  /** destinations in firing order, as `time destination` */
  fired(): readonly string[]
  send(values: Record<string, unknown>): void
  /** resolves when no plug has an open call */
  settled(): Promise<void>
  /** restores the task in another engine whose clock is at `at`; `away`: downtime in between */
  restart(at?: number, away?: DowntimeInterval): Promise<BuiltinTask>
}

export async function startBuiltins(rule: Rule): Promise<BuiltinTask> {
  return onClock(new VirtualClock(0), [], (engine) => engine.start(rule, { id: 't', resource: 'r' }))
}

async function onClock(
  clock: VirtualClock,
  events: EngineEvent[],
  begin: (engine: ReturnType<typeof createEngine>) => Promise<Task>,
): Promise<BuiltinTask> {
  const engine = createEngine({ plugs: builtins, scheduler: clock, seed: 1 })
  engine.events$.subscribe((event) => events.push(event))
  const task = await begin(engine)
  clock.advanceTo(clock.now())
  return {
    task,
    clock,
    states: (node) =>
      events.flatMap((event) =>
        event.type === 'state' && event.node === node && event.to !== null ? [`${event.time} ${event.to}`] : [],
      ),
    fired: () => events.flatMap((event) => (event.type === 'fired' ? [`${event.time} ${event.node}`] : [])),
    send: (values) => void engine.receive({ resource: 'r', ...values }),
    settled: () => engine.settled(),
    async restart(at = clock.now(), away) {
      const saved = JSON.parse(JSON.stringify(task.save())) as SavedTask
      await engine.close()
      return onClock(new VirtualClock(at), events, (next) => next.restore(saved, away && { away }))
    },
  }
}
