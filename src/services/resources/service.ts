/** Composes the resources service from the store and injected neighbouring services. */
import { type JobSlots, JobRunner } from '#jobs'
import { AppError, type Caller, type Issue, type Logger, messageOf, Semaphore, type StartTimer } from '#kernel'
import type { Store } from '#storage'
import { machineTimers } from '#platform'
import { openCollections } from './collections.ts'
import { ChangeRecorder } from './change-recorder.ts'
import { CommandRunner } from './commands/command-runner.ts'
import { constraintApi } from './constraint-service.ts'
import type {
  ActuatorCall,
  Cascades,
  ManagedTasks,
  ResourcesGauges,
  InternalResources,
  SeenResource,
} from './contract.ts'
import { Discovery } from './discovery.ts'
import { Reconciler } from './managed-tasks/reconciler.ts'
import { operationApi, operationHandler } from './operations.ts'
import { issuesOfPatch, resourceApi } from './resource-service.ts'
import { ResourceWriter } from './resource-writer.ts'
import { TenantResources } from './tenant-resources.ts'
import { Types } from './type-service.ts'
import { TypeWork } from './type-work.ts'

export interface ResourcesOptions {
  readonly slots?: JobSlots
  readonly tenant: string
  readonly store: Store
  readonly now: () => number
  readonly newId: () => string
  readonly logger?: Logger
  readonly managedTasks?: ManagedTasks
  readonly limit?: Semaphore
  readonly actuators?: ActuatorCall
  readonly cascades?: Cascades
  /** deletes everything that belongs to a resource that is being deleted; idempotent */
  readonly removed?: (id: string) => Promise<void>
  /** Every few seconds; default: a timer that does not keep the process alive. */
  readonly sweep?: (work: () => void) => () => void
  /** default: the machine's timers, which do not keep the process alive */
  readonly later?: StartTimer
}

/** ms between writes of contact times */
const SWEEP_MS = 5_000
/** Number of sweeps between two removals of effects older than a day. */
const SWEEPS_PER_EFFECTS = 720
/** Maximum parallel reconciliations over all tenants of a host; enough for the store to group their commits. */
export const RECONCILED_AT_ONCE = 64
/** Maximum contact times written per sweep, since ingestion has priority. */
const MAX_CONTACTS = 2_000

export class Resources implements InternalResources {
  readonly outbox: CommandRunner
  readonly #options: ResourcesOptions
  readonly #tenantResources: TenantResources
  readonly #typeWork: TypeWork
  readonly #writer: ResourceWriter
  readonly #discovery: Discovery
  readonly #recorder: ChangeRecorder
  readonly #reconciler: Reconciler
  readonly #jobs: JobRunner
  #endSweep: () => void = () => {}
  #sweeping: Promise<void> = Promise.resolve()
  #sweeps = 0

