/** Composes notification: contacts and policies, the reader of alarms, and the sending of notifications. */
import {
  AppError,
  type Caller,
  type Issue,
  type Logger,
  makeIssue,
  messageOf as reasonOf,
  refuse,
  type StartTimer,
} from '#kernel'
import type { InternalAlarms } from '#services/alarms/contract'
import type { InternalCalendars } from '#services/calendars/contract'
import { headOf, NamedDocuments, type NamedRecord } from '#services/shared'
import type { InternalVault } from '#services/vault/contract'
import type { Collection, Condition, Store, Stored } from '#storage'
import { NoticeReader } from './notice-reader.ts'
import { type Contact, ContactConfiguration, type ContactDocument, type TestedContact } from './contact-schema.ts'
import type { ChannelPorts, InternalNotification, LinkState, Message, NotificationApi } from './contract.ts'
import { Dispatcher, Undeliverable } from './dispatcher.ts'
import { messageOf, problemsOfPlaceholders } from './message.ts'
import {
  CONTACTS,
  type NotificationRecord,
  NOTIFICATIONS,
  type NotifiedAlarm,
  POLICIES,
  showNotification,
} from './notification-record.ts'
import type { NotificationPage, NotificationQuery, OnCall } from './notification-schema.ts'
import { type Policy, PolicyConfiguration, type PolicyDocument } from './policy-schema.ts'
import { sendOver } from './send-notification.ts'
import type { LinkSigner } from './signed-link.ts'

export interface NotificationOptions {
  readonly tenant: string
  readonly store: Store
  readonly alarms: () => InternalAlarms | undefined
  readonly calendars: () => InternalCalendars | undefined
  readonly vault: () => InternalVault | undefined
  readonly ports: ChannelPorts
  readonly links: LinkSigner
  /** Returns the address of a page of this host for browsers; undefined while the host has none. */
  readonly addressOf: (path: string) => string | undefined
  readonly now: () => number
  readonly newId: () => string
  readonly later: StartTimer
  readonly logger: Logger
}

const MAX_CONTACTS = 500
const MAX_POLICIES = 100
const PAGE = 100
const LINK_MS = 3 * 86_400_000
const SWEEP_MS = 3_600_000
const TEST_MS = 20_000

/** path of links, which their token follows */
export const LINK_PATH = '/alarm/links'

export class Notifications implements InternalNotification {
  readonly #options: NotificationOptions
  readonly #contacts: NamedDocuments<ContactDocument>
  readonly #policies: NamedDocuments<PolicyDocument>
  readonly #records: Collection<NotificationRecord>
  readonly #reader: NoticeReader
  readonly #dispatcher: Dispatcher
  #cancelSweep: (() => void) | undefined

