/** Composes the alarms service from its documents and event log in the store, and from other services, which are injected. */
import { JobRunner, type JobSlots } from '#jobs'
import { AppError, type Caller, type Issue, type Logger, messageOf } from '#kernel'
import { machineTimers } from '#platform'
import { type Condition, portionsOfIds, type Store } from '#storage'
import { alarmApi } from './alarm-api.ts'
import { type AlarmRecord, dueTime } from './alarm-record.ts'
import { SEVERITIES } from './alarm-schema.ts'
import { AlarmTypes } from './alarm-types.ts'
import { AlarmWriter, type Change } from './alarm-writer.ts'
import { batchHandler } from './batch-service.ts'
import { type AlarmCollections, openCollections } from './collections.ts'
import { NO_CAUSE } from './change-alarm.ts'
import type {
  Alarm,
  AlarmCause,
  AlarmForwarding,
  AlarmsApi,
  AlarmSelection,
  AlarmSuppressor,
  CauseReader,
  InternalAlarms,
  NewHold,
} from './contract.ts'
import { EventForwarder } from './event-forwarder.ts'
import { EventTail } from './event-tail.ts'
import { KeyedCommitter } from './keyed-committer.ts'
import { type Ancestors, ParentAlarms } from './parent-alarms.ts'
import { readFigures } from './read-figures.ts'
import { readCounted } from './read-query.ts'
import { issuesOfAlarm } from './new-alarm.ts'
import { showNewest } from './show-alarm.ts'

export interface AlarmsOptions {
  readonly slots?: JobSlots
  readonly tenant: string
  readonly store: Store
  readonly now: () => number
  readonly newId: () => string
  /** called for each event between start and stop; undefined without an engine */
  readonly engine?: () => AlarmForwarding | undefined
  readonly causes?: CauseReader
  readonly ancestors?: Ancestors
  readonly suppressor?: () => AlarmSuppressor | undefined
  /** Repeats `work` every `ms` until the returned function is called. If absent, call `keepHouse` instead. */
  readonly every?: (ms: number, work: () => void) => () => void
  /** Returns the age in ms after which cleared alarms are removed; undefined: a year, as for open ones */
  readonly age?: () => number | undefined
  readonly logger?: Logger
}

/** ms for which counts of open alarms are used again */
const COUNTED_MS = 5_000
/** ms of the metric of announced alarms */
const RECENT_MS = 600_000
const LOOK_MS = 1000
const LOOKS_PER_SWEEP = 3600
const LOOKS_PER_READING = 60

export class Alarms implements InternalAlarms {
  readonly #options: AlarmsOptions
  readonly #collections: AlarmCollections
  readonly #tail: EventTail
  readonly #forwarder: EventForwarder
  readonly #committer: KeyedCommitter
  readonly #types: AlarmTypes
  readonly #parents: ParentAlarms
  readonly #writer: AlarmWriter
  readonly #housekeeping: Housekeeping
  readonly #jobs: JobRunner
  #counted: { readonly at: number; readonly counts: Promise<Readonly<Record<string, number>>> } | undefined
  #recent: { readonly at: number; readonly counts: Promise<Readonly<Record<string, number>>> } | undefined
  #looks = 0
  #isRunning = false
  #house: Promise<void> | undefined
  #endLooks: (() => void) | undefined

