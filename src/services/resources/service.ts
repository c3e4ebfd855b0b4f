/**
 * The resources service put together: documents over storage, everything else injected. Writes go to storage first,
 * with their history and the log that others follow; memory and the feed learn of them afterwards. Managed tasks,
 * commands and bulk operations work beside the documents.
 */
import type { CommandOutbox } from '#services/broker/contract'
import { type JobPlaces, JobRunner } from '#jobs'
import {
  AppError,
  type Caller,
  type Issue,
  type Logger,
  messageOf,
  perTenant,
  type ReaderOptions,
  type StartTimer,
} from '#kernel'
import type { Storage } from '#storage'
import { machineTimers } from '#platform'
import { CollectionsByTenant } from './collections.ts'
import { ChangeRecorder } from './change-recorder.ts'
import { CommandRunner } from './commands/command-runner.ts'
import { constraintApi } from './constraint-service.ts'
import type {
  ActuatorCall,
  Cascades,
  ManagedTasks,
  ResourceEntity,
  ResourcesApi,
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
  readonly tenant: string
  /** of jobs, which the tenants of a host share */
  readonly places?: JobPlaces
  readonly storage: Storage
  /** epoch ms */
  readonly now: () => number
  /** ids of types, constraints, operations and records; never the same twice */
  readonly newId: () => string
  readonly logger?: Logger
  readonly managedTasks?: ManagedTasks
  readonly actuators?: ActuatorCall
  readonly cascades?: Cascades
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
  templateWritten(tenant: string, template: string): void
  /** Resolves when all that was asked before is done, as far as it can be. */
  idle(): Promise<void>
}

/** ms between two writings of when resources were heard last */
const SWEEP_MS = 5_000
/** sweeps after which effects of tasks that are a day old go */
const SWEEPS_PER_EFFECTS = 720
/** times of contact that one sweep writes: ingestion comes first */
const MAX_CONTACTS = 2_000

export function createResourcesService(options: ResourcesOptions): HostedResources {
  return new Resources(options)
}

/** What there is of a tenant. */
interface Opened {
  readonly tenantResources: TenantResources
  readonly typeWork: TypeWork
  readonly writer: ResourceWriter
  readonly discovery: Discovery
}

