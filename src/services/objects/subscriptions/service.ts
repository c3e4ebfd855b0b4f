/** Subscriptions of one host put together: what they are, who hands changes on, and who delivers. */
import { type JobHandler, type JobQueue, type JobPlaces, JobRunner, type JobTimers } from '#jobs'
import { RepeatableWork, type Caller, KeyedMutex, type Logger, messageOf, type StartTimer } from '#kernel'
import type { Storage } from '#storage'
import type { ObjectForwarding } from '../contract.ts'
import { ChangeReader } from './change-reader.ts'
import type { SubscriptionsApi, InternalSubscriptions } from './contract.ts'
import { deliveryHandler, type DeliveryOf } from './delivery-jobs.ts'
import { Outbox } from './outbox.ts'
import type { Seal } from '#platform'
import { keyOf, type SubscriptionRecord } from './subscription-record.ts'
import { TenantSubscriptions } from './tenant-subscriptions.ts'
import { callWebscript, type WebscriptChannelOptions } from './webscript-channel.ts'

export interface SubscriptionsOptions extends WebscriptChannelOptions {
  readonly tenant: string
  /** of jobs, which the tenants of a host share */
  readonly places?: JobPlaces
  readonly storage: Storage
  readonly seal: Seal
  readonly engine: () => ObjectForwarding | undefined
  /** those that the host has by itself, and what takes their deliveries: at once, and the same one again as often as it comes */
  readonly system: readonly SystemSubscription[]
  /** jobs of the neighbours that share the runner */
  readonly handlers: readonly JobHandler[]
  /** epoch ms */
  readonly now: () => number
  /** never the same twice */
  readonly newId: () => string
  readonly timers: JobTimers
  readonly later: StartTimer
  readonly logger: Logger
}

export interface SystemSubscription {
  readonly record: SubscriptionRecord
  take(tenant: string, change: DeliveryOf['change']): Promise<void>
}

/** ms between two looks for changes of hosts that died */
const LOOK_MS = 15_000
/** ms between two looks for what is kept no longer, and for what nobody carries out */
const SWEEP_MS = 600_000

export class Subscriptions implements InternalSubscriptions {
  readonly #options: SubscriptionsOptions
  readonly #system: ReadonlyMap<string, SystemSubscription>
  readonly #records: ReadonlyMap<string, SubscriptionRecord>
  readonly #jobs: JobRunner
  readonly #outboxes = new Map<string, Outbox>()
  readonly #readers = new Map<string, ChangeReader>()
  readonly #mutex = new KeyedMutex()
  #unlisten: () => void = () => undefined
  #stopSweeps: () => void = () => undefined
  #stopLooking: () => void = () => undefined
  readonly #looks: RepeatableWork
  readonly #sweeps: RepeatableWork
  #delivered = 0
  #failed = 0

