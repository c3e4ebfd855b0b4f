/** A runner over bare engines, one per tenant: no log, no outbox, nothing that survives. For tests of the service. */
import { filter, map, Subject } from 'rxjs'
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
import type {
  EndedRun,
  NodeControl,
  PlannedChange,
  RunnableTask,
  TaskChange,
  TaskRef,
  TaskRunner,
  TenantEvent,
} from '../../../../src/services/rules/runner.ts'

export interface BareOptions {
  readonly plugs: readonly Plug[]
  readonly ports?: Ports
  readonly scheduler?: SchedulerLike
}

/** of each task */
export const KEPT_EVENTS = 100

export class BareRunner implements TaskRunner {
  readonly events$ = new Subject<TenantEvent>()
  readonly ended$ = new Subject<EndedRun>()
  /** what was applied and resumed, as short lines */
  readonly told: string[] = []
  readonly #options: BareOptions
  readonly #preparer: Preparer
  readonly #engines = new Map<string, Engine>()
  readonly #tasks = new Map<string, RunnableTask>()

  constructor(options: BareOptions) {
    this.#options = options
    this.#preparer = new Preparer(createRegistry(options.plugs))
  }

  get reports(): TaskRunner['reports'] {
    return {
      history: ({ tenant, id }, after) => this.#engine(tenant).history(id, after),
      rare$: this.events$.pipe(filter(({ event }) => isRare(event))),
      watch: ({ tenant, id }) =>
        this.events$.pipe(
          filter((told) => told.tenant === tenant && told.event.task === id),
          map(({ event }) => event),
        ),
      ended$: this.ended$,
    }
  }

  async plan(change: TaskChange): Promise<PlannedChange> {
    if (change.kind !== 'begin' && change.kind !== 'change')
      return { writes: [], resourceIds: [], apply: () => this.#end(change) }
    const { task } = change
    const prepared = this.#preparer.prepare(task.source, task.settings)
    const resolved = await resolveResources(task.id, prepared, this.#options.ports ?? {})
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
        this.ended$.next({ task, epoch: task.epoch, status: 'failed', finishedTime: 0, error: text })
      }
    }
  }

  readonly nodes: NodeControl = {
    info: (task) => this.#engine(task.tenant).tasks.get(task.id)?.info(),
    view: (task, label) => {
      const running = this.#engine(task.tenant).tasks.get(task.id)
      const { source } = this.#tasks.get(keyOf(task)) ?? {}
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
  }

  readonly intake: TaskRunner['intake'] = {
    receive: async (tenant, messages, { channel, hops } = {}) => {
      const sent = { ...(channel !== undefined && { channel }), ...(hops !== undefined && { hops }) }
      return { taken: this.#engine(tenant).receive(messages, sent), results: [] }
    },
    receiveAll: async (tenant, posts) => {
      for (const { messages, hops = 0 } of posts) this.#engine(tenant).receive(messages, { hops })
      return []
    },
  }

  async close(): Promise<void> {
    for (const engine of this.#engines.values()) await engine.close()
  }

  async #begin(task: RunnableTask): Promise<void> {
    this.told.push(`begin ${task.id} ${task.epoch}`)
    const engine = this.#engine(task.tenant)
    if (engine.tasks.has(task.id)) await engine.remove(task.id, { force: true })
    this.#tasks.set(keyOf(task), task)
    await engine.start(task.source, { ...task.settings, id: task.id, start: true })
  }

  async losses(task: RunnableTask) {
    const running = this.#engine(task.tenant).tasks.get(task.id)?.status === 'running'
    if (!running || this.#tasks.get(keyOf(task))?.epoch !== task.epoch) return undefined
    return this.#engine(task.tenant).whatChanges(task.id, task.source, task.settings)
  }

  async #change(task: RunnableTask): Promise<void> {
    this.told.push(`change ${task.id} ${task.epoch}`)
    this.#tasks.set(keyOf(task), task)
    await this.#engine(task.tenant).change(task.id, task.source, task.settings)
  }

  async #end(change: Exclude<TaskChange, { kind: 'begin' | 'change' }>): Promise<void> {
    const { tenant, id } = change.task
    this.told.push(`${change.kind} ${id}`)
    const engine = this.#engine(tenant)
    if (!engine.tasks.has(id)) return
    if (change.kind === 'forget') await engine.remove(id, { force: true })
    else if (engine.tasks.get(id)?.status === 'running') await engine.stop(id)
  }

  #task(task: TaskRef) {
    const running = this.#engine(task.tenant).tasks.get(task.id)
    if (running) return running
    throw new AppError('NOT_FOUND', `Task with id ${task.id} not found`)
  }

  #engine(tenant: string): Engine {
    const known = this.#engines.get(tenant)
    if (known) return known
    const { plugs, ports, scheduler } = this.#options
    const history = { perTask: KEPT_EVENTS }
    const engine = createEngine({ plugs, history, ...(ports && { ports }), ...(scheduler && { scheduler }) })
    engine.events$.subscribe((event) => {
      this.events$.next({ tenant, event })
      const task = this.#tasks.get(keyOf({ tenant, id: event.task }))
      if (event.type === 'stopped' && event.reason === 'finished' && task) {
        this.ended$.next({ task, epoch: task.epoch, status: 'stopped', finishedTime: event.time })
      }
    })
    this.#engines.set(tenant, engine)
    return engine
  }
}

function isRare(event: EngineEvent): boolean {
  if (event.type === 'result') return !event.ok
  return ['started', 'stopped', 'failed', 'log'].includes(event.type)
}

function keyOf({ tenant, id }: TaskRef): string {
  return `${tenant}\n${id}`
}
