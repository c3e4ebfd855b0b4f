/**
 * Subscriptions to changes of objects, and their deliveries.
 *
 * SUBSCRIBE-1 each change that matches a filter of an earlier subscription is delivered at least once or fails with a
 *   reason, even across crashes
 * SUBSCRIBE-2 a subscription's deliveries for an object begin only after the deliveries of the object's earlier changes
 *   have ended
 * SUBSCRIBE-3 the numbers of waiting, attempted and stored deliveries are limited
 * SUBSCRIBE-4 the secret of a channel is stored and shown sealed, and opened only for calls
 * SUBSCRIBE-5 each change reaches the rules once, in log order
 *
 * Errors are AppErrors: `VALIDATION` (all problems at once), `NOT_FOUND`, `FORBIDDEN`, `CONFLICT`, `CLOSED`.
 */
import { type JobHandler, type JobQueue, type JobSlots, JobRunner } from '#jobs'
import { RepeatableWork, type Caller, KeyedMutex, type Logger, messageOf } from '#kernel'
import type { Store } from '#storage'
import type { ObjectForwarding } from '../contract.ts'
import { ChangeReader } from './change-reader.ts'
import { deliveryHandler, type DeliveryOf } from './delivery-jobs.ts'
import { Outbox } from './outbox.ts'
import type { Seal } from '#platform'
import { keyOf, type SubscriptionRecord } from './subscription-record.ts'
import { CallerSubscriptions } from './caller-subscriptions.ts'
import { callWebscript, type WebscriptChannelOptions } from './webscript-channel.ts'

export interface SubscriptionsOptions extends WebscriptChannelOptions {
  readonly slots?: JobSlots
  readonly store: Store
  readonly seal: Seal
  readonly engine: () => ObjectForwarding | undefined
  readonly system: readonly SystemSubscription[]
  readonly handlers: readonly JobHandler[]
  readonly now: () => number
  readonly newId: () => string
  readonly logger: Logger
}

export interface SystemSubscription {
  readonly record: SubscriptionRecord
  take(change: DeliveryOf['change']): Promise<void>
}

/** ms between polls for changes left by crashed hosts */
const POLL_MS = 15_000
const SWEEP_MS = 600_000

export class Subscriptions {
  readonly #options: SubscriptionsOptions
  readonly #system: ReadonlyMap<string, SystemSubscription>
  readonly #records: ReadonlyMap<string, SubscriptionRecord>
  readonly #jobs: JobRunner
  readonly #outbox: Outbox
  #reader: ChangeReader | undefined
  readonly #mutex = new KeyedMutex()
  #unlisten: () => void = () => undefined
  #stopSweeps: () => void = () => undefined
  #stopPolling: () => void = () => undefined
  readonly #polls: RepeatableWork
  readonly #sweeps: RepeatableWork
  #delivered = 0
  #failed = 0

  constructor(options: SubscriptionsOptions) {
    this.#options = options
    const { store, now, newId, timers, logger, system } = options
    const { later } = timers
    this.#system = new Map(system.map((one) => [keyOf(one.record.bucket, one.record.id), one]))
    this.#records = new Map([...this.#system].map(([key, { record }]) => [key, record]))
    const handler = deliveryHandler({
      outbox: () => this.#outbox,
      system: this.#records,
      deliver: (id, of, signal) => this.#deliver(id, of, signal),
      ended: (state) => {
        if (state === 'delivered') this.#delivered++
        else this.#failed++
      },
      now,
    })
    this.#polls = new RepeatableWork({
      work: () => this.#poll(),
      later,
      retryMs: POLL_MS,
      failed: (error) => logger.warn(`changes of objects by other hosts could not be read: ${messageOf(error)}`),
    })
    this.#sweeps = new RepeatableWork({
      work: () => this.#sweep(),
      later,
      retryMs: SWEEP_MS,
      failed: (error) => logger.warn(`old deliveries could not be removed; this is retried: ${messageOf(error)}`),
    })
    this.#jobs = new JobRunner({
      tenant: options.tenant,
      store,
      handlers: [handler, ...options.handlers],
      now,
      newId,
      timers,
      slots: options.slots,
      logger,
    })
    this.#outbox = new Outbox(store, this.#jobs.queue, now)
  }

  as(caller: Caller): CallerSubscriptions {
    const { tenant, store, objects, seal, newId } = this.#options
    return new CallerSubscriptions({
      tenant,
      store,
      changes: objects().changes,
      api: objects().as(caller),
      outbox: this.#outbox,
      seal,
      system: this.#records,
      newId,
      mutex: this.#mutex,
    })
  }

  get queue(): JobQueue {
    return this.#jobs.queue
  }

  async start(): Promise<void> {
    const { objects, timers } = this.#options
    this.#unlisten = objects().onChanges(() => this.#handOn())
    await this.#jobs.start()
    await this.#poll()
    const sweep = (): void => {
      this.#sweeps.wake()
      this.#stopSweeps = timers.later(SWEEP_MS, sweep)
    }
    sweep()
  }

  async stop(): Promise<void> {
    this.#unlisten()
    this.#stopSweeps()
    this.#stopPolling()
    await this.#polls.stop()
    await this.#reader?.stop()
    await this.#sweeps.stop()
    await this.#jobs.stop()
    await this.#mutex.idle()
  }

  /** Resolves when all changes are forwarded and no job can run now. */
  async idle(): Promise<void> {
    await this.#reader?.idle()
    await this.#jobs.idle()
  }

  gauges() {
    return { openDeliveries: this.#jobs.open, delivered: this.#delivered, failed: this.#failed }
  }

  async #deliver(id: string, of: DeliveryOf, signal: AbortSignal): Promise<void> {
    const { bucket, id: name } = of.subscription
    const builtIn = this.#system.get(keyOf(bucket, name))
    if (builtIn !== undefined) return builtIn.take(of.change)
    return callWebscript(this.#options, id, of, signal)
  }

  /** Looks for changes left by earlier sessions and crashed hosts. */
  async #poll(): Promise<void> {
    const { objects, store, timers } = this.#options
    const { first, last } = await objects().changes.bounds()
    if (first <= last) this.#handOn()
    const { session } = await store.now()
    if (session !== undefined || this.#polls.isStopped) return
    this.#stopPolling = timers.later(POLL_MS, () => this.#polls.wake())
  }

  async #sweep(): Promise<void> {
    const { store } = this.#options
    await this.#outbox.repair((writes) => store.commit(writes))
    await this.#outbox.sweep()
  }

  #handOn(): void {
    const { tenant, store, objects, engine, timers, logger } = this.#options
    this.#reader ??= new ChangeReader({
      tenant,
      store,
      changes: objects().changes,
      outbox: this.#outbox,
      system: [...this.#records.values()],
      engine,
      later: timers.later,
      logger,
    })
    this.#reader.wake()
  }
}
