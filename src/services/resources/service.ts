/**
 * The resources service put together: documents over storage, everything else injected. Writes go to storage first,
 * with their history and the log that others follow; memory and the feed learn of them afterwards. Managed tasks,
 * commands and bulk operations work beside the documents.
 */
import type { CommandOutbox } from '#services/broker/contract'
import { type JobPlaces, JobRunner } from '#jobs'
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
  /** of jobs, which the tenants of a host share */
  readonly places?: JobPlaces
  readonly tenant: string
  readonly store: Store
  /** epoch ms */
  readonly now: () => number
  /** ids of types, constraints, operations and records; never the same twice */
  readonly newId: () => string
  readonly logger?: Logger
  readonly managedTasks?: ManagedTasks
  /** of resources whose managed tasks are looked after at a time, which the tenants of a host share */
  readonly limit?: Semaphore
  readonly actuators?: ActuatorCall
  readonly cascades?: Cascades
  /** deletes what belongs to every resource that is deleted; may be repeated */
  readonly removed?: (id: string) => Promise<void>
  /** calls `work` again and again, some seconds apart, until the function it gives is called; default: a timer that keeps no process alive */
  readonly sweep?: (work: () => void) => () => void
  /** default: the machine's timers, which keep no process alive */
  readonly later?: StartTimer
}

/** What a host asks of the service besides what others do. */
export interface HostedResources extends InternalResources {
  /** for the broker */
  readonly outbox: CommandOutbox
  /** A template was made or changed: managed tasks that could not be made of it are tried again. Never waits. */
  templateWritten(template: string): void
  /** Resolves when all that was asked before is done, as far as it can be. */
  idle(): Promise<void>
}

/** ms between two writings of when resources were heard last */
const SWEEP_MS = 5_000
/** sweeps after which effects of tasks that are a day old go */
const SWEEPS_PER_EFFECTS = 720
/** Resources at a time, over all tenants of a host: enough that the store can put their commits together. */
export const RECONCILED_AT_ONCE = 64
/** times of contact that one sweep writes: ingestion comes first */
const MAX_CONTACTS = 2_000

export function createResourcesService(options: ResourcesOptions): HostedResources {
  return new Resources(options)
}

class Resources implements HostedResources {
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
    const { tenant, store, now, newId, logger, places, managedTasks = noTasks, actuators = noActuators } = options
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
    this.outbox = new CommandRunner({ ...common, later, actuators, lookup })
    const handlers = [operationHandler((caller) => this.as(caller), logger)]
    this.#jobs = new JobRunner({ ...common, handlers, places, timers: { ...machineTimers, later } })
  }

  as(caller: Caller): ReturnType<InternalResources['as']> {
    const { now, newId, cascades, removed, managedTasks } = this.#options
    const [tenantResources, typeWork, writer] = [this.#tenantResources, this.#typeWork, this.#writer]
    const [recorder, reconciler, { queue }] = [this.#recorder, this.#reconciler, this.#jobs]
    const tasks = managedTasks && { tasks: managedTasks }
    // made when they are asked for: most requests need one of them
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

  templateWritten(template: string): void {
    this.#reconciler.retry(template)
  }

  async #sweep(): Promise<void> {
    await this.#writeLastSeen(MAX_CONTACTS)
    this.#sweeps++
    if (this.#sweeps % SWEEPS_PER_EFFECTS > 0) return
    const { effects } = this.#tenantResources.collections
    await this.#orWarn('Effects of tasks that are a day old stay', effects.sweep(this.#options.now()))
  }

  #writeLastSeen(most: number): Promise<void> {
    const written = this.#tenantResources.writeLastSeen(most)
    return this.#orWarn('When resources were heard last could not be written', written)
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
  make: () => Promise.reject(new AppError('CLOSED', 'this host makes no tasks')),
  remove: async () => undefined,
}

const noActuators: ActuatorCall = {
  run: () => Promise.reject(new AppError('CLOSED', 'this host runs no actuators; commands wait for one that does')),
}