  constructor(options: ResourcesOptions) {
    const { tenant, store, now, newId, logger, slots, managedTasks = noTasks, actuators = noActuators } = options
    const { later = machineTimers.later, limit = new Semaphore(RECONCILED_AT_ONCE) } = options
    this.#options = options
    const collections = openCollections(tenant, store)
    this.#recorder = new ChangeRecorder(collections, now, newId, () => this.#reconciler.wake())
    this.#tenantResources = new TenantResources(collections)
    this.#typeWork = new TypeWork(this.#tenantResources, { later, logger })
    const { lookup } = this
    this.#writer = new ResourceWriter(this.#tenantResources, {
      recorder: this.#recorder,
      typeWork: this.#typeWork,
      now,
    })
    this.#discovery = new Discovery(this.#recorder, this.#tenantResources)
    this.#reconciler = new Reconciler({ collections, limit, tasks: managedTasks, now, newId, later, logger })
    const common = { tenant, store, now, newId, logger }
    const rightsOf = (id: string) => this.#tenantResources.commandRights(id)
    this.outbox = new CommandRunner({ ...common, later, actuators, lookup, rightsOf })
    const handlers = [operationHandler((caller) => this.as(caller), logger)]
    this.#jobs = new JobRunner({ ...common, handlers, slots, timers: { ...machineTimers, later } })
  }

  as(caller: Caller): ReturnType<InternalResources['as']> {
    const { now, newId, cascades, removed, managedTasks } = this.#options
    const [tenantResources, typeWork, writer] = [this.#tenantResources, this.#typeWork, this.#writer]
    const [recorder, reconciler, { queue }] = [this.#recorder, this.#reconciler, this.#jobs]
    const tasks = managedTasks && { tasks: managedTasks }
    // created on demand, because most requests use only one of these APIs
    return {
      get resources() {
        return resourceApi({ writer, cascades, removed }, tenantResources, caller)
      },
      get types() {
        return new Types({ recorder, typeWork, reconciler, now, newId, ...tasks }, tenantResources, caller)
      },
      get constraints() {
        return constraintApi(newId, tenantResources)
      },
      get operations() {
        return operationApi({ queue, now, newId }, tenantResources.collections, caller)
      },
      changes: (options = {}) => recorder.read(options),
    }
  }

  async start(closing?: AbortSignal): Promise<void> {
    closing?.addEventListener('abort', () => this.#recorder.feed.end(), { once: true })
    const { sweep = everySweep } = this.#options
    this.#endSweep = sweep(() => {
      this.#sweeping = this.#sweeping.then(() => this.#sweep())
    })
    await this.#typeWork.resume()
    await this.#reconciler.start()
    await this.outbox.start()
    await this.#jobs.start()
  }

  async stop(): Promise<void> {
    this.#recorder.feed.end()
    this.#endSweep()
    await this.#jobs.stop()
    await Promise.all([this.#reconciler.stop(), this.outbox.stop()])
    await this.#typeWork.stop()
    await this.#tenantResources.lanes.idle()
    await this.#sweeping
    await this.#writeLastSeen(Infinity)
  }

  async idle(): Promise<void> {
    await this.#jobs.idle()
    await Promise.all([this.#reconciler.idle(), this.outbox.idle()])
  }

  gauges(): ResourcesGauges {
    return {
      openOperations: this.#jobs.open + this.#typeWork.open,
      upkeepWaiting: this.#reconciler.waiting,
      eventStreams: this.#recorder.feed.readers,
    }
  }

  readonly lookup: InternalResources['lookup'] = (id) => this.#tenantResources.lookup(id)

  checkPatch(body: unknown): readonly Issue[] {
    return issuesOfPatch(body)
  }

  discover(seen: readonly SeenResource[]): Promise<void> | undefined {
    return this.#discovery.discover(seen)
  }

  /** Retries the failed managed tasks of a template that was created or changed. Never waits. */
  templateWritten(template: string): void {
    this.#reconciler.retry(template)
  }

  async #sweep(): Promise<void> {
    await this.#writeLastSeen(MAX_CONTACTS)
    this.#sweeps++
    if (this.#sweeps % SWEEPS_PER_EFFECTS > 0) return
    const { effects } = this.#tenantResources.collections
    await this.#orWarn('Expired effects of tasks could not be removed', effects.sweep(this.#options.now()))
  }

  #writeLastSeen(most: number): Promise<void> {
    const written = this.#tenantResources.writeLastSeen(most)
    return this.#orWarn('Last contacts of resources could not be written', written)
  }

  async #orWarn(failure: string, work: Promise<unknown>): Promise<void> {
    try {
      await work
    } catch (error) {
      this.#options.logger?.warn(failure, { error: messageOf(error) })
    }
  }
}

function everySweep(work: () => void): () => void {
  return machineTimers.every(SWEEP_MS, work)
}

const noTasks: ManagedTasks = {
  of: async () => [],
  make: () => Promise.reject(new AppError('CLOSED', 'this host does not serve tasks')),
  remove: async () => undefined,
}

const noActuators: ActuatorCall = {
  run: () => Promise.reject(new AppError('CLOSED', 'this host does not run actuators; commands wait for another host')),
}
