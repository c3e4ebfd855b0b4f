/**
 * The runner that survives: inputs are durable before they are acknowledged, states are stored with the position of the
 * log that they reflect, and after a crash every task goes on as if nothing had been (RUNNER-1 to RUNNER-5).
 *
 * A task's deliveries are calls of its actuators that did not answer at once. Their ids are those of effects, so that a
 * call that was under way in a crash is made again under the same id; the rule's own retries decide how often.
 */
import { Observable, type SchedulerLike, Subject } from 'rxjs'
import { type Counts, type EngineStats, followPlugs, noCounts, Preparer, sumOfStats } from '#core/spi'
import type { EngineEvent, Lost, Plug, Ports } from '#core'
import { AppError, perTenant } from '#kernel'
import { TenantLog } from '#log'
import type { Store } from '#storage'
import type {
  EndedRun,
  NodeControl,
  PlannedChange,
  RunnableTask,
  RunReports,
  TaskChange,
  TaskRef,
  TaskRunner,
  TenantEvent,
} from '../runner.ts'
import type { Delivery, DeliveryQuery } from '../inspection/inspection-schema.ts'
import { CHECKPOINT_SETTINGS, type CheckpointSettings } from './checkpoints.ts'
import { DELIVERIES, MAX_DELIVERIES, newestOf } from './records.ts'
import type { EndOfRun, EngineSettings } from './deterministic-engine.ts'
import { LeadingClock } from './leading-clock.ts'
import { closed, TenantRunner } from './tenant-runner.ts'

export interface DurableOptions extends Omit<EngineSettings, 'plugs' | 'ports'> {
  /** the plugs that rules of a tenant may name; the same list until they are others. Tasks keep what they began with */
  readonly plugs: (tenant: string) => readonly Plug[]
  /** what rules of a tenant may ask of the outside */
  readonly ports?: (tenant: string) => Ports
  /** the store of a tenant */
  readonly store: (tenant: string) => Store
  /** its log, which the broker writes to; default: one that the runner has to itself */
  readonly log?: (tenant: string) => TenantLog
  /** real time: what it is, in epoch ms, and what wakes us */
  readonly scheduler: SchedulerLike
  /** how long states may wait to be stored, which a restart then makes up from the log, and how large they may be */
  readonly checkpoints?: Partial<CheckpointSettings>
  /** messages that may wait in all tasks together; then posts are refused with `RATE_LIMITED`; default 1,000,000 */
  readonly maxWaitingMessages?: number
  /** messages that wait in all tasks, where others than those of this runner count too */
  readonly waitingInAll?: () => number
  /** told of the time that the tasks of a tenant have reached, epoch ms: `scheduler` should not be behind it */
  readonly reached?: (time: number) => void
  /** before a task of the tenant is bound to those resources: it hears whatever is acknowledged of them after that */
  readonly bind?: (tenant: string, resources: readonly string[]) => Promise<void>
  /** least ms between two wake-ups by timers; timers act at their own time all the same; default 0 */
  readonly restMs?: number
}

export interface DurableRunner extends TaskRunner {
  /** inputs that wait to be stored and applied */
  readonly queued: number
  /** messages that wait for tasks at work */
  readonly waiting: number
  /** why a restart would take long or lose something; undefined: all is well */
  readonly trouble: string | undefined
  /** tenants whose tasks are ahead of the host's time, and by how many ms */
  readonly leads: ReadonlyMap<string, number>
  /** what all tasks did so far; put together when it is asked for */
  readonly counts: RunnerCounts
  /** which way messages took in all tasks so far; likewise */
  readonly stats: EngineStats
  /** Takes nothing any more, applies what is on its way and stores all states. Calls of plugs that are open are made again at the next start. Safe to call twice. */
  close(): Promise<void>
}

export interface RunnerCounts extends Counts {
  /** messages and pushes that tasks took */
  readonly inputs: number
}

/** events that are kept of each task, and of all tasks of a tenant */
export const KEPT_EVENTS = { perTask: 100, inAll: 100_000 }

/** messages that wait in all tasks of a host; more are refused */
const MAX_WAITING = 1_000_000

export function openDurableRunner(options: DurableOptions): DurableRunner {
  return new Runner(options)
}

class Runner implements DurableRunner {
  readonly reports: RunReports
  readonly #options: DurableOptions
  readonly #logOf: (tenant: string) => TenantLog
  readonly #opening = new Map<string, Promise<TenantRunner>>()
  readonly #open = new Map<string, TenantRunner>()
  /** by tenant, as `#open` */
  readonly #clocks = new Map<string, LeadingClock>()
  readonly #opened = new Subject<[tenant: string, runner: TenantRunner]>()
  readonly #rare = new Subject<TenantEvent>()
  readonly #ended = new Subject<EndedRun>()
  readonly #closed = new Subject<void>()
  #closing: Promise<void> | undefined

