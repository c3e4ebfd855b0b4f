/** Runs tasks so that they survive a crash (RUNNER-1 to RUNNER-4); open calls are repeated under the same id. */
import { Observable, type SchedulerLike, Subject } from 'rxjs'
import { type Counts, type EngineStats, followPlugs, Preparer } from '#core/spi'
import type { EngineEvent, Lost, Plug, Ports } from '#core'
import { AppError } from '#kernel'
import { TenantLog } from '#log'
import type { Store } from '#storage'
import type {
  EndedRun,
  NodeControl,
  PlannedChange,
  RunnableTask,
  RunReports,
  TaskChange,
  TaskRunner,
} from '../runner.ts'
import { CHECKPOINT_SETTINGS, type CheckpointSettings } from './checkpoints.ts'
import type { DeliveryCounts } from './delivery-ledger.ts'
import type { EndOfRun, EngineSettings } from './deterministic-engine.ts'
import { FiringTap } from './firing-tap.ts'
import { LeadingClock } from './leading-clock.ts'
import { deleteKept, InputKeeper, type KeepLimits } from '../inputs/input-keeper.ts'
import { Past } from '../inputs/task-past.ts'
import { closed, LiveTasks } from './live-tasks.ts'
import { TaskDeliveries } from './task-deliveries.ts'
import { isShadow } from './shadow-id.ts'
import { shadowPlugs } from './shadow-plugs.ts'
import { Shadows } from './shadows.ts'

export interface DurableOptions extends Omit<EngineSettings, 'plugs'> {
  /** the plugs that rules may name; the same array until they change. A running task keeps the plugs it started with */
  readonly plugs: () => readonly Plug[]
  readonly store: Store
  readonly log?: TenantLog
  readonly scheduler: SchedulerLike
  /** delay and size limits of checkpoints */
  readonly checkpoints?: Partial<CheckpointSettings>
  /** messages that wait in all tasks together; beyond it, posts fail with `RATE_LIMITED`; default 1,000,000 */
  readonly maxWaitingMessages?: number
  /** returns the number of messages that wait in all tasks of the host; default: in those of this runner */
  readonly waitingInAll?: () => number
  /** called with the time that the tasks have reached, epoch ms; `scheduler` should not be behind that time */
  readonly reached?: (time: number) => void
  /** minimum ms between two wake-ups for timers; timers still act at their exact time; default 0 */
  readonly restMs?: number
  /** limits for keeping inputs; absent: none are kept */
  readonly keepInputs?: KeepLimits | undefined
  /** Returns the age in ms after which kept inputs are dropped earlier than by `keepInputs`; undefined: none */
  readonly inputAge?: () => number | undefined
}

export interface DurableRunner extends TaskRunner {
  readonly queued: number
  readonly waiting: number
  readonly trouble: string | undefined
  readonly leadMs: number
  readonly counts: RunnerCounts | undefined
  /** calls of plugs that failed for good, since the start of the process */
  readonly failedCalls: number
  readonly stats: EngineStats | undefined
  /** undefined: no inputs are kept */
  readonly inputs: InputKeeper | undefined
  readonly past: Past
  readonly firings: FiringTap
  readonly shadows: Shadows
  /** Compares the members of groups with the resources, which may have changed. Returns at once. */
  resourcesChanged(): void
  /** Idempotent; open calls of plugs are repeated at the next start. */
  close(): Promise<void>
}

export interface RunnerCounts extends Counts {
  readonly inputs: number
  readonly deliveries: DeliveryCounts
}

export const KEPT_EVENTS = { perTask: 100, inAll: 100_000 }

const MAX_WAITING = 1_000_000

export function openDurableRunner(options: DurableOptions): DurableRunner {
  return new Runner(options)
}

class Runner implements DurableRunner {
  readonly #options: DurableOptions
  readonly #log: TenantLog
  readonly #clock: LeadingClock
  readonly inputs: InputKeeper | undefined
  readonly past: Past
  readonly firings = new FiringTap()
  readonly shadows = new Shadows()
  readonly #opened = new Subject<LiveTasks>()
  readonly #deliveries: TaskDeliveries
  failedCalls = 0
  readonly #lifecycle = new Subject<EngineEvent>()
  readonly #ended = new Subject<EndedRun>()
  readonly #closed = new Subject<void>()
  #opening: Promise<LiveTasks> | undefined
  #tasks: LiveTasks | undefined
  #closing: Promise<void> | undefined

