/** Everything that works beside the documents, as the service takes it: managed tasks, commands and bulk operations. */
import { lackingTasks } from './lacking-tasks.ts'
import type { CommandOutbox } from '#services/broker/contract'
import type { BackgroundWork, DocumentServices, MakeBackgroundWork } from '../background-work.ts'
import type { CollectionsByTenant } from '../collections.ts'
import type { ActuatorCall, ManagedTasks } from '../contract.ts'
import { type JobQueue, JobRunner } from '#jobs'
import { AppError, type StartTimer } from '#kernel'
import { machineTimers } from '#platform'
import { commandPage } from '../commands/command-log.ts'
import { CommandRunner } from '../commands/command-runner.ts'
import { Outbox } from '../commands/outbox.ts'
import { operationHandler } from '../operations/operation-jobs.ts'
import { OPERATIONS } from '../operations/operation-record.ts'
import { operationApi } from '../operations/operation-service.ts'
import { storedDocuments } from './stored-documents.ts'
import { plannedWalk } from './type-walks.ts'
import { createReconciler, type ManagedTaskReconciler } from './reconciler.ts'

export interface OperatedBackgroundWork {
  /** for the options of the service, once */
  readonly make: MakeBackgroundWork
  /** for the broker; `CLOSED` before the service is made */
  readonly outbox: CommandOutbox
  /** A template was made or changed: managed tasks that could not be made of it are tried again. Never waits. */
  templateWritten(tenant: string, template: string): void
  /** Resolves when all that was asked before is done, as far as it can be. */
  idle(): Promise<void>
}

/** `later`: default: the machine's timers, which keep no process alive */
export function createBackgroundWork({
  later = machineTimers.later,
}: { readonly later?: StartTimer } = {}): OperatedBackgroundWork {
  let work: Work | undefined
  const made = (): Work => {
    if (work === undefined) throw new AppError('CLOSED', 'the resources are not served yet; send the command again')
    return work
  }
  return {
    make: (core) => {
      work = new Work(core, later)
      return work
    },
    outbox: {
      planning: (...given) => made().outbox.planning(...given),
      committed: (tenant, resource) => made().outbox.committed(tenant, resource),
    },
    templateWritten: (tenant, template) => work?.reconciler.templateWritten(tenant, template),
    idle: async () => work?.idle(),
  }
}

class Work implements BackgroundWork {
  readonly reconciler: ManagedTaskReconciler
  readonly outbox: Outbox
  readonly #core: DocumentServices
  readonly #commands: CommandRunner
  readonly #jobs: JobRunner

  constructor(core: DocumentServices, later: StartTimer) {
    const { collectionsByTenant, service, now, newId, logger, managedTasks = noTasks, actuators = noActuators } = core
    this.#core = core
    const storage = {
      tenant: (id: string) => collectionsByTenant.of(id).store,
      tenants: () => ownTenants(collectionsByTenant),
    }
    const common = { storage, now, logger }
    this.reconciler = createReconciler({
      ...common,
      newId,
      later,
      documents: storedDocuments(collectionsByTenant),
      tasks: managedTasks,
    })
    this.#commands = new CommandRunner({
      ...common,
      later,
      actuators,
      owner: newId(),
      lookup: (tenant, id) => service.lookup(tenant, id),
      goOnAfter: (id) => this.outbox.goOnAfter(id),
    })
    this.outbox = new Outbox({
      store: (tenant) => collectionsByTenant.of(tenant).store,
      now,
      newId,
      ready: (tenant, resource) => this.#commands.ready(tenant, resource),
    })
    this.#jobs = new JobRunner({
      ...common,
      newId,
      handlers: [operationHandler((caller) => service.as(caller), logger)],
      timers: { ...machineTimers, later },
    })
  }

  async start(): Promise<void> {
    await this.reconciler.start()
    await this.#commands.start()
    await this.#jobs.start()
  }

  async stop(): Promise<void> {
    await this.#jobs.stop()
    await Promise.all([this.reconciler.stop(), this.#commands.stop()])
  }

  written(tenant: string): void {
    this.reconciler.wake(tenant)
  }

  planning: NonNullable<BackgroundWork['planning']> = (collections, caller, type, operation) =>
    collections.store
      .collection(OPERATIONS)
      .putting(operation, plannedWalk(operation, type, caller.user, this.#core.now(), 0))

  planned(tenant: string): void {
    this.reconciler.planned(tenant)
  }

  lacking: NonNullable<BackgroundWork['lacking']> = (collections, of) => lackingTasks(collections.store, of)

  commands: NonNullable<BackgroundWork['commands']> = (collections, id, query) =>
    commandPage(collections.store, id, query)

  operations: NonNullable<BackgroundWork['operations']> = (caller) => {
    const { collectionsByTenant, now, newId } = this.#core
    const jobs = (tenant: string): JobQueue => this.#jobs.queue(tenant)
    return operationApi({ jobs, now, newId }, collectionsByTenant.of(caller.tenant), caller)
  }

  operationOf(tenant: string, type: string): string | undefined {
    return this.reconciler.operationOf(tenant, type)
  }

  openOperations(): number {
    return this.#jobs.open
  }

  upkeepWaiting(): number {
    return this.reconciler.waiting
  }

  async idle(): Promise<void> {
    await this.#jobs.idle()
    await Promise.all([this.reconciler.idle(), this.#commands.idle()])
  }
}

/** Without those of the host itself, whose names begin with _. */
async function ownTenants(collectionsByTenant: CollectionsByTenant): Promise<readonly string[]> {
  return (await collectionsByTenant.tenants()).filter((tenant) => !tenant.startsWith('_'))
}

const noTasks: ManagedTasks = {
  of: async () => [],
  make: () => Promise.reject(new AppError('CLOSED', 'this host makes no tasks')),
  remove: async () => undefined,
}

const noActuators: ActuatorCall = {
  run: () => Promise.reject(new AppError('CLOSED', 'this host runs no actuators; commands wait for one that does')),
}
