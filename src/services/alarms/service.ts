/** The alarms service put together: documents and a log of events over storage, everything else injected. */
import { type Caller, Feed, type Issue, type Logger, messageOf, type Published, type ReaderOptions } from '#kernel'
import { type JobPlaces, type JobQueue, JobRunner } from '#jobs'
import { machineTimers } from '#platform'
import type { Storage } from '#storage'
import { alarmApi } from './alarm-api.ts'
import { AlarmWriter } from './alarm-writer.ts'
import { batchHandler } from './batch-jobs.ts'
import type {
  Alarm,
  AlarmCause,
  AlarmEvent,
  AlarmForwarding,
  AlarmsApi,
  InternalAlarms,
  CauseReader,
} from './contract.ts'
import type { LiveEvent } from './event-tail.ts'
import { doDue, letGo, trimEvents } from './housekeeping.ts'
import { KeyedCommitter } from './keyed-committer.ts'
import { TenantAlarms } from './tenant-alarms.ts'
import { issuesOfAlarm } from './new-alarm.ts'
import { showNewest } from './show-alarm.ts'

export interface AlarmsOptions {
  /** of jobs, which the tenants of a host share */
  readonly places?: JobPlaces
  readonly storage: Storage
  /** epoch ms */
  readonly now: () => number
  /** never the same twice */
  readonly newId: () => string
  /** asked when there is something to tell; undefined while there is no engine. Only asked between start and stop */
  readonly engine?: () => AlarmForwarding | undefined
  readonly causes?: CauseReader
  /** Does the work every so many ms until it is told to end; without it `keepHouse` is up to the caller. */
  readonly every?: (ms: number, work: () => void) => () => void
  readonly logger?: Logger
}

/** The service, and what its clock does. */
export interface OperatedAlarmsService extends InternalAlarms {
  /** Clears, escalates and lets go what is due by now, and resolves when that is done. */
  keepHouse(): Promise<void>
  /** Resolves when what was asked so far is done, batch operations and events for the engine too. */
  idle(): Promise<void>
}

const LOOK_MS = 1000
/** Looks between two sweeps for what is old. */
const LOOKS_PER_SWEEP = 3600
/** Looks after which what other processes wrote is read. */
const LOOKS_PER_READING = 60

export function createAlarmsService(options: AlarmsOptions): OperatedAlarmsService {
  return new Alarms(options)
}

class Alarms implements OperatedAlarmsService {
  readonly #options: AlarmsOptions
  readonly #offices = new Map<string, Promise<TenantAlarms>>()
  readonly #opened = new Map<string, TenantAlarms>()
  readonly #feed = new Feed<LiveEvent>()
  readonly #committer: KeyedCommitter
  readonly #writer: AlarmWriter
  readonly #jobs: JobRunner
  #streams = 0
  #looks = 0
  #isRunning = false
  #house: Promise<void> | undefined
  #endLooks: (() => void) | undefined

  constructor(options: AlarmsOptions) {
    const { storage, now, newId, causes, logger, places } = options
    this.#options = options
    this.#committer = new KeyedCommitter(now, ({ tenant }, last, events) =>
      this.#opened.get(tenant)?.committed(last, events),
    )
    this.#writer = new AlarmWriter({ committer: this.#committer, now, newId, causes, logger })
    const handler = batchHandler(this.#writer, (tenant) => this.#tenantAlarms(tenant))
    this.#jobs = new JobRunner({ storage, handlers: [handler], now, newId, timers: machineTimers, places, logger })
  }