  constructor(options: SubscriptionsOptions) {
    this.#options = options
    const { storage, now, newId, timers, later, logger, system } = options
    this.#system = new Map(system.map((one) => [keyOf(one.record.bucket, one.record.id), one]))
    this.#records = new Map([...this.#system].map(([key, { record }]) => [key, record]))
    const handler = deliveryHandler({
      outbox: (tenant) => this.#outbox(tenant),
      system: this.#records,
      deliver: (tenant, id, of, signal) => this.#deliver(tenant, id, of, signal),
      ended: (state) => {
        if (state === 'delivered') this.#delivered++
        else this.#failed++
      },
      now,
    })
    this.#looks = new RepeatableWork({
      work: () => this.#look(),
      later,
      retryMs: LOOK_MS,
      failed: (error) => logger.warn(`changes of objects of other hosts could not be looked for: ${messageOf(error)}`),
    })
    this.#sweeps = new RepeatableWork({
      work: () => this.#sweep(),
      later,
      retryMs: SWEEP_MS,
      failed: (error) => logger.warn(`old deliveries stay until later: ${messageOf(error)}`),
    })
    this.#jobs = new JobRunner({
      tenant: options.tenant,
      store: storage.tenant(options.tenant),
      handlers: [handler, ...options.handlers],
      now,
      newId,
      timers,
      places: options.places,
      logger,
    })
  }

  as({ tenant, user }: Caller): SubscriptionsApi {
    const { storage, objects, seal, newId } = this.#options
    return new TenantSubscriptions({
      tenant,
      store: storage.tenant(tenant),
      objects: objects(),
      api: objects().as({ tenant, user }),
      outbox: this.#outbox(tenant),
      seal,
      system: this.#records,
      newId,
      mutex: this.#mutex,
    })
  }

  /** For the neighbours whose handlers these are. */
  get queue(): JobQueue {
    return this.#jobs.queue
  }

  async start(): Promise<void> {
    const { objects, timers } = this.#options
    this.#unlisten = objects().onChanges((tenant) => this.#reader(tenant).wake())
    await this.#jobs.start()
    await this.#look()
    const sweep = (): void => {
      this.#sweeps.wake()
      this.#stopSweeps = timers.later(SWEEP_MS, sweep)
    }
    sweep()
  }

  async stop(): Promise<void> {
    this.#unlisten()
    this.#stopSweeps()
    this.#stopLooking()
    await this.#looks.stop()
    await Promise.all([...this.#readers.values()].map((reader) => reader.stop()))
    await this.#sweeps.stop()
    await this.#jobs.stop()
    await this.#mutex.idle()
  }

  /** Resolves when every change that was committed is handed on and no job of this host can be carried out now. */
  async idle(): Promise<void> {
    await Promise.all([...this.#readers.values()].map((reader) => reader.idle()))
    await this.#jobs.idle()
  }

  gauges(): ReturnType<InternalSubscriptions['gauges']> {
    return { openDeliveries: this.#jobs.open, delivered: this.#delivered, failed: this.#failed }
  }

  async #deliver(tenant: string, id: string, of: DeliveryOf, signal: AbortSignal): Promise<void> {
    const { bucket, id: name } = of.subscription
    const own = this.#system.get(keyOf(bucket, name))
    if (own !== undefined) return own.take(tenant, of.change)
    return callWebscript(this.#options, tenant, id, of, signal)
  }

  /** For changes that nobody told of: of an earlier session, and where hosts share the store of those that died since. */
  async #look(): Promise<void> {
    const { objects, storage, timers } = this.#options
    for (const tenant of await objects().tenantsWithChanges()) this.#reader(tenant).wake()
    // whoever's: all stores of a medium go by one clock
    const [any] = await storage.tenants()
    const session = any === undefined ? undefined : (await storage.tenant(any).now()).session
    if (session !== undefined || this.#looks.isStopped) return
    this.#stopLooking = timers.later(LOOK_MS, () => this.#looks.wake())
  }

  /** Expired records are removed, and deliveries without a subscription end. */
  async #sweep(): Promise<void> {
    const { storage } = this.#options
    for (const tenant of await storage.tenants()) {
      if (this.#sweeps.isStopped) return
      const outbox = this.#outbox(tenant)
      await outbox.repair((writes) => storage.tenant(tenant).commit(writes))
      await outbox.sweep()
    }
  }

  #outbox(tenant: string): Outbox {
    let outbox = this.#outboxes.get(tenant)
    if (outbox === undefined) {
      outbox = new Outbox(this.#options.storage.tenant(tenant), this.#jobs.queue, this.#options.now)
      this.#outboxes.set(tenant, outbox)
    }
    return outbox
  }

  #reader(tenant: string): ChangeReader {
    let reader = this.#readers.get(tenant)
    if (reader === undefined) {
      const { storage, objects, engine, later, logger } = this.#options
      reader = new ChangeReader({
        tenant,
        store: storage.tenant(tenant),
        changes: objects().changes(tenant),
        outbox: this.#outbox(tenant),
        system: [...this.#records.values()],
        engine,
        later,
        logger,
      })
      this.#readers.set(tenant, reader)
    }
    return reader
  }
}
