/** Follows the log of alarm events, and takes due steps and groups; each portion is one commit (NOTIFY-1). */
import type { CalendarReading } from '#core/spi'
import { isPlainObject, type Logger, messageOf, RepeatableWork, type StartTimer } from '#kernel'
import type { InternalAlarms } from '#services/alarms/contract'
import type { Collection, Store, Write } from '#storage'
import type { ContactDocument } from './contact-schema.ts'
import { type AlarmNews, type Configuration, NoticeDraft } from './notice-draft.ts'
import {
  CURSORS,
  type CursorRecord,
  type GroupRecord,
  GROUPS,
  type IncidentRecord,
  INCIDENTS,
  type NotificationRecord,
} from './notification-record.ts'
import type { PolicyDocument } from './policy-schema.ts'

export interface NoticeReaderOptions {
  readonly store: Store
  readonly alarms: () => InternalAlarms | undefined
  readonly policies: () => Promise<ReadonlyMap<string, PolicyDocument>>
  readonly contact: (name: string) => Promise<ContactDocument | undefined>
  readonly calendar: (name: string) => Promise<CalendarReading | undefined>
  readonly tenant: string
  readonly now: () => number
  readonly newId: () => string
  readonly later: StartTimer
  /** called after the commit of new notifications */
  readonly created: (records: readonly NotificationRecord[]) => void
  readonly logger: Logger
}

const PORTION = 500
const DUE_PORTION = 300
const GROUPS_AT_ONCE = 50
const RETRY_MS = 1_000
/** Interval between looks at the end of the log while there are policies, in ms. */
const LOOK_MS = 100
const LONGEST_WAIT_MS = 60_000
const CURSOR = 'events'
const SYSTEM = 'system/notification'

export class NoticeReader extends RepeatableWork {
  readonly #options: NoticeReaderOptions
  readonly #cursors: Collection<CursorRecord>
  readonly #incidents: Collection<IncidentRecord>
  readonly #groups: Collection<GroupRecord>
  #position: number | undefined
  #missed = 0
  #cancelTimer: (() => void) | undefined
  #nextDue = Infinity
  #hasPolicies = true

  constructor(options: NoticeReaderOptions) {
    const { store, later, logger, tenant } = options
    super({
      work: () => this.#follow(),
      later,
      retryMs: RETRY_MS,
      failed: (error) =>
        logger.error(`notifications of tenant ${tenant} are delayed: ${messageOf(error)}; they are retried`),
    })
    this.#options = options
    this.#cursors = store.collection(CURSORS)
    this.#incidents = store.collection(INCIDENTS)
    this.#groups = store.collection(GROUPS)
  }

  /** events that were removed before they were read */
  get missed(): number {
    return this.#missed
  }

  override async stop(): Promise<void> {
    this.#cancelTimer?.()
    await super.stop()
  }

  /** Call when a policy was written. */
  policiesChanged(): void {
    this.#hasPolicies = true
    this.wake()
  }

  async #follow(): Promise<void> {
    this.#cancelTimer?.()
    const policies = await this.#options.policies()
    this.#hasPolicies = policies.size > 0
    while (!this.isStopped && (await this.#readPortion(policies)));
    while (!this.isStopped && (await this.#takeDue(policies)));
    await this.#readNextDue()
    this.#look()
  }

  /** Wakes when the log has grown, or something is due. */
  #look(): void {
    if (this.isStopped) return
    const { later, now, alarms } = this.#options
    const isBehind = this.#hasPolicies && (alarms()?.eventLog.last() ?? 0) > (this.#position ?? 0)
    if (isBehind || this.#nextDue <= now()) return this.wake()
    const rest = Math.max(1, Math.min(this.#nextDue - now(), LONGEST_WAIT_MS))
    this.#cancelTimer = later(this.#hasPolicies ? Math.min(LOOK_MS, rest) : rest, () => this.#look())
  }

  async #readPortion(policies: ReadonlyMap<string, PolicyDocument>): Promise<boolean> {
    const { alarms } = this.#options
    const eventLog = alarms()?.eventLog
    if (eventLog === undefined) return false
    const position = (this.#position ??= await this.#begin(eventLog.last()))
    const entries = eventLog.last() <= position ? [] : await eventLog.log.read(position, PORTION)
    const [first, last] = [entries[0], entries.at(-1)]
    if (first === undefined || last === undefined) return false
    const missed = first.position - position - 1
    if (missed > 0) this.#lost(missed)
    const draft = this.#draft(policies)
    if (policies.size > 0) {
      const news = entries.flatMap(({ body }) => newsOf(body) ?? [])
      await this.#know(draft, news)
      for (const one of news) await draft.event(one)
      await draft.takeSteps()
    }
    await this.#commit(draft, [this.#cursors.putting(CURSOR, { position: last.position })])
    this.#position = last.position
    return true
  }

  async #takeDue(policies: ReadonlyMap<string, PolicyDocument>): Promise<boolean> {
    const now = this.#options.now()
    const where = [{ field: 'due', op: 'lte', value: now }] as const
    const steps = await this.#incidents.find({ where, sort: [{ field: 'due' }], limit: DUE_PORTION })
    const groups = await this.#groups.find({
      where: [{ field: 'sendAt', op: 'lte', value: now }],
      sort: [{ field: 'sendAt' }],
      limit: GROUPS_AT_ONCE,
    })
    if (steps.length === 0 && groups.length === 0) return false
    const draft = this.#draft(policies)
    const open = await this.#openAlarms(steps.map(({ value }) => value.alarm.id))
    for (const { id, value } of steps) {
      draft.know(id, value)
      if (open.has(value.alarm.id)) await draft.step(id, value)
      else draft.forget(id)
    }
    for (const { id, value } of groups) await draft.flush(id, value)
    await this.#commit(draft, [])
    return true
  }

  #draft(policies: ReadonlyMap<string, PolicyDocument>): NoticeDraft {
    const { store, now, newId, contact, calendar } = this.#options
    const configuration: Configuration = { policies, contact: remembered(contact), calendar: remembered(calendar) }
    return new NoticeDraft(store, configuration, now(), newId)
  }

  async #commit(draft: NoticeDraft, more: readonly Write[]): Promise<void> {
    const { store, created } = this.#options
    await store.commit([...draft.writes(), ...more])
    created(draft.created)
  }