  constructor(options: AlarmsOptions) {
    const { tenant, store, now, newId, causes, suppressor, engine, logger, slots } = options
    this.#options = options
    const collections = openCollections(tenant, store)
    this.#collections = collections
    this.#tail = new EventTail(collections, (error) => this.#report('alarm events could not be read', error))
    this.#forwarder = new EventForwarder(collections, () => (this.#isRunning ? engine?.() : undefined), logger)
    this.#committer = new KeyedCommitter(collections, now, (last, events) => {
      this.#tail.committed(last, events)
      if (this.#types.hasParents) this.#parents.committed(events)
      this.#forwarder.wake()
    })
    const written = (alarm: AlarmRecord): void => this.#housekeeping.watch(alarm)
    const { types: records } = collections
    this.#types = new AlarmTypes(records)
    this.#parents = new ParentAlarms({
      collections,
      types: this.#types,
      ancestors: options.ancestors,
      release: (by) => this.release(by),
      failed: (error) => this.#report('suppressed alarms could not be released', error),
    })
    const parts = { collections, committer: this.#committer, types: this.#types, parents: this.#parents }
    this.#writer = new AlarmWriter({ ...parts, now, newId, causes, suppressor, written, logger })
    this.#housekeeping = new Housekeeping(collections, this.#writer)
    const handlers = [batchHandler(this.#writer)]
    this.#jobs = new JobRunner({ tenant, store, handlers, now, newId, timers: machineTimers, slots, logger })
  }

  as(caller: Caller): AlarmsApi {
    const { now, newId, ancestors } = this.#options
    const [writer, tail, collections, { queue }] = [this.#writer, this.#tail, this.#collections, this.#jobs]
    return alarmApi({ writer, tail, types: this.#types, ancestors, collections, queue, now, newId }, caller)
  }

  async clear(source: string, type: string, cause: AlarmCause): Promise<readonly Alarm[]> {
    const cleared = await this.#writer.clear(ENGINE, source, type, cause)
    const now = this.#options.now()
    return cleared.map((alarm) => showNewest(alarm, now))
  }

  async suppress(select: AlarmSelection, hold: NewHold): Promise<number> {
    return this.#changeAll([...selectedBy(select), OPEN], { suppress: hold }, hold.by)
  }

  async release(by: string): Promise<number> {
    return this.#changeAll([{ field: 'holders', op: 'eq', value: by }, OPEN], { release: by }, by)
  }

  check(body: unknown): readonly Issue[] {
    return issuesOfAlarm(body, this.#options.now())
  }

  async start(closing?: AbortSignal): Promise<void> {
    closing?.addEventListener('abort', () => this.#tail.end(), { once: true })
    this.#isRunning = true
    await this.#tail.start()
    await this.#types.read()
    await this.#housekeeping.readNextDue()
    this.#forwarder.wake()
    await this.#jobs.start()
    this.#endLooks = this.#options.every?.(LOOK_MS, () => this.#look())
    this.#sweep(true)
  }

  async stop(): Promise<void> {
    this.#isRunning = false
    this.#endLooks?.()
    this.#tail.end()
    await this.#jobs.stop()
    await this.#house
    await this.#parents.idle()
    await this.#committer.idle()
    await this.#forwarder.stop()
    await this.#tail.idle()
  }

  gauges(): ReturnType<InternalAlarms['gauges']> {
    return { openBatches: this.#jobs.open, eventStreams: this.#tail.readers }
  }

  async openBySeverity(): Promise<Readonly<Record<string, number>>> {
    const now = this.#options.now()
    if (this.#counted === undefined || now - this.#counted.at > COUNTED_MS) {
      const open = { field: 'status', op: 'ne', value: 'CLEARED' } as const
      const counts = this.#collections.alarms.countBy('severity', [open])
      const all = SEVERITIES.map((severity) => [severity, 0] as const)
      this.#counted = { at: now, counts: counts.then((found) => Object.fromEntries([...all, ...found])) }
    }
    return this.#counted.counts
  }

  async recentFigures(): Promise<Readonly<Record<string, number>>> {
    const now = this.#options.now()
    if (this.#recent === undefined || now - this.#recent.at > COUNTED_MS) {
      const figures = readFigures(this.#collections, { from: now - RECENT_MS, until: now, operators: 1 })
      const counts = figures.then(({ alarms, standing, stale }) => ({
        announced: alarms,
        standing,
        stale: stale.count,
      }))
      this.#recent = { at: now, counts }
    }
    return this.#recent.counts
  }

  get eventLog(): InternalAlarms['eventLog'] {
    return { log: this.#collections.events, last: () => this.#tail.last }
  }

  async keepHouse(): Promise<void> {
    await this.#house
    this.#sweep(true)
    await this.#house
  }

  async idle(): Promise<void> {
    await this.#jobs.idle()
    await this.#parents.idle()
    await this.#committer.idle()
    await this.#tail.idle()
    await this.#forwarder.idle()
  }

  async #changeAll(where: readonly Condition[], change: Change, user: string): Promise<number> {
    let changed = 0
    for await (const ids of portionsOfIds(this.#collections.alarms, where, PORTION)) {
      await Promise.all(
        ids.map((id) => this.#writer.change(id, change, { user, causation: NO_CAUSE }).catch(ignoreFinished)),
      )
      changed += ids.length
    }
    return changed
  }

  #look(): void {
    this.#looks++
    this.#tail.lookForReaders()
    this.#sweep(this.#looks % LOOKS_PER_SWEEP === 0)
  }

  #sweep(isThorough: boolean): void {
    this.#house ??= this.#sweepAll(isThorough)
      .catch((error: unknown) => this.#report('the maintenance of alarms failed', error))
      .finally(() => (this.#house = undefined))
  }

  async #sweepAll(isThorough: boolean): Promise<void> {
    const now = this.#options.now()
    if (isThorough || this.#looks % LOOKS_PER_READING === 0) {
      await this.#housekeeping.readNextDue()
      await this.#types.read()
      if (isThorough || this.#types.hasParents) await this.#parents.sweep()
    }
    await this.#housekeeping.doDue(now)
    if (!isThorough) return
    await this.#housekeeping.removeOld(now - KEPT_MS)
    const age = this.#options.age?.()
    if (age !== undefined) await this.#housekeeping.removeOld(now - age, CLEARED)
    await this.#jobs.queue.removeOld()
    await this.#housekeeping.trimEvents(this.#forwarder.position)
    await this.#collections.effects.sweep(now)
  }

  #report(what: string, error: unknown): void {
    if (this.#isRunning) this.#options.logger?.error(`${what}: ${messageOf(error)}`)
  }
}

const KEPT_MS = 365 * 86_400_000
const CLEARED: readonly Condition[] = [{ field: 'status', op: 'eq', value: 'CLEARED' }]
const PORTION = 200
const KEPT_EVENTS = 10_000

/** Makes automatic changes to alarms: clearing, escalation, and removal after a year. */
class Housekeeping {
  readonly #collections: AlarmCollections
  readonly #writer: AlarmWriter
  /** epoch ms of the next known automatic change */
  #nextDue = Number.POSITIVE_INFINITY

  constructor(collections: AlarmCollections, writer: AlarmWriter) {
    this.#collections = collections
    this.#writer = writer
  }

  watch(alarm: AlarmRecord): void {
    this.#nextDue = Math.min(this.#nextDue, dueTime(alarm) ?? Number.POSITIVE_INFINITY)
  }

  async readNextDue(): Promise<void> {
    const [first] = await this.#collections.alarms.find({
      where: [{ field: 'due', op: 'exists', value: true }],
      sort: [{ field: 'due' }],
      limit: 1,
    })
    this.#nextDue = (first && dueTime(first.value)) ?? Number.POSITIVE_INFINITY
  }

  async doDue(now: number): Promise<void> {
    if (now < this.#nextDue) return
    for (;;) {
      const due = await this.#collections.alarms.find({
        where: [{ field: 'due', op: 'lte', value: now }],
        sort: [{ field: 'due' }],
        limit: PORTION,
      })
      await Promise.all(due.map(({ value }) => this.#writer.doDue(value)))
      if (due.length < PORTION) break
    }
    await this.readNextDue()
  }

  /** Deletes alarms that were raised before a time, without events. */
  async removeOld(before: number, also: readonly Condition[] = []): Promise<void> {
    for (;;) {
      const old = await this.#collections.alarms.ids({
        where: [{ field: 'createTime', op: 'lt', value: before }, ...also],
        limit: PORTION,
      })
      await Promise.all(old.map((id) => this.#writer.remove(id).catch(ignoreMissing)))
      if (old.length < PORTION) return
    }
  }

  async trimEvents(forwarded: number | undefined): Promise<void> {
    const { first, last } = await this.#collections.events.bounds()
    const upTo = Math.min(last - KEPT_EVENTS, forwarded ?? last)
    if (upTo >= first) await this.#collections.events.trim(upTo)
  }
}

const ENGINE = 'system/engine'
const OPEN: Condition = { field: 'status', op: 'in', values: ['ACTIVE', 'ACKNOWLEDGED'] }

function selectedBy(select: AlarmSelection): readonly Condition[] {
  const { ids, ...query } = select
  return Array.isArray(ids) ? [{ field: 'id', op: 'in', values: ids as readonly string[] }] : readCounted(query)
}

function ignoreFinished(error: unknown): void {
  if (!(error instanceof AppError) || (error.code !== 'NOT_FOUND' && error.code !== 'FINAL')) throw error
}

function ignoreMissing(error: unknown): void {
  if (!(error instanceof AppError) || error.code !== 'NOT_FOUND') throw error
}
