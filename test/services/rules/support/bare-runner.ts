/** A runner over a plain engine, without a log or a store, for tests of the service. */
import { filter, Subject } from 'rxjs'
import type { SchedulerLike } from 'rxjs'
import { resolveResources } from '../../../../src/core/engine/model.ts'
import { Preparer } from '../../../../src/core/engine/prepare.ts'
import {
  createEngine,
  createRegistry,
  type Engine,
  type EngineEvent,
  type Plug,
  type Ports,
} from '../../../../src/index.ts'
import { AppError } from '../../../../src/kernel/errors.ts'
import { Shadows } from '../../../../src/services/rules/durable/shadows.ts'
import type {
  EndedRun,
  NodeControl,
  PlannedChange,
  RunnableTask,
  TaskChange,
  TaskRunner,
} from '../../../../src/services/rules/runner.ts'

export interface BareOptions {
  readonly plugs: readonly Plug[]
  readonly ports?: Ports
  readonly scheduler?: SchedulerLike
}

/** Number of events stored per task */
export const KEPT_EVENTS = 100

export class BareRunner implements TaskRunner {
  readonly events$ = new Subject<EngineEvent>()
  readonly ended$ = new Subject<EndedRun>()
  readonly shadows = new Shadows()
  /** What was applied and resumed, as short lines */
  readonly told: string[] = []
  readonly #ports: Ports | undefined
  readonly #preparer: Preparer
  readonly #engine: Engine
  readonly #tasks = new Map<string, RunnableTask>()

  constructor(options: BareOptions) {
    const { plugs, ports, scheduler } = options
    this.#ports = ports
    this.#preparer = new Preparer(createRegistry(plugs))
    const history = { perTask: KEPT_EVENTS }
    this.#engine = createEngine({ plugs, history, ...(ports && { ports }), ...(scheduler && { scheduler }) })
    this.#engine.events$.subscribe((event) => {
      this.events$.next(event)
      const task = this.#tasks.get(event.task)
      if (event.type === 'stopped' && event.reason === 'finished' && task) {
        this.ended$.next({ id: task.id, epoch: task.epoch, status: 'stopped', finishedTime: event.time })
      }
    })
  }

  get reports(): TaskRunner['reports'] {
    return {
      history: (id, after) => this.#engine.history(id, after),
      lifecycle$: this.events$.pipe(filter(isRare)),
      watch: (id) => this.events$.pipe(filter(({ task }) => task === id)),
      ended$: this.ended$,
    }
  }

  async plan(change: TaskChange): Promise<PlannedChange> {
    if (change.kind !== 'begin' && change.kind !== 'change')
      return { writes: [], resourceIds: [], apply: () => this.#end(change) }
    const { task } = change
    const prepared = this.#preparer.prepare(task.source, task.settings)
    const resolved = await resolveResources(task.id, prepared, this.#ports ?? {})
    return {
      writes: [],
      resourceIds: [...new Set(resolved)],
      apply: () => (change.kind === 'begin' ? this.#begin(task) : this.#change(task)),
    }
  }

  async resume(tasks: readonly RunnableTask[]): Promise<void> {
    for (const task of tasks) {
      this.told.push(`resume ${task.id} ${task.epoch}`)
      try {
        await this.#begin(task)
      } catch (error) {
        const text = error instanceof AppError ? error.message : 'unknown'
        this.ended$.next({ id: task.id, epoch: task.epoch, status: 'failed', finishedTime: 0, error: text })
      }
    }
  }

  readonly nodes: NodeControl = {
    info: (id) => this.#engine.tasks.get(id)?.info(),
    view: (id, label) => {
      const running = this.#engine.tasks.get(id)
      const { source } = this.#tasks.get(id) ?? {}
      if (!running || !source) return []
      const all = [...(source.sensors ?? []), ...(source.relations ?? []), ...(source.actuators ?? [])]
      return all.filter((node) => label === undefined || node.label === label).map((node) => running.node(node.label))
    },
    push: async (task, node, value) => this.#task(task).push(node, value),
    command: async (task, node, operation) =>
      operation === 'start' ? this.#task(task).run(node) : this.#task(task).resume(node),
    resync: async (task) => this.#task(task).resync(),
    explain: (task, node) => this.#task(task).explain(node),
    deliveries: async () => [],
    storedDeliveries: async () => [],
    unstoredDeliveries: async () => [],
    retry: async () => Promise.reject(new AppError('NOT_FOUND', 'no deliveries are kept')),
  }

  readonly intake: TaskRunner['intake'] = {
    receive: async (posts) => {
      const taken = posts.filter(({ messages, channel, hops }) =>
        this.#engine.receive(messages, {
          ...(channel !== undefined && { channel }),
          ...(hops !== undefined && { hops }),
        }),
      )
      return { taken: taken.length > 0, results: [] }
    },
  }

  async close(): Promise<void> {
    await this.#engine.close()
  }

  async #begin(task: RunnableTask): Promise<void> {
    this.told.push(`begin ${task.id} ${task.epoch}`)
    if (this.#engine.tasks.has(task.id)) await this.#engine.remove(task.id, { force: true })
    this.#tasks.set(task.id, task)
    await this.#engine.start(task.source, { ...task.settings, id: task.id, start: true })
  }

  async losses(task: RunnableTask) {
    const running = this.#engine.tasks.get(task.id)?.status === 'running'
    if (!running || this.#tasks.get(task.id)?.epoch !== task.epoch) return undefined
    return this.#engine.whatChanges(task.id, task.source, task.settings)
  }

  async #change(task: RunnableTask): Promise<void> {
    this.told.push(`change ${task.id} ${task.epoch}`)
    this.#tasks.set(task.id, task)
    await this.#engine.change(task.id, task.source, task.settings)
  }

  async #end(change: Exclude<TaskChange, { kind: 'begin' | 'change' }>): Promise<void> {
    const { id } = change
    this.told.push(`${change.kind} ${id}`)
    const engine = this.#engine
    if (!engine.tasks.has(id)) return
    if (change.kind === 'forget') await engine.remove(id, { force: true })
    else if (engine.tasks.get(id)?.status === 'running') await engine.stop(id)
  }

  #task(id: string) {
    const running = this.#engine.tasks.get(id)
    if (running) return running
    throw new AppError('NOT_FOUND', `Task with id ${id} not found`)
  }
}

function isRare(event: EngineEvent): boolean {
  if (event.type === 'result') return !event.ok
  return ['started', 'stopped', 'failed', 'log'].includes(event.type)
}
