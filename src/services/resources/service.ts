/**
 * The resources service put together: documents over storage, everything else injected. Writes go to storage first,
 * with their history and the log that others follow; memory and the feed learn of them afterwards.
 */
import {
  AppError,
  type Caller,
  type Issue,
  KeyedMutex,
  KeyedSharedLock,
  type Logger,
  messageOf,
  type ReaderOptions,
  type StartTimer,
} from '#kernel'
import type { Storage } from '#storage'
import { machineTimers } from '#platform'
import type { BackgroundWork, MakeBackgroundWork } from './background-work.ts'
import { CollectionsByTenant } from './collections.ts'
import { ChangeRecorder } from './change-recorder.ts'
import { constraintApi } from './constraint-service.ts'
import { Enforcement } from './constraints/enforcement.ts'
import type {
  ActuatorCall,
  Cascades,
  ManagedTasks,
  OperationApi,
  ResourceEntity,
  ResourcesApi,
  ResourcesGauges,
  OperatedResources,
  SeenResource,
} from './contract.ts'
import { Discovery } from './discovery.ts'
import { Parents } from './parents.ts'
import { issuesOfPatch, resourceApi } from './resource-service.ts'
import { ResourceWriter } from './resource-writer.ts'
import { TenantResources } from './tenant-resources.ts'
import { typeApi } from './type-service.ts'
import { TypeWork } from './type-work.ts'

export interface ResourcesOptions {
  readonly storage: Storage
  /** epoch ms */
  readonly now: () => number
  /** ids of types, constraints, operations and records; never the same twice */
  readonly newId: () => string
  readonly logger?: Logger
  readonly managedTasks?: ManagedTasks
  readonly actuators?: ActuatorCall
  readonly cascades?: Cascades
  /** what works beside the documents: the reconciler of managed tasks, commands, bulk operations */
  readonly background?: readonly MakeBackgroundWork[]
  /** calls `work` again and again, some seconds apart, until the function it gives is called; default: a timer that keeps no process alive */
  readonly sweep?: (work: () => void) => () => void
  /** default: the machine's timers, which keep no process alive */
  readonly later?: StartTimer
}

/** ms between two writings of when resources were heard last */
const SWEEP_MS = 5_000
/** sweeps after which effects of tasks that are a day old go */
const SWEEPS_PER_EFFECTS = 720
/** times of contact that one sweep writes: ingestion comes first */
const MAX_CONTACTS = 2_000

export function createResourcesService(options: ResourcesOptions): OperatedResources {
  return new Resources(options)
}

class Resources implements OperatedResources {
  readonly #options: ResourcesOptions
  readonly #collectionsByTenant: CollectionsByTenant
  readonly #tenantResourcesByName = new Map<
    string,
    { readonly tenantResources: TenantResources; readonly discovery: Discovery }
  >()
  readonly #recorder: ChangeRecorder
  readonly #lanes = new KeyedMutex()
  readonly #typeLock = new KeyedSharedLock()
  readonly #enforcement = new Enforcement()
  readonly #typeWork: TypeWork
  readonly #writer: ResourceWriter
  readonly #backgrounds: readonly BackgroundWork[]
  /** the first of each member counts */
  readonly #background: BackgroundWork
  #endSweep: () => void = () => {}
  #sweeping: Promise<void> = Promise.resolve()
  #sweeps = 0

