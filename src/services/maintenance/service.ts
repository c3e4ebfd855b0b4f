/** Keeps maintenance windows, holds back alarms in them, and pauses and resumes tasks. */
import { AppError, type Caller, type Logger, messageOf, RepeatableWork, type StartTimer } from '#kernel'
import type { AlarmDiscard, InternalAlarms, NewbornAlarm, NewHold } from '#services/alarms/contract'
import { headOf, NamedDocuments, type NamedRecord } from '#services/shared'
import type { Collection, CollectionSpec, Store, Stored } from '#storage'
import type { InternalMaintenance, MaintenanceApi } from './contract.ts'
import { isAboutAlarm, isAboutTask, mayShare } from './select.ts'
import {
  type MaintenanceWindow,
  WindowConfiguration,
  type WindowDocument,
  type WindowSelection,
} from './window-schema.ts'
import { type Span, type WindowTimes, windowTimes } from './window-times.ts'

/** Port to the tasks of the tenant. */
export interface PausableTasks {
  /** Returns running tasks. */
  running(): Promise<readonly { readonly id: string; readonly resource?: string; readonly tags: object }[]>
  /** A task that does not exist, or does not run, is left as it is. */
  stop(id: string): Promise<void>
  start(id: string): Promise<void>
}

export interface MaintenanceOptions {
  readonly tenant: string
  readonly store: Store
  readonly alarms: () => InternalAlarms | undefined
  readonly tasks: () => PausableTasks | undefined
  readonly now: () => number
  readonly later: StartTimer
  readonly logger: Logger
}

const WINDOWS: CollectionSpec<NamedRecord<WindowDocument>> = {
  name: 'maintenance_windows',
  version: 1,
  audited: true,
  fields: {},
}

/** What a window has begun: written before it acts, and removed after it has ended. */
interface BegunRecord {
  readonly effect: WindowDocument['effect']
  readonly version: number
  readonly until: number
  /** tasks that it stopped */
  readonly tasks: readonly string[]
}
const BEGUN: CollectionSpec<BegunRecord> = { name: 'maintenance_begun', version: 1, fields: {} }

const MAX_WINDOWS = 200
const MAX_TASKS = 10_000
const PAGE = 1_000
const RETRY_MS = 2_000
const LONGEST_WAIT_MS = 60_000
const OVERLAP_MS = 30 * 86_400_000
const MAX_SPANS = 400
const SYSTEM = 'system/maintenance'

interface Known {
  readonly name: string
  readonly version: number
  readonly document: WindowDocument
  readonly times: WindowTimes
}
interface Active extends Known {
  readonly span: Span
}

export class Maintenance extends RepeatableWork implements InternalMaintenance {
  readonly #options: MaintenanceOptions
  readonly #documents: NamedDocuments<WindowDocument>
  readonly #begun: Collection<BegunRecord>
  readonly #discarded = new Map<string, number>()
  #known: readonly Known[] = []
  #active: readonly Active[] = []
  /** when the active windows change next */
  #nextChange = Infinity
  #cancelTimer: (() => void) | undefined

  constructor(options: MaintenanceOptions) {
    const { store, now, later, logger, tenant } = options
    super({
      work: () => this.#keep(),
      later,
      retryMs: RETRY_MS,
      failed: (error) => logger.error(`maintenance windows of tenant ${tenant} are late: ${messageOf(error)}`),
    })
    this.#options = options
    this.#begun = store.collection(BEGUN)
    this.#documents = new NamedDocuments({ store, spec: WINDOWS, one: 'window', most: MAX_WINDOWS, now })
  }

  /** Reads the windows before the first alarm is raised. */
  async start(): Promise<void> {
    await this.#read()
    this.wake()
  }

  override async stop(): Promise<void> {
    this.#cancelTimer?.()
    await super.stop()
  }