class Resources implements HostedResources {
  readonly outbox: CommandRunner
  readonly #options: ResourcesOptions
  readonly #collectionsByTenant: CollectionsByTenant
  readonly #opened: Opened[] = []
  readonly #of = perTenant((tenant) => {
    const { now, later = machineTimers.later, logger } = this.#options
    const tenantResources = new TenantResources(this.#collectionsByTenant.of(tenant))
    const typeWork = new TypeWork(tenantResources, { later, logger })
    const writer = new ResourceWriter(tenantResources, { recorder: this.#recorder, typeWork, now })
    const opened = { tenantResources, typeWork, writer, discovery: new Discovery(this.#recorder, tenantResources) }
    this.#opened.push(opened)
    return opened
  })
  readonly #recorder: ChangeRecorder
  readonly #reconciler: Reconciler
  readonly #jobs: JobRunner
  #endSweep: () => void = () => {}
  #sweeping: Promise<void> = Promise.resolve()
  #sweeps = 0

  constructor(options: ResourcesOptions) {
    const { storage, now, newId, logger, places, managedTasks = noTasks, actuators = noActuators } = options
    const { later = machineTimers.later } = options
    this.#options = options
    const collectionsByTenant = new CollectionsByTenant(storage)
    this.#collectionsByTenant = collectionsByTenant
    this.#recorder = new ChangeRecorder(now, newId, (tenant) => this.#reconciler.wake(tenant))
    this.#reconciler = new Reconciler({ collectionsByTenant, tasks: managedTasks, now, newId, later, logger })
    const store = (tenant: string) => collectionsByTenant.of(tenant).store
    const common = { storage: { tenant: store, tenants: () => collectionsByTenant.ownTenants() }, now, logger }
    const lookup: InternalResources['lookup'] = (...resource) => this.lookup(...resource)
    this.outbox = new CommandRunner({ ...common, newId, later, actuators, lookup })
    const handlers = [operationHandler((caller) => this.as(caller), logger)]
    this.#jobs = new JobRunner({
      ...common,
      tenant: options.tenant,
      store: store(options.tenant),
      newId,
      handlers,
      places,
      timers: { ...machineTimers, later },
    })
  }

  as(caller: Caller): ResourcesApi {
    const { now, newId, cascades, managedTasks } = this.#options
    const { tenantResources, typeWork, writer } = this.#of(caller.tenant)
    const [recorder, reconciler, queue] = [this.#recorder, this.#reconciler, this.#jobs.queue]
    const tasks = managedTasks && { tasks: managedTasks }
    // made when they are asked for: most requests need one of them
    return {
      get resources() {
        return resourceApi({ writer, cascades }, tenantResources, caller)
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
    }
  }

  async start(closing?: AbortSignal): Promise<void> {
    closing?.addEventListener('abort', () => this.#recorder.feed.end(), { once: true })
    const { sweep = everySweep } = this.#options
    this.#endSweep = sweep(() => {
      this.#sweeping = this.#sweeping.then(() => this.#sweep())
    })
    for (const tenant of await this.#collectionsByTenant.tenants()) await this.#of(tenant).typeWork.resume()
    await this.#reconciler.start()
    await this.outbox.start()
    await this.#jobs.start()
  }

  async stop(): Promise<void> {
    this.#recorder.feed.end()
    this.#endSweep()
    await this.#jobs.stop()
    await Promise.all([this.#reconciler.stop(), this.outbox.stop()])
    for (const { typeWork, tenantResources } of this.#opened) {
      await typeWork.stop()
      await tenantResources.lanes.idle()
    }
    await this.#sweeping
    await this.#writeLastSeen(Infinity)
  }

  async idle(): Promise<void> {
    await this.#jobs.idle()
    await Promise.all([this.#reconciler.idle(), this.outbox.idle()])
  }

  gauges(): ResourcesGauges {
    return {
      openOperations: this.#opened.reduce((open, { typeWork }) => open + typeWork.open, this.#jobs.open),
      upkeepWaiting: this.#reconciler.waiting,
      eventStreams: this.#recorder.feed.readers,
    }
  }

  lookup(tenant: string, id: string): ResourceEntity | undefined | Promise<ResourceEntity | undefined> {
    return this.#of(tenant).tenantResources.lookup(id)
  }

  checkPatch(body: unknown): readonly Issue[] {
    return issuesOfPatch(body)
  }

  changes(tenant: string, options: Omit<ReaderOptions, 'topic'> = {}): ReturnType<ChangeRecorder['feed']['read']> {
    return this.#recorder.feed.read({ ...options, topic: tenant })
  }

  discover(tenant: string, seen: readonly SeenResource[]): Promise<void> | undefined {
    return this.#of(tenant).discovery.discover(seen)
  }

  templateWritten(tenant: string, template: string): void {
    this.#reconciler.templateWritten(tenant, template)
  }

  async #sweep(): Promise<void> {
    await this.#writeLastSeen(MAX_CONTACTS)
    this.#sweeps++
    if (this.#sweeps % SWEEPS_PER_EFFECTS > 0) return
    await this.#ofEach('Effects of tasks that are a day old stay', ({ collections }) =>
      collections.effects.sweep(this.#options.now()),
    )
  }

  #writeLastSeen(most: number): Promise<void> {
    return this.#ofEach('When resources were heard last could not be written', (each) => each.writeLastSeen(most))
  }

  /** What fails for one tenant is logged. */
  async #ofEach(failure: string, work: (tenantResources: TenantResources) => Promise<unknown>): Promise<void> {
    for (const { tenantResources } of this.#opened) {
      try {
        await work(tenantResources)
      } catch (error) {
        this.#options.logger?.warn(failure, { error: messageOf(error) })
      }
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