  async #know(draft: NoticeDraft, news: readonly AlarmNews[]): Promise<void> {
    const ids = [...new Set(news.flatMap(({ isNew, alarm }) => (isNew ? [] : [alarm.id])))]
    if (ids.length === 0) return
    const where = [{ field: 'alarm', op: 'in', values: ids }] as const
    const found = await this.#incidents.find({ where, limit: 10_000 })
    for (const { id, value } of found) draft.know(id, value)
  }

  /** Alarms that were deleted send no event, so the others are looked up. */
  async #openAlarms(ids: readonly string[]): Promise<ReadonlySet<string>> {
    const { alarms, tenant } = this.#options
    const api = alarms()?.as({ tenant, user: SYSTEM })
    if (api === undefined) return new Set(ids)
    const open = new Set<string>()
    for (const id of new Set(ids)) {
      const status = await api.get(id).then(
        (alarm) => alarm.status,
        (error: unknown) => (isMissing(error) ? 'CLEARED' : Promise.reject(error)),
      )
      if (status !== 'CLEARED') open.add(id)
    }
    return open
  }

  /** The first start stores where it begins, so that a crash before the first portion loses nothing. */
  async #begin(last: number): Promise<number> {
    const stored = await this.#cursors.get(CURSOR)
    if (stored !== undefined) return stored.value.position
    await this.#cursors.put(CURSOR, { position: last }, 'absent')
    return last
  }

  async #readNextDue(): Promise<void> {
    const [[step], [group]] = await Promise.all([
      this.#incidents.find({
        where: [{ field: 'due', op: 'exists', value: true }],
        sort: [{ field: 'due' }],
        limit: 1,
      }),
      this.#groups.find({ sort: [{ field: 'sendAt' }], limit: 1 }),
    ])
    this.#nextDue = Math.min(step?.value.due ?? Infinity, group?.value.sendAt ?? Infinity)
  }

  #lost(missed: number): void {
    const { logger, tenant } = this.#options
    this.#missed += missed
    logger.error(`${missed} alarm events of tenant ${tenant} were removed before notifications were made of them`)
  }
}

function remembered<T>(read: (name: string) => Promise<T>): (name: string) => Promise<T> {
  const known = new Map<string, Promise<T>>()
  return (name) => {
    const found = known.get(name)
    if (found !== undefined) return found
    const reading = read(name)
    known.set(name, reading)
    return reading
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'NOT_FOUND'
}

const RAISED = 'io.service.alarm.AlarmRaised'

interface EventBody {
  readonly eventtype: string
  readonly alarm: Readonly<Record<string, unknown>>
  readonly changes?: readonly { readonly attribute: string; readonly oldValue: string | null }[]
}

/** Returns what an event of the log says; undefined for another body. */
export function newsOf(body: unknown): AlarmNews | undefined {
  if (!isPlainObject(body) || !isPlainObject(body['alarm'])) return undefined
  const { eventtype, alarm, changes = [] } = body as unknown as EventBody
  const source = isPlainObject(alarm['source']) ? alarm['source'] : {}
  const former = (attribute: string): string | undefined =>
    changes.find((one) => one.attribute === attribute)?.oldValue ?? undefined
  const status = String(alarm['status'])
  const { suppression } = alarm
  return {
    alarm: {
      id: String(alarm['id']),
      type: String(alarm['type']),
      text: String(alarm['text']),
      severity: String(alarm['severity']),
      source: String(source['id']),
      timestamp: String(alarm['timestamp']),
    },
    source,
    status,
    isNew: eventtype === RAISED || (status === 'ACTIVE' && former('status') !== undefined),
    formerSeverity: former('severity'),
    isSuppressed: suppression !== undefined && suppression !== 'none',
  }
}