  as({ user }: Caller): MaintenanceApi {
    const documents = this.#documents
    return {
      list: async () => (await documents.all()).map((stored) => this.#shown(stored)),
      get: async (name) => this.#shown(await documents.get(name)),
      put: async (name, body, { ifRevision } = {}) => {
        const read = WindowConfiguration.read(body) as Omit<WindowDocument, 'from'> & { readonly from?: number }
        const document: WindowDocument = { ...read, from: read.from ?? this.#options.now() }
        windowTimes(document)
        const { stored, created } = await documents.put(name, document, { user, ifRevision })
        await this.#read()
        this.wake()
        return { document: this.#shown(stored), created }
      },
      remove: async (name, options) => {
        await documents.remove(name, options)
        await this.#read()
        this.wake()
      },
    }
  }

  holdsOn(alarm: NewbornAlarm, now: number): readonly NewHold[] {
    return this.#activeAt(now).flatMap((one) => {
      const { document } = one
      return document.effect === 'suppress' && isAboutAlarm(document.select, alarm) ? [holdOf(one)] : []
    })
  }

  discards(alarm: NewbornAlarm, now: number): AlarmDiscard | undefined {
    const found = this.#activeAt(now).find(({ document: { effect, select } }) => {
      return effect === 'discard' && isAboutAlarm(select, alarm)
    })
    if (found === undefined) return undefined
    this.#discarded.set(found.name, (this.#discarded.get(found.name) ?? 0) + 1)
    return holdOf(found)
  }

  async #read(): Promise<void> {
    this.#known = (await this.#documents.all()).map(({ id, version, value: { document } }) => {
      return { name: id, version, document, times: windowTimes(document) }
    })
    this.#nextChange = -Infinity
  }

  #activeAt(now: number): readonly Active[] {
    if (now < this.#nextChange) return this.#active
    this.#nextChange = Infinity
    this.#active = this.#known.flatMap((one) => {
      const span = one.times.at(now)
      const change = span?.until ?? one.times.next(now)?.from ?? Infinity
      this.#nextChange = Math.min(this.#nextChange, change)
      return span === undefined ? [] : [{ ...one, span }]
    })
    return this.#active
  }

  /** Begins and ends windows. */
  async #keep(): Promise<void> {
    this.#cancelTimer?.()
    const { now, later } = this.#options
    const active = this.#activeAt(now())
    for (const { id, value, version } of await this.#begun.find({ limit: MAX_WINDOWS * 2 })) {
      const same = active.find((one) => one.name === id && one.version === value.version)
      if (same === undefined) await this.#end(id, value, version, active)
    }
    for (const one of active) await this.#begin(one)
    if (this.isStopped) return
    const wait = Math.max(1, Math.min(this.#nextChange - now(), LONGEST_WAIT_MS))
    this.#cancelTimer = later(wait, () => this.wake())
  }

  async #begin(one: Active): Promise<void> {
    const { name, version, document, span } = one
    const { effect, select } = document
    const begun = await this.#begun.get(name)
    if (begun?.value.until === span.until && begun.value.version === version) return
    const stopped = effect === 'pause' ? await this.#tasksOf(select) : []
    const tasks = [...new Set([...(begun?.value.tasks ?? []), ...stopped])].slice(0, MAX_TASKS)
    await this.#begun.put(name, { effect, version, until: span.until, tasks }, begun?.version ?? 'absent')
    for (const id of stopped) await this.#options.tasks()?.stop(id)
    if (effect !== 'suppress') return
    const ids = await this.#openAlarms(select)
    for (let from = 0; from < ids.length; from += PAGE)
      await this.#options.alarms()?.suppress({ ids: ids.slice(from, from + PAGE) }, holdOf(one))
  }

  async #end(name: string, { effect, tasks }: BegunRecord, version: number, active: readonly Active[]): Promise<void> {
    if (effect === 'suppress') await this.#options.alarms()?.release(holderOf(name))
    const others = active.filter((one) => one.document.effect === 'pause' && one.name !== name)
    const still = new Set<string>()
    for (const other of others) for (const id of (await this.#begun.get(other.name))?.value.tasks ?? []) still.add(id)
    for (const id of tasks) if (!still.has(id)) await this.#options.tasks()?.start(id)
    await this.#begun.delete(name, version)
  }

  async #tasksOf(select: WindowSelection): Promise<readonly string[]> {
    const running = (await this.#options.tasks()?.running()) ?? []
    return running.filter((task) => isAboutTask(select, task)).map(({ id }) => id)
  }

  async #openAlarms(select: WindowSelection): Promise<readonly string[]> {
    const api = this.#options.alarms()?.as({ tenant: this.#options.tenant, user: SYSTEM })
    if (api === undefined) return []
    const { resources, types } = select
    const ids: string[] = []
    for (let page = 1; ; page++) {
      const { alarms } = await api.list({
        status: ['ACTIVE', 'ACKNOWLEDGED'],
        ...(resources && { source: resources }),
        ...(types && { type: types }),
        history: false,
        size: PAGE,
        page,
      })
      for (const { id, source, type, severity, additionalProperties: properties } of alarms) {
        if (isAboutAlarm(select, { source, type, severity, ...(properties && { properties }) })) ids.push(id)
      }
      if (alarms.length < PAGE) return ids
    }
  }

  #shown(stored: Stored<NamedRecord<WindowDocument>>): MaintenanceWindow {
    const { id, value } = stored
    const { from, until, ...document } = value.document
    const now = this.#options.now()
    const times = windowTimes(value.document)
    const [current, next] = [times.at(now), times.next(now)]
    return {
      ...headOf(stored),
      ...document,
      from: isoOf(from),
      ...(until !== undefined && { until: isoOf(until) }),
      state: current !== undefined ? 'active' : next !== undefined ? 'planned' : 'over',
      ...(current && { current: shownSpan(current) }),
      ...(next && { next: shownSpan(next) }),
      discarded: this.#discarded.get(id) ?? 0,
      warnings: this.#overlaps(id, value.document, times, now),
    }
  }

  #overlaps(name: string, { select }: WindowDocument, times: WindowTimes, now: number): readonly string[] {
    const own = spansOf(times, now)
    return this.#known.flatMap((other) => {
      if (other.name === name || !mayShare(select, other.document.select)) return []
      const shared = firstShared(own, spansOf(other.times, now))
      if (shared === undefined) return []
      return [
        `overlaps the window ${other.name} (${other.document.effect}) from ${isoOf(shared.from)} to ${isoOf(shared.until)}; both apply`,
      ]
    })
  }
}