  constructor(options: NotificationOptions) {
    const { store, tenant, now, newId, later, logger, alarms } = options
    this.#options = options
    this.#contacts = new NamedDocuments({ store, spec: CONTACTS, one: 'contact', most: MAX_CONTACTS, now })
    this.#policies = new NamedDocuments({ store, spec: POLICIES, one: 'policy', most: MAX_POLICIES, now })
    this.#records = store.collection(NOTIFICATIONS)
    this.#dispatcher = new Dispatcher({
      store,
      tenant,
      now,
      later,
      logger,
      send: (id, record, signal) => this.#send(id, record, signal),
    })
    this.#reader = new NoticeReader({
      store,
      tenant,
      alarms,
      policies: async () => new Map((await this.#policies.all()).map(({ id, value }) => [id, value.document])),
      contact: async (name) => (await this.#contacts.find(name))?.value.document,
      calendar: async (name) => options.calendars()?.reading(name),
      now,
      newId,
      later,
      logger,
      created: (records) => this.#dispatcher.added(records),
    })
  }

  async start(): Promise<void> {
    await this.#dispatcher.start()
    this.#reader.policiesChanged()
    this.#sweepLater()
  }

  async stop(): Promise<void> {
    this.#cancelSweep?.()
    await this.#reader.stop()
    await this.#dispatcher.stop()
  }

  async idle(): Promise<void> {
    await this.#reader.idle()
    await this.#dispatcher.idle()
  }

  gauges(): ReturnType<InternalNotification['gauges']> {
    return this.#dispatcher.counts
  }

  warnings(): readonly string[] {
    const { missed } = this.#reader
    return missed === 0
      ? []
      : [
          `${missed} alarm events of tenant ${this.#options.tenant} did not notify: they were removed before they were read`,
        ]
  }

  as({ user }: Caller): NotificationApi {
    const [contacts, policies] = [this.#contacts, this.#policies]
    return {
      contacts: {
        list: async () => (await contacts.all()).map(shownContact),
        get: async (name) => shownContact(await contacts.get(name)),
        put: async (name, body, { ifRevision } = {}) => {
          const document = readContact(body)
          const { stored, created } = await contacts.put(name, document, { user, ifRevision })
          return { document: shownContact(stored), created }
        },
        remove: (name, options) => contacts.remove(name, options),
        test: async (name) => this.#test(name, (await contacts.get(name)).value.document),
      },
      policies: {
        list: async () => Promise.all((await policies.all()).map((stored) => this.#shownPolicy(stored))),
        get: async (name) => this.#shownPolicy(await policies.get(name)),
        put: async (name, body, { ifRevision } = {}) => {
          const document = PolicyConfiguration.read(body)
          await this.#requireNoLoop(name, document)
          const { stored, created } = await policies.put(name, document, { user, ifRevision })
          this.#reader.policiesChanged()
          return { document: await this.#shownPolicy(stored), created }
        },
        remove: async (name, options) => {
          await policies.remove(name, options)
          this.#reader.policiesChanged()
        },
      },
      notifications: {
        list: (query) => this.#list(query),
        get: async (id) => showNotification(id, (await this.#notification(id)).value),
      },
      onCall: (query) => this.#onCall(query),
    }
  }

  async linked(token: string): Promise<LinkState> {
    return (await this.#link(token)).state
  }

  async useLink(token: string): Promise<LinkState> {
    const { state, stored } = await this.#link(token)
    const alarms = this.#options.alarms()
    if (state.state !== 'open' || stored === undefined || alarms === undefined) return state
    const { id, value, version } = stored
    const api = alarms.as({ tenant: this.#options.tenant, user: `contact/${value.contact}` })
    // before the link counts as used, so that a crash in between leaves it usable
    for (const alarm of value.alarms) {
      await api.acknowledge(alarm.id, { comment: 'by the link of a notification' }).catch(unlessOver)
    }
    const used: NotificationRecord = { ...value, acknowledgedTime: this.#options.now() }
    await this.#records.put(id, used, version)
    return { state: 'done', notification: showNotification(id, used) }
  }

  async #link(token: string): Promise<{ readonly state: LinkState; readonly stored?: Stored<NotificationRecord> }> {
    const { links, tenant, now, alarms } = this.#options
    const grant = links.read(token)
    if (grant?.tenant !== tenant) return { state: { state: 'invalid' } }
    const stored = await this.#records.get(grant.notification)
    if (stored === undefined) return { state: { state: 'expired' } }
    const notification = showNotification(stored.id, stored.value)
    if (stored.value.acknowledgedTime !== undefined) return { state: { state: 'used', notification } }
    if (grant.until < now()) return { state: { state: 'expired', notification } }
    const api = alarms()?.as({ tenant, user: `contact/${stored.value.contact}` })
    const isAlarmOpen = async ({ id }: NotifiedAlarm): Promise<boolean> => {
      const status = await api?.get(id).then(
        (alarm) => alarm.status,
        () => undefined,
      )
      return status !== undefined && status !== 'CLEARED'
    }
    const isOpen = (await Promise.all(stored.value.alarms.map(isAlarmOpen))).includes(true)
    return { state: { state: isOpen ? 'open' : 'cleared', notification }, stored }
  }

  async #send(id: string, record: NotificationRecord, signal: AbortSignal): Promise<string> {
    const contact = await this.#contacts.find(record.contact)
    if (contact === undefined) throw new Undeliverable(`the contact ${record.contact} was removed`)
    const { ports, vault } = this.#options
    return sendOver(contact.value.document, record.channel, this.#message(id, record), { ports, vault, signal })
  }

  #message(id: string, record: NotificationRecord): Message {
    const { links, tenant, now, addressOf } = this.#options
    const token = links.sign({ tenant, notification: id, until: record.createTime + LINK_MS })
    const isOpen = record.kind !== 'cleared' && record.createTime + LINK_MS > now()
    return messageOf(id, record, isOpen ? addressOf(`${LINK_PATH}/${token}`) : undefined)
  }

  async #test(contact: string, document: ContactDocument): Promise<TestedContact> {
    const { ports, vault, now, newId, later } = this.#options
    const alarm: NotifiedAlarm = {
      id: 'test',
      type: 'TEST',
      text: 'a test of this contact',
      severity: 'WARNING',
      source: 'test',
      timestamp: new Date(now()).toISOString(),
    }
    const record = { policy: 'test', contact, kind: 'raised', alarms: [alarm], total: 1 } as const
    const channels = document.channels.map(async ({ type }, channel): Promise<TestedContact['channels'][number]> => {
      const end = new AbortController()
      const timedOut = new Promise<never>((_resolve, reject) => {
        end.signal.addEventListener('abort', () => reject(new Error(`did not respond within ${TEST_MS / 1_000} s`)))
      })
      const cancel = later(TEST_MS, () => end.abort())
      try {
        const message = messageOf(
          newId(),
          { ...record, channel, type, state: 'waiting', attempts: 0, createTime: now() },
          undefined,
        )
        const sent = sendOver(document, channel, message, { ports, vault, signal: end.signal })
        return { type, ok: true, receipt: await Promise.race([sent, timedOut]) }
      } catch (error) {
        return { type, ok: false, problem: reasonOf(error) }
      } finally {
        cancel()
      }
    })
    return { channels: await Promise.all(channels) }
  }

  async #list(query: NotificationQuery = {}): Promise<NotificationPage> {
    const { limit = PAGE, after, ...filters } = query
    const where: readonly Condition[] = (['state', 'policy', 'contact', 'alarm'] as const).flatMap((field) => {
      const value = filters[field]
      return value === undefined ? [] : [{ field, op: 'eq', value } as const]
    })
    const offset = offsetOf(after)
    const found = await this.#records.find({
      where,
      sort: [{ field: 'createTime', descending: true }],
      offset,
      limit: limit + 1,
    })
    const notifications = found.slice(0, limit).map(({ id, value }) => showNotification(id, value))
    return { notifications, ...(found.length > limit && { next: String(offset + limit) }) }
  }

  async #notification(id: string): Promise<Stored<NotificationRecord>> {
    const found = await this.#records.get(id)
    if (found === undefined) throw new AppError('NOT_FOUND', `No notification '${id.slice(0, 100)}'`)
    return found
  }

  async #onCall({
    calendar,
    at = this.#options.now(),
  }: { readonly calendar?: string; readonly at?: number } = {}): Promise<OnCall> {
    const all = (await this.#policies.all()).flatMap(({ value: { document } }) => [
      document.onCall,
      ...(document.escalate ?? []).map(({ onCall }) => onCall),
    ])
    const names = calendar === undefined ? [...new Set(all)].filter((name) => name !== undefined) : [calendar]
    const calendars: OnCall['calendars'][number][] = []
    for (const name of names) {
      const reading = await this.#options.calendars()?.reading(name, at)
      if (reading === undefined) {
        if (calendar === undefined) continue
        throw new AppError('NOT_FOUND', `No calendar '${name.slice(0, 200)}'`)
      }
      const { onCall, shifts } = reading.stateAt(at)
      const until = reading.nextState(at)
      calendars.push({
        calendar: name,
        contacts: onCall,
        shifts,
        ...(until !== undefined && { until: new Date(until).toISOString() }),
      })
    }
    return { at: new Date(at).toISOString(), calendars }
  }

  async #requireNoLoop(name: string, document: PolicyDocument): Promise<void> {
    const known = new Map((await this.#policies.all()).map(({ id, value }) => [id, value.document]))
    known.set(name, document)
    const loop = loopFrom(name, known)
    if (loop === undefined) return
    const path = `/escalate/${(document.escalate ?? []).findIndex(({ policy }) => policy === loop[1])}/policy`
    throw refuse('the policy', [
      makeIssue('POLICY', path, `forms a loop: ${loop.join(' -> ')}`, 'end the chain at one policy'),
    ])
  }

  async #shownPolicy(stored: Stored<NamedRecord<PolicyDocument>>): Promise<Policy> {
    const { document } = stored.value
    return { ...headOf(stored), ...document, warnings: await this.#missing(document) }
  }

  async #missing({ during, ...document }: PolicyDocument): Promise<readonly string[]> {
    const steps = [document, ...(document.escalate ?? [])]
    const [contacts, calendars, policies] = [new Set<string>(), new Set<string>(), new Set<string>()]
    if (during !== undefined) calendars.add(during)
    for (const step of steps) {
      for (const contact of step.contacts ?? []) contacts.add(contact)
      if (step.onCall !== undefined) calendars.add(step.onCall)
      if ('policy' in step && step.policy !== undefined) policies.add(step.policy)
    }
    const warnings: string[] = []
    for (const name of contacts)
      if (!(await this.#contacts.find(name))) warnings.push(`the contact ${name} does not exist`)
    for (const name of calendars)
      if (!(await this.#options.calendars()?.reading(name))) warnings.push(`the calendar ${name} does not exist`)
    for (const name of policies)
      if (!(await this.#policies.find(name))) warnings.push(`the policy ${name} does not exist`)
    return warnings
  }

  #sweepLater(): void {
    this.#cancelSweep = this.#options.later(SWEEP_MS, () => {
      void this.#dispatcher
        .sweep()
        .catch((error: unknown) =>
          this.#options.logger.error(`old notifications could not be removed: ${reasonOf(error)}`),
        )
        .then(() => this.#sweepLater())
    })
  }
}

function readContact(body: unknown): ContactDocument {
  const document = ContactConfiguration.read(body)
  const problems = document.channels.flatMap(({ body: content, topic }, i): readonly Issue[] => [
    ...(content === undefined ? [] : problemsOfPlaceholders(content, `/channels/${i}/body`)),
    ...(topic === undefined ? [] : problemsOfPlaceholders(topic, `/channels/${i}/topic`)),
  ])
  if (problems.length > 0) throw refuse('the contact', problems)
  return document
}

function shownContact(stored: Stored<NamedRecord<ContactDocument>>): Contact {
  return { ...headOf(stored), ...stored.value.document }
}

/** Returns the names from a policy back to itself; undefined if its chains end. */
function loopFrom(name: string, known: ReadonlyMap<string, PolicyDocument>): readonly string[] | undefined {
  const seen = new Set<string>()
  const walk = (one: string, path: readonly string[]): readonly string[] | undefined => {
    for (const { policy } of known.get(one)?.escalate ?? []) {
      if (policy === undefined) continue
      if (policy === name) return [...path, policy]
      if (seen.has(policy)) continue
      seen.add(policy)
      const loop = walk(policy, [...path, policy])
      if (loop !== undefined) return loop
    }
    return undefined
  }
  return walk(name, [name])
}

function offsetOf(after: string | undefined): number {
  if (after === undefined) return 0
  if (/^\d{1,9}$/.test(after)) return Number(after)
  throw refuse('the query', [
    makeIssue('QUERY', '/after', `"${after.slice(0, 40)}" is not valid`, 'use `next` of the previous page'),
  ])
}

function unlessOver(error: unknown): void {
  if (!(error instanceof AppError) || (error.code !== 'FINAL' && error.code !== 'NOT_FOUND')) throw error
}