  constructor(options: DurableOptions) {
    this.#options = options
    this.#log = options.log ?? new TenantLog(options.store)
    this.#clock = new LeadingClock(options.scheduler)
    const { store, keepInputs: limits, inputAge: age, logger } = options
    const now = () => this.#clock.now()
    const tasks = {
      ids: () => [...(this.#engine?.tasks.keys() ?? [])].filter((id) => !isShadow(id)),
      checkpoint: (id: string) => this.#tasks?.checkpoint(id),
    }
    if (limits !== undefined) this.inputs = new InputKeeper({ store, log: this.#log, limits, age, now, tasks, logger })
    const { inputs } = this
    const [settings, open] = [settingsOf(options), () => this.#open()]
    this.past = new Past({ inputs, settings, plugs: options.plugs, tasks: open })
    const { plugs, ports } = options
    this.#deliveries = new TaskDeliveries({ store, settings: { ...settings, ...(ports && { ports }) }, plugs, open })
  }

  readonly reports: RunReports = {
    history: (task, after) => this.#engine?.history(task, after) ?? { events: [], last: 0, isWhole: true },
    lifecycle$: this.#lifecycle.asObservable(),
    watch: (task) => this.#watch(task),
    ended$: this.#ended.asObservable(),
  }

  get leadMs(): number {
    return this.#clock.leadMs
  }

  get queued(): number {
    return this.#tasks?.queued ?? 0
  }

  get waiting(): number {
    return this.#tasks?.waiting ?? 0
  }

  get trouble(): string | undefined {
    for (const [id, error] of this.#tasks?.unstored ?? []) {
      const name = JSON.stringify(this.#engine?.tasks.get(id)?.name ?? '')
      return `the state of task ${id} ${name} is not stored: ${error}`
    }
    return undefined
  }

  get counts(): RunnerCounts | undefined {
    const { inputs, deterministic } = this.#tasks ?? {}
    return (
      deterministic && { inputs: inputs ?? 0, ...deterministic.engine.counts, deliveries: deterministic.ledger.counts }
    )
  }

  get stats(): EngineStats | undefined {
    return this.#engine?.stats()
  }

  get #engine(): LiveTasks['deterministic']['engine'] | undefined {
    return this.#tasks?.deterministic.engine
  }

  async plan(change: TaskChange): Promise<PlannedChange> {
    return (await this.#open()).plan(change)
  }

  async losses(task: RunnableTask): Promise<readonly Lost[] | undefined> {
    return (await this.#open()).losses(task)
  }

  async resume(tasks: readonly RunnableTask[]): Promise<void> {
    await (await this.#open()).resume(tasks)
  }

  readonly nodes: NodeControl = {
    info: (id) => {
      const info = this.#running(id)?.info()
      return info && { ...info, createTime: this.#tasks?.deterministic.task(id)?.createTime ?? info.createTime }
    },
    view: (id, label) => {
      const running = this.#running(id)
      if (running === undefined) return []
      const { sensors = [], relations = [], actuators = [] } = running.prepared.rule
      if (label === undefined) return running.nodes()
      return [...sensors, ...relations, ...actuators].some((one) => one.label === label) ? [running.node(label)] : []
    },
    push: async (id, node, value) => (await this.#open()).send({ k: 'push', t: id, n: node, v: value }),
    command: async (id, node, operation) => (await this.#open()).send({ k: 'command', t: id, n: node, o: operation }),
    resync: async (id) => (await this.#open()).send({ k: 'resync', t: id }),
    explain: (id, node) => {
      const running = this.#running(id)
      if (running !== undefined) return running.explain(node)
      // tasks leave the engine during a stop, so a missing task may exist
      throw this.#closing === undefined ? new AppError('NOT_FOUND', `Task with id ${id} not found`) : closed()
    },
    deliveries: (id, query) => this.#deliveries.deliveries(id, query),
    storedDeliveries: (query, after) => this.#deliveries.storedDeliveries(query, after),
    unstoredDeliveries: () => this.#deliveries.unstoredDeliveries(),
    retry: (id, delivery) => this.#deliveries.retry(id, delivery),
  }

  readonly intake: TaskRunner['intake'] = {
    // calls `receive` in the same turn where possible, so that later calls of the turn stay behind it
    receive: async (...args) => ((this.#closing === undefined && this.#tasks) || (await this.#open())).receive(...args),
  }

  resourcesChanged(): void {
    if (this.#closing === undefined) this.#tasks?.groups?.refresh()
  }

  close(): Promise<void> {
    if (this.#closing === undefined) this.#tasks?.closing()
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    await this.#opening?.catch(() => undefined)
    try {
      await this.inputs?.stop()
      await this.#tasks?.close()
    } finally {
      this.#closed.next()
      this.#ended.complete()
      this.#lifecycle.complete()
    }
  }

  #running(id: string) {
    this.#tasks?.catchUp()
    return this.#engine?.tasks.get(id)
  }

  #open(): Promise<LiveTasks> {
    if (this.#closing !== undefined) return Promise.reject(closed())
    if (this.#opening === undefined) {
      this.#opening = this.#openTasks()
      this.#opening.catch(() => (this.#opening = undefined))
    }
    return this.#opening
  }

  async #openTasks(): Promise<LiveTasks> {
    const { store, checkpoints, restMs = 0, reached, keepInputs, plugs, ports } = this.#options
    const settings = settingsOf(this.#options)
    if (this.inputs === undefined) await deleteKept(store)
    else await this.inputs.start()
    const registry = followPlugs(plugs)
    const tasks = await LiveTasks.open({
      store,
      log: this.#log,
      engine: {
        ...settings,
        observed: (engine) => {
          this.firings.attach(engine)
          return this.shadows.attach(engine)
        },
        shadowPreparer: new Preparer(
          followPlugs(() => shadowPlugs(plugs())),
          settings,
        ),
        history: KEPT_EVENTS,
        plugs: registry,
        ...(ports && { ports: laterPorts(ports) }),
      },
      preparer: new Preparer(registry, settings),
      scheduler: this.#clock,
      checkpoints: { ...CHECKPOINT_SETTINGS, ...checkpoints },
      restMs,
      keepsInputs: keepInputs !== undefined,
      requireRoom: () => this.#requireRoom(),
      shadows: this.shadows,
      ended: (run) => this.#noteEnd(run),
      lifecycle: (event) => {
        if (event.type === 'result' && !event.ok) this.failedCalls++
        if (this.shadows.noteRare(event)) this.#lifecycle.next(event)
      },
    })
    reached?.(tasks.deterministic.now)
    this.#clock.atLeast(tasks.deterministic.now)
    this.#tasks = tasks
    this.#opened.next(tasks)
    return tasks
  }

  #noteEnd(run: EndOfRun): void {
    const { id } = run.task
    if (!isShadow(id)) this.#ended.next(endedRun(run))
    else this.shadows.listener?.ended(id, run.error ?? 'its run is over')
  }

  #requireRoom(): void {
    const { maxWaitingMessages = MAX_WAITING, waitingInAll } = this.#options
    if ((waitingInAll?.() ?? this.waiting) < maxWaitingMessages) return
    const text = `${maxWaitingMessages} messages wait for tasks that are slower than their input; retry later`
    throw new AppError('RATE_LIMITED', text)
  }

  #watch(id: string): Observable<EngineEvent> {
    return new Observable<EngineEvent>((subscriber) => {
      const listen = ({ deterministic }: LiveTasks) =>
        subscriber.add(deterministic.engine.events({ tasks: [id] }).subscribe((event) => subscriber.next(event)))
      if (this.#tasks === undefined) subscriber.add(this.#opened.subscribe(listen))
      else listen(this.#tasks)
      subscriber.add(this.#closed.subscribe(() => subscriber.complete()))
    })
  }
}

function settingsOf(options: DurableOptions): Omit<EngineSettings, 'plugs' | 'ports'> {
  const {
    store: _store,
    log: _log,
    scheduler: _scheduler,
    checkpoints: _checkpoints,
    restMs: _rest,
    maxWaitingMessages: _most,
    waitingInAll: _waiting,
    reached: _reached,
    keepInputs: _kept,
    inputAge: _age,
    plugs: _plugs,
    ports: _ports,
    ...settings
  } = options
  return settings
}

function endedRun({ task, status, time, error }: EndOfRun): EndedRun {
  return { id: task.id, epoch: task.epoch, status, finishedTime: time, ...(error !== undefined && { error }) }
}

/** A port may answer otherwise in a replay, so results must be inputs; only asynchronous results are. */
function laterPorts({ metadata, secret, latestValue, members }: Ports): Ports {
  return {
    ...(members && { members }),
    ...(metadata && { metadata: async (resource) => metadata(resource) }),
    ...(secret && { secret: async (key) => secret(key) }),
    ...(latestValue && { latestValue: async (resource, metric) => latestValue(resource, metric) }),
  }
}