function holderOf(name: string): string {
  return `window/${name}`
}

function holdOf({ name, span, document: { reason, title } }: Active): NewHold {
  const why = reason ?? title
  return { suppression: 'suppressed', by: holderOf(name), until: span.until, ...(why !== undefined && { reason: why }) }
}

function spansOf(times: WindowTimes, now: number): readonly Span[] {
  const current = times.at(now)
  const spans = current === undefined ? [] : [current]
  for (let one = times.next(now); one !== undefined && one.from < now + OVERLAP_MS && spans.length < MAX_SPANS;) {
    spans.push(one)
    one = times.next(one.from)
  }
  return spans
}

function firstShared(one: readonly Span[], other: readonly Span[]): Span | undefined {
  for (const a of one) {
    for (const b of other) {
      const shared = { from: Math.max(a.from, b.from), until: Math.min(a.until, b.until) }
      if (shared.from < shared.until) return shared
    }
  }
  return undefined
}

function shownSpan({ from, until }: Span): { readonly from: string; readonly until: string } {
  return { from: isoOf(from), until: isoOf(until) }
}

function isoOf(time: number): string {
  return new Date(time).toISOString()
}

export function ignoringState(error: unknown): void {
  if (!(error instanceof AppError) || (error.code !== 'NOT_FOUND' && error.code !== 'WRONG_STATUS')) throw error
}