  constructor(options: DurableOptions) {
    this.#options = options
    this.#logOf = options.log ?? perTenant((tenant) => new TenantLog(options.store(tenant)))
    this.reports = {
      history: ({ tenant, id }, after) =>
        this.#open.get(tenant)?.deterministic.engine.history(id, after) ?? { events: [], last: 0, isWhole: true },
      rare$: this.#rare.asObservable(),
      watch: (task) => this.#watch(task),
      ended$: this.#ended.asObservable(),
    }
  }

  get leads(): ReadonlyMap<string, number> {
    const leads = [...this.#clocks].map(([tenant, { leadMs }]) => [tenant, leadMs] as const)
    return new Map(leads.filter(([, ms]) => ms > 0))
  }

  get queued(): number {
    let count = 0
    for (const runner of this.#open.values()) count += runner.queued
    return count
  }

  get waiting(): number {
    let count = 0
    for (const runner of this.#open.values()) count += runner.waiting
    return count
  }

  get trouble(): string | undefined {
    for (const [tenant, { unstored, deterministic }] of this.#open) {
      for (const [id, error] of unstored) {
        const name = JSON.stringify(deterministic.engine.tasks.get(id)?.name ?? '')
        return `the state of task ${id} ${name} of ${tenant} is not stored: ${error}`
      }
    }
    return undefined
  }

  #requireRoom(): void {
    const { maxWaitingMessages = MAX_WAITING, waitingInAll } = this.#options
    if ((waitingInAll?.() ?? this.waiting) < maxWaitingMessages) return
    const text = `${maxWaitingMessages} messages wait for tasks whose plugs take longer than they come; send again later`
    throw new AppError('RATE_LIMITED', text)
  }

  get counts(): RunnerCounts {
    const all = { inputs: 0, ...noCounts() }
    for (const { inputs, deterministic } of this.#open.values()) {
      all.inputs += inputs
      const counts = Object.entries(deterministic.engine.counts) as [keyof Counts, number][]
      for (const [what, count] of counts) all[what] = (all[what] ?? 0) + count
    }
    return all
  }

  get stats(): EngineStats {
    return sumOfStats([...this.#open.values()].map(({ deterministic }) => deterministic.engine.stats()))
  }

  async plan(change: TaskChange): Promise<PlannedChange> {
    return (await this.#tenant(change.task.tenant)).plan(change)
  }

  async losses(task: RunnableTask): Promise<readonly Lost[] | undefined> {
    return (await this.#tenant(task.tenant)).losses(task)
  }

  async resume(tasks: readonly RunnableTask[]): Promise<void> {
    for (const tenant of new Set(tasks.map((task) => task.tenant))) {
      await (await this.#tenant(tenant)).resume(tasks.filter((task) => task.tenant === tenant))
    }
  }

  readonly nodes: NodeControl = {
    info: (task) => {
      const info = this.#task(task)?.info()
      return (
        info && {
          ...info,
          createTime: this.#open.get(task.tenant)?.deterministic.task(task.id)?.createTime ?? info.createTime,
        }
      )
    },
    view: (task, label) => {
      const running = this.#task(task)
      if (running === undefined) return []
      const { sensors = [], relations = [], actuators = [] } = running.prepared.rule
      if (label === undefined) return running.nodes()
      return [...sensors, ...relations, ...actuators].some((one) => one.label === label) ? [running.node(label)] : []
    },
    push: async (task, node, value) =>
      (await this.#tenant(task.tenant)).send({ k: 'push', t: task.id, n: node, v: value }),
    command: async (task, node, operation) =>
      (await this.#tenant(task.tenant)).send({ k: 'command', t: task.id, n: node, o: operation }),
    resync: async (task) => (await this.#tenant(task.tenant)).send({ k: 'resync', t: task.id }),
    explain: (task, node) => {
      const running = this.#task(task)
      // tasks leave at a stop: whether this one is gone nobody can say any more
      if (running === undefined && this.#closing !== undefined) throw closed()
      if (running === undefined) throw new AppError('NOT_FOUND', `Task with id ${task.id} not found`)
      return running.explain(node)
    },
    deliveries: (task, query) => this.#deliveries(task, query),
  }

  readonly intake: TaskRunner['intake'] = {
    receive: async (tenant, messages, options) => (await this.#tenant(tenant)).receive(messages, options),
    // at once where it can be: what else comes in this turn stays behind it
    receiveAll: async (tenant, ...given) =>
      ((this.#closing === undefined && this.#open.get(tenant)) || (await this.#tenant(tenant))).receiveAll(...given),
  }

  close(): Promise<void> {
    if (this.#closing === undefined) for (const one of this.#open.values()) one.closing()
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    await Promise.allSettled(this.#opening.values())
    const closed = await Promise.allSettled([...this.#open.values()].map((one) => one.close()))
    this.#closed.next()
    this.#ended.complete()
    this.#rare.complete()
    for (const one of closed) if (one.status === 'rejected') throw one.reason
  }

  /** Brought to the present, so that what was due is in what is shown. */
  #task({ tenant, id }: TaskRef) {
    const runner = this.#open.get(tenant)
    runner?.catchUp()
    return runner?.deterministic.engine.tasks.get(id)
  }

  #tenant(tenant: string): Promise<TenantRunner> {
    if (this.#closing !== undefined) return Promise.reject(closed())
    const known = this.#opening.get(tenant)
    if (known !== undefined) return known
    const opening = this.#openTenant(tenant)
    this.#opening.set(tenant, opening)
    // One that could not be opened is tried again by the next who asks.
    opening.catch(() => this.#opening.delete(tenant))
    return opening
  }

  async #openTenant(tenant: string): Promise<TenantRunner> {
    const {
      store,
      log: _log,
      scheduler,
      checkpoints,
      restMs = 0,
      maxWaitingMessages: _most,
      waitingInAll: _others,
      reached,
      bind,
      ...others
    } = this.#options
    const { plugs: plugsOf, ports: portsOf, ...common } = others
    const clock = new LeadingClock(scheduler)
    const plugs = followPlugs(() => plugsOf(tenant))
    const ports = portsOf?.(tenant)
    const runner = await TenantRunner.open({
      store: store(tenant),
      log: this.#logOf(tenant),
      engine: { ...common, history: KEPT_EVENTS, plugs, ...(ports && { ports: laterPorts(ports) }) },
      preparer: new Preparer(plugs, common),
      scheduler: clock,
      checkpoints: { ...CHECKPOINT_SETTINGS, ...checkpoints },
      restMs,
      ...(bind && { bind: (resources: readonly string[]) => bind(tenant, resources) }),
      requireRoom: () => this.#requireRoom(),
      ended: (run) => this.#ended.next(endedRun(run)),
      rare: (event) => this.#rare.next({ tenant, event }),
    })
    reached?.(runner.deterministic.now)
    clock.atLeast(runner.deterministic.now)
    this.#clocks.set(tenant, clock)
    this.#open.set(tenant, runner)
    this.#opened.next([tenant, runner])
    return runner
  }

  #watch({ tenant, id }: TaskRef): Observable<EngineEvent> {
    return new Observable<EngineEvent>((subscriber) => {
      const listen = (runner: TenantRunner) =>
        subscriber.add(runner.deterministic.engine.events({ tasks: [id] }).subscribe((event) => subscriber.next(event)))
      const open = this.#open.get(tenant)
      if (open) listen(open)
      else subscriber.add(this.#opened.subscribe(([name, runner]) => void (name === tenant && listen(runner))))
      subscriber.add(this.#closed.subscribe(() => subscriber.complete()))
    })
  }

  async #deliveries({ tenant, id }: TaskRef, query: DeliveryQuery): Promise<readonly Delivery[]> {
    const runner = await this.#tenant(tenant)
    // these first: what comes to its end, or is stored, meanwhile is among the stored ones too
    const fresh = await runner.deliveries.listed(id)
    const open = runner.deterministic.ledger.open(id).toReversed()
    const stored = await this.#options.store(tenant).collection(DELIVERIES).find(newestOf(id, MAX_DELIVERIES))
    const known = new Set(fresh.map(({ number }) => number))
    const ended = [...fresh.toReversed(), ...stored.map(({ value }) => value).filter((one) => !known.has(one.number))]
    const over = new Set(ended.map((one) => one.id))
    const all: Delivery[] = [
      ...open
        .filter((one) => !over.has(one.id))
        .map(({ execution: _of, item: _item, gave: _gave, ...told }): Delivery => told),
      ...ended.slice(0, MAX_DELIVERIES).map(({ task: _task, number: _number, ...delivery }) => delivery),
    ]
    const start = query.before === undefined ? 0 : all.findIndex((one) => one.id === query.before) + 1
    if (query.before !== undefined && start === 0) return []
    return all
      .slice(start)
      .filter(({ status }) => query.status === undefined || status === query.status)
      .slice(0, query.limit)
  }
}

function endedRun({ task, status, time, error }: EndOfRun): EndedRun {
  const { tenant, id, epoch } = task
  return {
    task: { tenant, id },
    epoch,
    status,
    finishedTime: time,
    ...(error !== undefined && { error }),
  }
}

/**
 * Ports that never answer at once. What the outside says may be something else when the log is played again, so that
 * each answer has to be an input of its own; and an answer is one when it comes later than its question.
 */
function laterPorts({ metadata, secret, latestValue }: Ports): Ports {
  return {
    ...(metadata && { metadata: async (resource) => metadata(resource) }),
    ...(secret && { secret: async (key) => secret(key) }),
    ...(latestValue && { latestValue: async (resource, metric) => latestValue(resource, metric) }),
  }
}
