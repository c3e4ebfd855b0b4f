/** Plans one commit of the reader: what events, due steps and due groups change, and which notifications they create. */
import type { CalendarReading } from '#core/spi'
import { durationMs } from '#kernel'
import type { Collection, Store, Write } from '#storage'
import type { ContactDocument } from './contact-schema.ts'
import {
  COUNTS,
  type CountRecord,
  type GroupRecord,
  GROUPS,
  type IncidentRecord,
  INCIDENTS,
  keyOf,
  type NotificationRecord,
  NOTIFICATIONS,
  type NotifiedAlarm,
} from './notification-record.ts'
import type { NotificationKind } from './notification-schema.ts'
import type { PolicyDocument } from './policy-schema.ts'
import { isSelected } from './select-alarm.ts'

const MAX_SHOWN = 50
const MAX_NOTIFIED = 200
const DEFAULT_WAIT = 'PT10S'
const DEFAULT_INTERVAL = 'PT5M'
const FAILED_MS = 30 * 86_400_000

/** Documents as they are at the time of the commit. */
export interface Configuration {
  readonly policies: ReadonlyMap<string, PolicyDocument>
  contact(name: string): Promise<ContactDocument | undefined>
  calendar(name: string): Promise<CalendarReading | undefined>
}

/** An event of an alarm, reduced to what policies need. */
export interface AlarmNews {
  readonly alarm: NotifiedAlarm
  readonly source: Readonly<Record<string, unknown>>
  readonly status: string
  /** raised, or active again */
  readonly isNew: boolean
  /** of a change of the severity */
  readonly formerSeverity?: string | undefined
  readonly isSuppressed: boolean
}

interface Fired {
  readonly name: string
  readonly policy: PolicyDocument
  readonly kind: NotificationKind
  readonly alarm: NotifiedAlarm
  readonly recipients: readonly string[]
}