  as(caller: Caller): AlarmsApi {
    const { now, newId } = this.#options
    const tenantAlarms = (): Promise<TenantAlarms> => this.#tenantAlarms(caller.tenant)
    const streaming = (by: 1 | -1): void => void (this.#streams += by)
    const jobs = (tenant: string): JobQueue => this.#jobs.queue(tenant)
    return alarmApi({ writer: this.#writer, jobs, now, newId, tenantAlarms, streaming }, caller)
  }

  async clear(caller: Caller, source: string, type: string, cause: AlarmCause): Promise<readonly Alarm[]> {
    const cleared = await this.#writer.clear(await this.#tenantAlarms(caller.tenant), source, type, cause)
    const now = this.#options.now()
    return cleared.map((alarm) => showNewest(alarm, now))
  }

  check(body: unknown): readonly Issue[] {
    return issuesOfAlarm(body, this.#options.now())
  }

  async start(closing?: AbortSignal): Promise<void> {
    closing?.addEventListener('abort', () => this.#feed.end(), { once: true })
    this.#isRunning = true
    for (const tenant of await this.#options.storage.tenants()) {
      const tenantAlarms = await this.#tenantAlarms(tenant)
      await tenantAlarms.readNextDue()
      tenantAlarms.forwarder.wake()
    }
    await this.#jobs.start()
    this.#endLooks = this.#options.every?.(LOOK_MS, () => this.#look())
    this.#sweep(true)
  }

  async stop(): Promise<void> {
    this.#isRunning = false
    this.#endLooks?.()
    this.#feed.end()
    await this.#jobs.stop()
    await this.#house
    await this.#committer.idle()
    await Promise.all([...this.#opened.values()].map(({ forwarder }) => forwarder.stop()))
    await Promise.all([...this.#opened.values()].map(({ tail }) => tail.idle()))
  }

  gauges(): ReturnType<InternalAlarms['gauges']> {
    return { openBatches: this.#jobs.open, eventStreams: this.#streams }
  }

  async *events(options?: ReaderOptions): AsyncGenerator<Published<AlarmEvent>> {
    for await (const { number, topic, value } of this.#feed.read(options)) yield { number, topic, value: value.event }
  }

  async keepHouse(): Promise<void> {
    await this.#house
    this.#sweep(true)
    await this.#house
  }

  async idle(): Promise<void> {
    await this.#jobs.idle()
    await this.#committer.idle()
    for (const { tail, forwarder } of this.#opened.values()) {
      await tail.idle()
      await forwarder.idle()
    }
  }

  #tenantAlarms(tenant: string): Promise<TenantAlarms> {
    const known = this.#offices.get(tenant)
    if (known) return known
    const { storage, engine, logger } = this.#options
    const opening = TenantAlarms.open(tenant, {
      storage,
      feed: this.#feed,
      engine: () => (this.#isRunning ? engine?.() : undefined),
      logger,
      failed: (error) => this.#report('alarm events could not be read', error),
    })
    this.#offices.set(tenant, opening)
    opening.then(
      (tenantAlarms) => this.#opened.set(tenant, tenantAlarms),
      // the next one who asks tries again
      () => this.#offices.delete(tenant),
    )
    return opening
  }

  #look(): void {
    this.#looks++
    for (const [tenant, { tail, forwarder }] of this.#opened) {
      if (this.#feed.hasReaders(tenant)) tail.look()
      forwarder.wakeIfBehind()
    }
    this.#sweep(this.#looks % LOOKS_PER_SWEEP === 0)
  }

  /** One at a time. */
  #sweep(isThorough: boolean): void {
    this.#house ??= this.#sweepAll(isThorough)
      .catch((error: unknown) => this.#report('alarms could not be kept in order', error))
      .finally(() => (this.#house = undefined))
  }

  async #sweepAll(isThorough: boolean): Promise<void> {
    const now = this.#options.now()
    for (const tenantAlarms of this.#opened.values()) {
      if (isThorough || this.#looks % LOOKS_PER_READING === 0) await tenantAlarms.readNextDue()
      await doDue(tenantAlarms, this.#writer, now)
      if (!isThorough) continue
      await letGo(tenantAlarms, this.#writer, now)
      await this.#jobs.queue(tenantAlarms.collections.tenant).removeOld()
      await trimEvents(tenantAlarms)
      await tenantAlarms.collections.effects.sweep(now)
    }
  }

  #report(what: string, error: unknown): void {
    if (this.#isRunning) this.#options.logger?.error(`${what}: ${messageOf(error)}`)
  }
}