  constructor(options: ResourcesOptions) {
    const { storage, now, newId, logger, managedTasks, actuators, background = [] } = options
    const { later = machineTimers.later } = options
    this.#options = options
    this.#collectionsByTenant = new CollectionsByTenant(storage)
    this.#recorder = new ChangeRecorder(now, newId, (tenant) => {
      for (const background of this.#backgrounds) background.written?.(tenant)
    })
    this.#typeWork = new TypeWork({ enforcement: this.#enforcement, later, logger })
    this.#writer = new ResourceWriter({
      lanes: this.#lanes,
      typeLock: this.#typeLock,
      recorder: this.#recorder,
      parents: new Parents(),
      enforcement: this.#enforcement,
      typeWork: this.#typeWork,
      now,
    })
    const core = {
      collectionsByTenant: this.#collectionsByTenant,
      service: this,
      now,
      newId,
      ...(logger && { logger }),
      ...(managedTasks && { managedTasks }),
      ...(actuators && { actuators }),
    }
    this.#backgrounds = background.map((make) => make(core))
    this.#background = Object.assign({}, ...this.#backgrounds.toReversed().map(bound)) as BackgroundWork
  }

  as(caller: Caller): ResourcesApi {
    const { newId, cascades, managedTasks } = this.#options
    const { tenantResources } = this.#tenantResourcesOf(caller.tenant)
    const shared = {
      lanes: this.#lanes,
      typeLock: this.#typeLock,
      recorder: this.#recorder,
      typeWork: this.#typeWork,
      newId,
      background: this.#background,
      ...(managedTasks && { tasks: managedTasks }),
    }
    const operations = (): OperationApi => this.#background.operations?.(caller) ?? noOperations()
    const writer = this.#writer
    // made when they are asked for: most requests need one of them
    return {
      get resources() {
        return resourceApi({ writer, cascades, background: shared.background }, tenantResources, caller)
      },
      get types() {
        return typeApi(shared, tenantResources, caller)
      },
      get constraints() {
        return constraintApi(shared, tenantResources, caller)
      },
      get operations() {
        return operations()
      },
    }
  }

  async start(closing?: AbortSignal): Promise<void> {
    closing?.addEventListener('abort', () => this.#recorder.feed.end(), { once: true })
    const { sweep = everySweep } = this.#options
    this.#endSweep = sweep(() => {
      this.#sweeping = this.#sweeping.then(() => this.#sweep())
    })
    for (const tenant of await this.#collectionsByTenant.tenants())
      await this.#typeWork.resume(this.#tenantResourcesOf(tenant).tenantResources)
    for (const background of this.#backgrounds) await background.start?.(closing)
  }

  async stop(): Promise<void> {
    this.#recorder.feed.end()
    this.#endSweep()
    for (const background of this.#backgrounds.toReversed()) await background.stop?.()
    await this.#typeWork.stop()
    await this.#lanes.idle()
    await this.#sweeping
    await this.#writeLastSeen(Infinity)
  }

  gauges(): ResourcesGauges {
    const sum = (read: (background: BackgroundWork) => number): number =>
      this.#backgrounds.reduce((total, one) => total + read(one), 0)
    return {
      openOperations: this.#typeWork.open + sum((one) => one.openOperations?.() ?? 0),
      upkeepWaiting: sum((one) => one.upkeepWaiting?.() ?? 0),
      eventStreams: this.#recorder.feed.readers,
    }
  }

  lookup(tenant: string, id: string): ResourceEntity | undefined | Promise<ResourceEntity | undefined> {
    return this.#tenantResourcesOf(tenant).tenantResources.lookup(id)
  }

  checkPatch(body: unknown): readonly Issue[] {
    return issuesOfPatch(body)
  }

  changes(tenant: string, options: Omit<ReaderOptions, 'topic'> = {}): ReturnType<ChangeRecorder['feed']['read']> {
    return this.#recorder.feed.read({ ...options, topic: tenant })
  }

  discover(tenant: string, seen: readonly SeenResource[]): Promise<void> | undefined {
    return this.#tenantResourcesOf(tenant).discovery.discover(seen)
  }

  #tenantResourcesOf(tenant: string): { readonly tenantResources: TenantResources; readonly discovery: Discovery } {
    const known = this.#tenantResourcesByName.get(tenant)
    if (known !== undefined) return known
    const tenantResources = new TenantResources(this.#collectionsByTenant.of(tenant))
    const made = { tenantResources, discovery: new Discovery(this.#recorder, tenantResources) }
    this.#tenantResourcesByName.set(tenant, made)
    return made
  }

  async #sweep(): Promise<void> {
    await this.#writeLastSeen(MAX_CONTACTS)
    this.#sweeps++
    if (this.#sweeps % SWEEPS_PER_EFFECTS > 0) return
    for (const { tenantResources } of this.#tenantResourcesByName.values()) {
      try {
        await tenantResources.collections.effects.sweep(this.#options.now())
      } catch (error) {
        this.#options.logger?.warn('Effects of tasks that are a day old stay', { error: messageOf(error) })
      }
    }
  }

  async #writeLastSeen(most: number): Promise<void> {
    for (const { tenantResources } of this.#tenantResourcesByName.values()) {
      try {
        await tenantResources.writeLastSeen(most)
      } catch (error) {
        this.#options.logger?.warn('When resources were heard last could not be written', { error: messageOf(error) })
      }
    }
  }
}

function everySweep(work: () => void): () => void {
  return machineTimers.every(SWEEP_MS, work)
}

/** Its members as functions of their own, so that several can be taken together. */
function bound(background: BackgroundWork): BackgroundWork {
  const { commands, operations, operationOf, planning, planned, lacking } = background
  return {
    ...(commands && { commands: commands.bind(background) }),
    ...(operations && { operations: operations.bind(background) }),
    ...(planning && { planning: planning.bind(background) }),
    ...(planned && { planned: planned.bind(background) }),
    ...(operationOf && { operationOf: operationOf.bind(background) }),
    ...(lacking && { lacking: lacking.bind(background) }),
  }
}

/** Of a host that has no bulk operations. */
function noOperations(): OperationApi {
  return {
    queue: async () => {
      throw new AppError('VALIDATION', 'bulk operations on resources are not served here')
    },
    get: async (id) => {
      throw new AppError('NOT_FOUND', `No operation with id ${id}`)
    },
  }
}