export class NoticeDraft {
  readonly #configuration: Configuration
  readonly #now: number
  readonly #newId: () => string
  readonly #incidents = new Map<string, IncidentRecord | undefined>()
  readonly #groups = new Map<string, GroupRecord | undefined>()
  readonly #counts = new Map<string, CountRecord>()
  readonly #notifications = new Map<string, NotificationRecord>()
  readonly #records: {
    readonly incidents: Collection<IncidentRecord>
    readonly groups: Collection<GroupRecord>
    readonly counts: Collection<CountRecord>
    readonly notifications: Collection<NotificationRecord>
  }

  constructor(store: Store, configuration: Configuration, now: number, newId: () => string) {
    this.#configuration = configuration
    this.#now = now
    this.#newId = newId
    this.#records = {
      incidents: store.collection(INCIDENTS),
      groups: store.collection(GROUPS),
      counts: store.collection(COUNTS),
      notifications: store.collection(NOTIFICATIONS),
    }
  }

  get created(): readonly NotificationRecord[] {
    return [...this.#notifications.values()]
  }

  /** Makes known what is stored for alarms whose events follow. */
  know(id: string, incident: IncidentRecord): void {
    this.#incidents.set(id, incident)
  }

  forget(id: string): void {
    this.#incidents.set(id, undefined)
  }

  async event(news: AlarmNews): Promise<void> {
    const { alarm, status, isSuppressed } = news
    for (const [name, policy] of this.#configuration.policies) {
      const id = keyOf(name, alarm.id)
      const known = this.#incidents.get(id)
      if (known === undefined) {
        const isActive = status === 'ACTIVE' && policy.paused !== true
        if (isActive && isSelected(policy.select, news) && isNewFor(policy, news)) this.#begin(name, policy, news)
        continue
      }
      if (status === 'CLEARED') {
        this.#incidents.set(id, undefined)
        if (policy.onClear !== false && known.notified.length > 0)
          await this.#fire({ name, policy, kind: 'cleared', alarm, recipients: known.notified })
      } else if (status === 'ACKNOWLEDGED') this.#calm(id, policy, { ...known, alarm })
      else {
        const { isSuppressed: wasSuppressed, ...rest } = known
        const isBack = wasSuppressed === true && !isSuppressed
        this.#incidents.set(id, {
          ...rest,
          alarm,
          ...(isSuppressed && { isSuppressed: true }),
          // announced again when the suppression ends
          ...(isBack && { due: this.#now }),
        })
      }
    }
  }

  /** Executes the due steps of the draft, including steps of policies that take over meanwhile. */
  async takeSteps(): Promise<void> {
    for (const [id, incident] of this.#incidents) {
      if (incident?.due !== undefined && incident.due <= this.#now) await this.step(id, incident)
    }
  }

  async step(id: string, incident: IncidentRecord): Promise<void> {
    const policy = this.#configuration.policies.get(incident.policy)
    if (policy === undefined || policy.paused === true) return void this.#incidents.set(id, undefined)
    if (incident.isSuppressed === true) {
      const { due: _due, ...held } = incident
      return void this.#incidents.set(id, held)
    }
    const opens = await this.#opening(policy)
    if (opens !== undefined && policy.outside !== 'skip') {
      const { due: _due, ...held } = incident
      return void this.#incidents.set(id, { ...held, ...(opens < Infinity && { due: opens }) })
    }
    const { step, notified, alarm, policy: name } = incident
    const now = step === 0 ? policy : policy.escalate?.[step - 1]
    const recipients = now === undefined || opens !== undefined ? [] : await this.#recipients(now)
    if (now !== undefined && 'policy' in now && now.policy !== undefined) this.#takeOver(now.policy, alarm)
    if (now !== undefined && opens === undefined) {
      const isTakenOver = 'policy' in now && now.policy !== undefined
      const kind = step === 0 ? 'raised' : 'escalated'
      if (recipients.length > 0) await this.#fire({ name, policy, kind, alarm, recipients })
      else if (!isTakenOver) this.#unreachable(incident, kind, 'no contact is on call')
    }
    const next = policy.escalate?.[step]
    const { due: _due, ...rest } = incident
    const after: IncidentRecord = {
      ...rest,
      step: step + 1,
      notified: [...new Set([...notified, ...recipients])].slice(0, MAX_NOTIFIED),
      ...(next && { due: this.#now + durationMs(next.after) }),
    }
    if (next === undefined) this.#calm(id, policy, after)
    else this.#incidents.set(id, after)
  }

  /** Sends a group that is due, or removes it if it stayed empty. */
  async flush(id: string, group: GroupRecord): Promise<void> {
    const policy = this.#configuration.policies.get(group.policy)
    const isSent = policy !== undefined && group.alarms.length > 0 && (await this.#send(policy, group))
    if (!isSent || group.isOverflow === true) return void this.#groups.set(id, undefined)
    const quiet = this.#now + intervalOf(policy)
    const rest: GroupRecord = { ...group, alarms: [], total: 0, sendAt: quiet, quietUntil: quiet }
    this.#groups.set(id, quiet <= this.#now ? undefined : rest)
  }

  writes(): readonly Write[] {
    const { incidents, groups, counts, notifications } = this.#records
    const writes: Write[] = []
    for (const [id, one] of this.#incidents)
      writes.push(one === undefined ? incidents.deleting(id) : incidents.putting(id, one))
    for (const [id, one] of this.#groups) writes.push(one === undefined ? groups.deleting(id) : groups.putting(id, one))
    for (const [id, one] of this.#counts) writes.push(counts.putting(id, one))
    for (const [id, one] of this.#notifications) writes.push(notifications.putting(id, one, 'absent'))
    return writes
  }

  #begin(
    name: string,
    policy: PolicyDocument,
    { alarm, isSuppressed }: Pick<AlarmNews, 'alarm' | 'isSuppressed'>,
  ): void {
    const due = this.#now + (policy.after === undefined ? 0 : durationMs(policy.after))
    const incident = { policy: name, alarm, step: 0, due, notified: [], createTime: this.#now }
    this.#incidents.set(keyOf(name, alarm.id), { ...incident, ...(isSuppressed && { isSuppressed: true }) })
  }

  #takeOver(name: string, alarm: NotifiedAlarm): void {
    const policy = this.#configuration.policies.get(name)
    if (policy === undefined || policy.paused === true || this.#incidents.get(keyOf(name, alarm.id))) return
    this.#begin(name, policy, { alarm, isSuppressed: false })
  }

  /** Keeps an incident without a next step only for the notification of its clearing. */
  #calm(id: string, policy: PolicyDocument, incident: IncidentRecord): void {
    const { due: _due, ...rest } = incident
    const isKept = policy.onClear !== false && rest.notified.length > 0
    this.#incidents.set(id, isKept ? rest : undefined)
  }

  /** Returns when the policy may notify: undefined for now, Infinity for never. */
  async #opening({ during }: PolicyDocument): Promise<number | undefined> {
    if (during === undefined) return undefined
    const calendar = await this.#configuration.calendar(during)
    // a calendar that does not exist must not silence alarms
    if (calendar === undefined || calendar.isOpen(this.#now)) return undefined
    return calendar.nextChange(this.#now) ?? Infinity
  }

  async #recipients({
    contacts = [],
    onCall,
  }: Pick<PolicyDocument, 'contacts' | 'onCall'>): Promise<readonly string[]> {
    const calendar = onCall === undefined ? undefined : await this.#configuration.calendar(onCall)
    return [...new Set([...contacts, ...(calendar?.stateAt(this.#now).onCall ?? [])])]
  }

  async #fire({ name, policy, kind, alarm, recipients }: Fired): Promise<void> {
    const opens = kind === 'cleared' ? await this.#opening(policy) : undefined
    if (opens !== undefined && (policy.outside === 'skip' || opens === Infinity)) return
    const by = policy.digest === undefined ? (policy.group?.by ?? 'alarm') : 'policy'
    const key = by === 'alarm' ? alarm.id : by === 'type' ? alarm.type : by === 'resource' ? alarm.source : ''
    const id = keyOf(name, kind, [...recipients].toSorted(), key)
    const isAlone = by === 'alarm' && opens === undefined
    const former = isAlone ? undefined : await this.#group(id)
    const sendAt = Math.max(this.#now + waitOf(policy), former?.quietUntil ?? 0, opens ?? 0)
    const group = joined(former, { policy: name, kind, recipients, alarm, sendAt })
    if (isAlone) await this.#send(policy, group)
    else this.#groups.set(id, group)
  }

  /** Creates the notifications of a group; false: they exceed the limit, and wait for its end. */
  async #send(policy: PolicyDocument, group: GroupRecord): Promise<boolean> {
    if (group.isOverflow !== true && !(await this.#isWithinLimit(group.policy, policy))) {
      await this.#overflow(policy, group)
      return false
    }
    await this.#notify(group)
    return true
  }

  async #overflow(policy: PolicyDocument, group: GroupRecord): Promise<void> {
    const { policy: name, kind, recipients, alarms, total } = group
    const id = keyOf(name, kind, recipients, 'overflow', 'of the limit')
    const former = await this.#group(id)
    const count = this.#counts.get(name)
    const per = policy.limit === undefined ? 0 : durationMs(policy.limit.per)
    const sendAt = (count?.since ?? this.#now) + per
    this.#groups.set(id, {
      ...group,
      alarms: [...(former?.alarms ?? []), ...alarms].slice(0, MAX_SHOWN),
      total: (former?.total ?? 0) + total,
      sendAt: former?.sendAt ?? sendAt,
      quietUntil: 0,
      isOverflow: true,
    })
  }

  async #group(id: string): Promise<GroupRecord | undefined> {
    if (!this.#groups.has(id)) this.#groups.set(id, (await this.#records.groups.get(id))?.value)
    return this.#groups.get(id)
  }

  async #isWithinLimit(name: string, { limit }: PolicyDocument): Promise<boolean> {
    if (limit === undefined) return true
    const stored = this.#counts.get(name) ?? (await this.#records.counts.get(name))?.value
    const isOver = stored === undefined || stored.since + durationMs(limit.per) <= this.#now
    const count = isOver ? { since: this.#now, sent: 0 } : stored
    const isWithin = count.sent < limit.count
    this.#counts.set(name, isWithin ? { ...count, sent: count.sent + 1 } : count)
    return isWithin
  }

  async #notify({ policy, kind, recipients, alarms, total }: GroupRecord): Promise<void> {
    for (const contact of recipients) {
      const document = await this.#configuration.contact(contact)
      const common = { policy, kind, contact, alarms, total }
      if (document === undefined) {
        this.#add({ ...common, channel: 0, type: 'email', ...this.#failed(`the contact ${contact} does not exist`) })
        continue
      }
      for (const [channel, { type, severities }] of document.channels.entries()) {
        const isWanted =
          severities === undefined || alarms.some(({ severity }) => severities.some((one) => one === severity))
        if (isWanted) this.#add({ ...common, channel, type, state: 'waiting', due: this.#now })
      }
    }
  }

  #unreachable({ policy, alarm }: IncidentRecord, kind: NotificationKind, problem: string): void {
    this.#add({
      policy,
      contact: '',
      channel: 0,
      type: 'email',
      kind,
      alarms: [alarm],
      total: 1,
      ...this.#failed(problem),
    })
  }

  #failed(lastError: string) {
    return { state: 'failed', lastError, endTime: this.#now, removeTime: this.#now + FAILED_MS } as const
  }

  #add(record: Omit<NotificationRecord, 'attempts' | 'createTime'>): void {
    this.#notifications.set(this.#newId(), { ...record, attempts: 0, createTime: this.#now })
  }
}

function isNewFor({ select }: PolicyDocument, news: AlarmNews): boolean {
  const { isNew, alarm, formerSeverity } = news
  if (isNew) return true
  return formerSeverity !== undefined && !isSelected(select, { ...news, alarm: { ...alarm, severity: formerSeverity } })
}

function joined(
  former: GroupRecord | undefined,
  {
    alarm,
    sendAt,
    ...group
  }: Pick<GroupRecord, 'policy' | 'kind' | 'recipients' | 'sendAt'> & { readonly alarm: NotifiedAlarm },
): GroupRecord {
  const { alarms = [], total = 0, quietUntil = 0 } = former ?? {}
  const isFirst = alarms.length === 0
  const others = alarms.filter(({ id }) => id !== alarm.id)
  return {
    ...group,
    alarms: others.length < MAX_SHOWN ? [...others, alarm] : others,
    total: others.length < alarms.length ? total : total + 1,
    sendAt: isFirst || former === undefined ? sendAt : former.sendAt,
    quietUntil,
  }
}

function waitOf({ digest, group }: PolicyDocument): number {
  if (digest !== undefined) return durationMs(digest)
  return group === undefined || group.by === 'alarm' ? 0 : durationMs(group.wait ?? DEFAULT_WAIT)
}

function intervalOf({ digest, group }: PolicyDocument): number {
  if (digest !== undefined) return 0
  return group === undefined || group.by === 'alarm' ? 0 : durationMs(group.interval ?? DEFAULT_INTERVAL)
}
