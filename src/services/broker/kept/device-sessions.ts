/**
 * Keeps sessions of MQTT clients of one tenant while they are absent: their subscriptions, and commands of QoS 1 that
 * they have not acknowledged.
 *
 * MQTTSESSION-1 a command is stored for each session that subscribed to it at QoS 1, in the commit of the command, until the
 *   client acknowledges it
 * MQTTSESSION-2 waiting commands are bounded per session, in number and in bytes: beyond that the oldest are dropped,
 *   and counted
 * MQTTSESSION-3 a session belongs to one key: clients with another key neither continue nor end it
 * MQTTSESSION-4 a session ends when it expires, when its key is removed, and when its client starts a new one
 */
import { messageOf } from '#kernel'
import { machineTimers } from '#platform'
import { type Collection, type CollectionSpec, type Store, walk, type Write } from '#storage'
import type { BrokerMessage } from '../contract.ts'
import { type IncomingMessage, routedMessageOf } from '../posting/publish-request.ts'
import { BackgroundDeletes } from './background-deletes.ts'

export interface KeptFilter {
  readonly filter: string
  readonly qos: 0 | 1
  readonly identifier?: number
  /** publish with the retain flag of the publisher */
  readonly asPublished?: true
  /** resource whose commands are stored while the client is absent */
  readonly commandsOf?: string
}

interface SessionRecord {
  readonly key: string
  /** distinguishes the key from a later one of the same name */
  readonly keyMark: string
  readonly clientId: string
  /** seconds for which the session outlives its connection */
  readonly expiry: number
  readonly filters: readonly KeptFilter[]
  /** epoch ms of the end of the last connection; absent: the client was connected */
  readonly left?: number
  /** highest number of a command that may have been sent */
  readonly sent: number
}

interface WaitingRecord {
  readonly session: string
  readonly resource: string
  readonly message: BrokerMessage
  readonly bytes: number
  /** delivered with the retain flag */
  readonly isRetained?: true
}

const SESSIONS: CollectionSpec<SessionRecord> = { name: 'mqtt_sessions', version: 1, fields: {} }
const WAITING: CollectionSpec<WaitingRecord> = { name: 'mqtt_commands', version: 1, fields: {} }

/** Longest time in seconds that a session outlives its connection: seven days. */
export const MAX_EXPIRY = 604_800

const LIMITS = { sessions: 20_000, ofDeviceKey: 100, commands: 1_000, bytes: 262_144 }
export type SessionLimits = typeof LIMITS

/** A command that waits for the acknowledgement of a client. */
export interface WaitingCommand {
  readonly number: number
  readonly resource: string
  readonly bytes: number
  /** it may have been sent before */
  wasSent: boolean
}

export interface DeviceSession {
  readonly id: string
  readonly key: string
  readonly clientId: string
  /** seconds for which the session outlives its connection */
  readonly expiry: number
  readonly filters: ReadonlyMap<string, KeptFilter>
  /** in the order of delivery */
  readonly waiting: ReadonlyMap<number, WaitingCommand>
  /** ids of messages of QoS 2 that are accepted and not released */
  readonly taken: Set<number>
  /** resolves when messages of the former connection are durable */
  drained: Promise<unknown>
}

interface Session extends DeviceSession {
  readonly keyMark: string
  readonly filters: Map<string, KeptFilter>
  readonly waiting: Map<number, WaitingCommand>
  expiry: number
  left: number | undefined
  holder: object | undefined
  last: number
  sent: number
  bytes: number
  isOver: boolean
}

export interface SessionKeys {
  /** Returns a text that a later key of the same name does not share; undefined for a key that does not exist. */
  mark(key: string): Promise<string | undefined>
  /** Calls `gone` when the key with this mark is removed. Returns a function that stops watching. */
  watch(key: string, mark: string, gone: () => void): () => void
}

export interface OpenedSession {
  readonly session: DeviceSession
  readonly isPresent: boolean
}

export interface SessionRequest {
  readonly key: string
  readonly clientId: string
  readonly isClean: boolean
  /** seconds */
  readonly expiry: number
  /** the key is limited to its own resources */
  readonly isDevice: boolean
  /** the connection, to be passed to `leave` */
  readonly holder: object
}

export interface DeviceSessionsOptions {
  readonly store: Store
  readonly keys: SessionKeys
  /** epoch ms */
  readonly now: () => number
  readonly report: (what: string) => void
  readonly limits?: Partial<SessionLimits>
}

export class DeviceSessions {
  readonly #options: DeviceSessionsOptions
  readonly #limits: SessionLimits
  readonly #records: Collection<SessionRecord>
  readonly #commands: Collection<WaitingRecord>
  readonly #deletes: BackgroundDeletes
  /** by key and client id */
  readonly #sessions = new Map<string, Map<string, Session>>()
  readonly #ofResource = new Map<string, Set<Session>>()
  readonly #unwatch = new Map<string, () => void>()
  /** commands being committed */
  readonly #staged = new WeakMap<IncomingMessage, readonly (readonly [Session, WaitingCommand])[]>()
  dropped = 0

  constructor(options: DeviceSessionsOptions) {
    this.#options = options
    this.#limits = { ...LIMITS, ...options.limits }
    this.#records = options.store.collection(SESSIONS)
    this.#commands = options.store.collection(WAITING)
    this.#deletes = new BackgroundDeletes(options.store, options.report)
  }

  get size(): number {
    let size = 0
    for (const ofKey of this.#sessions.values()) size += ofKey.size
    return size
  }

  get waiting(): number {
    let count = 0
    for (const { waiting } of this.#all()) count += waiting.size
    return count
  }

  async start(): Promise<void> {
    const byId = new Map<string, Session>()
    const time = this.#options.now()
    for await (const { id, value } of walk(this.#records)) {
      const { filters, left, sent, ...record } = value
      const session = newSession(id, { ...record, left: left ?? time })
      session.last = sent
      session.sent = left === undefined ? Number.POSITIVE_INFINITY : sent
      for (const one of filters) session.filters.set(one.filter, one)
      byId.set(id, session)
    }
    for await (const { id, value } of walk(this.#commands)) {
      const session = byId.get(value.session)
      const number = Number(id.slice(id.lastIndexOf('/') + 1))
      if (session === undefined) this.#deletes.add(this.#commands.deleting(id))
      else
        this.#keep(session, { number, resource: value.resource, bytes: value.bytes, wasSent: number <= session.sent })
    }
    const cut: Session[] = []
    for (const session of byId.values()) {
      // the host ended while the client was connected: later commands were not sent, even if this host ends too
      if (session.sent === Number.POSITIVE_INFINITY) cut.push(session)
      session.sent = Math.min(session.sent, session.last)
      this.#add(session)
    }
    for (let from = 0; from < cut.length; from += AT_ONCE) {
      const some = cut.slice(from, from + AT_ONCE)
      await this.#options.store.commit(some.map((one) => this.#records.putting(one.id, recordOf(one))))
    }
    for (const key of Array.from(this.#sessions.keys())) await this.#checkKey(key)
    await this.sweep()
  }

  async stop(): Promise<void> {
    for (const unwatch of this.#unwatch.values()) unwatch()
    this.#unwatch.clear()
    await this.#deletes.idle()
  }

  /** Continues or begins a session. Returns undefined if none is kept for this client. */
  async open(request: SessionRequest): Promise<OpenedSession | undefined> {
    const { key, clientId, isClean, isDevice, holder } = request
    const expiry = Math.min(request.expiry, MAX_EXPIRY)
    const former = this.#sessions.get(key)?.get(clientId)
    const mark = former === undefined && expiry === 0 ? undefined : await this.#options.keys.mark(key)
    const isOwn = former?.keyMark === mark && former !== undefined && !isExpired(former, this.#options.now())
    if (former !== undefined && (isClean || !isOwn)) this.#forget(former)
    else if (former !== undefined) {
      await former.drained
      if (!former.isOver) {
        former.expiry = expiry
        former.left = undefined
        former.holder = holder
        await this.#save(former)
        return { session: former, isPresent: true }
      }
    }
    if (expiry === 0 || mark === undefined || !this.#makeRoom(key, isDevice)) return undefined
    const id = machineTimers.newId()
    const session = newSession(id, { key, keyMark: mark, clientId, expiry, left: undefined })
    session.holder = holder
    this.#add(session)
    await this.#save(session)
    return { session, isPresent: false }
  }

  /** The connection of a session ended. `expiry`: a new value in seconds. */
  async leave(session: DeviceSession, holder: object, expiry?: number): Promise<void> {
    const own = session as Session
    if (own.isOver || own.holder !== holder) return
    own.holder = undefined
    own.left = this.#options.now()
    own.expiry = Math.min(expiry ?? own.expiry, MAX_EXPIRY)
    if (own.expiry === 0) this.#forget(own)
    else await this.#save(own)
  }

  async subscribe(session: DeviceSession, filter: KeptFilter): Promise<void> {
    const own = session as Session
    this.#setFilter(own, filter.filter, filter)
    await this.#save(own)
  }

  async unsubscribe(session: DeviceSession, filter: string): Promise<void> {
    const own = session as Session
    if (!own.filters.has(filter)) return
    this.#setFilter(own, filter, undefined)
    await this.#save(own)
  }

  /** Returns the writes to commit with a command. `retain`: it was published with the flag. */
  planning(command: IncomingMessage, retain: boolean): readonly Write[] {
    const sessions = this.#ofResource.get(command.resource)
    if (sessions === undefined) return []
    const staged = [...sessions].map((session) => [session, numbered(session, command)] as const)
    this.#staged.set(command, staged)
    const message = routedMessageOf(command)
    return staged.map(([session, one]) => {
      const isFlagged = retain && filterOf(session, command.resource)?.asPublished === true
      return this.#putting(session, one, message, isFlagged)
    })
  }

  committed(command: IncomingMessage): void {
    for (const [session, one] of this.#staged.get(command) ?? []) this.#keep(session, one)
    this.#staged.delete(command)
  }

  /** Lets a retained command wait for its delivery to a new subscriber. */
  async add(session: DeviceSession, resource: string, message: BrokerMessage): Promise<void> {
    const own = session as Session
    const one = numbered(own, { resource, text: JSON.stringify(message) })
    await this.#options.store.commit([this.#putting(own, one, message, true)])
    this.#keep(own, one)
  }

  /** Returns the message of a waiting command; undefined if it was dropped. */
  async read(
    session: DeviceSession,
    { number }: WaitingCommand,
  ): Promise<Pick<WaitingRecord, 'message' | 'isRetained'> | undefined> {
    return (await this.#commands.get(idOf(session, number)))?.value
  }

  sent(session: DeviceSession, command: WaitingCommand): void {
    const own = session as Session
    own.sent = Math.max(own.sent, command.number)
    command.wasSent = true
  }

  acknowledged(session: DeviceSession, number: number): void {
    this.#drop(session as Session, number)
  }

  forgetResource(resource: string): void {
    for (const session of Array.from(this.#ofResource.get(resource) ?? [])) {
      for (const { filter, commandsOf } of Array.from(session.filters.values())) {
        if (commandsOf === resource) this.#setFilter(session, filter, undefined)
      }
      if (session.filters.size === 0) this.#forget(session)
      else void this.#save(session).catch((error: unknown) => this.#options.report(messageOf(error)))
    }
  }

  async sweep(): Promise<void> {
    const time = this.#options.now()
    for (const session of Array.from(this.#all())) if (isExpired(session, time)) this.#forget(session)
    await this.#deletes.idle()
  }

  *#all(): Generator<Session> {
    for (const ofKey of this.#sessions.values()) yield* ofKey.values()
  }

  async #checkKey(key: string): Promise<void> {
    const mark = await this.#options.keys.mark(key)
    for (const session of Array.from(this.#sessions.get(key)?.values() ?? [])) {
      if (session.keyMark !== mark) this.#forget(session)
    }
  }

  #forgetKey(key: string): void {
    for (const session of Array.from(this.#sessions.get(key)?.values() ?? [])) this.#forget(session)
  }

  /** When full, the session of the same key that was absent for the longest time ends. */
  #makeRoom(key: string, isDevice: boolean): boolean {
    const ofKey = this.#sessions.get(key)
    const isFull = this.size >= this.#limits.sessions || (isDevice && (ofKey?.size ?? 0) >= this.#limits.ofDeviceKey)
    if (!isFull) return true
    let oldest: Session | undefined
    for (const one of ofKey?.values() ?? []) {
      if (one.left !== undefined && one.left < (oldest?.left ?? Number.POSITIVE_INFINITY)) oldest = one
    }
    if (oldest !== undefined) this.#forget(oldest)
    return oldest !== undefined
  }

  #add(session: Session): void {
    const { key, keyMark, clientId, filters } = session
    const ofKey = this.#sessions.get(key) ?? new Map<string, Session>()
    this.#sessions.set(key, ofKey.set(clientId, session))
    for (const { commandsOf } of filters.values()) if (commandsOf !== undefined) this.#index(session, commandsOf)
    if (this.#unwatch.has(key)) return
    this.#unwatch.set(
      key,
      this.#options.keys.watch(key, keyMark, () => this.#forgetKey(key)),
    )
  }

  #index(session: Session, resource: string): void {
    const sessions = this.#ofResource.get(resource) ?? new Set()
    this.#ofResource.set(resource, sessions.add(session))
  }

  #setFilter(session: Session, name: string, filter: KeptFilter | undefined): void {
    const resource = session.filters.get(name)?.commandsOf
    session.filters.delete(name)
    if (filter !== undefined) session.filters.set(name, filter)
    if (filter?.commandsOf !== undefined) return this.#index(session, filter.commandsOf)
    if (resource === undefined) return
    this.#unindex(session, resource)
    for (const one of Array.from(session.waiting.values())) {
      if (one.resource === resource) this.#drop(session, one.number)
    }
  }

  #unindex(session: Session, resource: string): void {
    const sessions = this.#ofResource.get(resource)
    sessions?.delete(session)
    if (sessions?.size === 0) this.#ofResource.delete(resource)
  }

  #keep(session: Session, one: WaitingCommand): void {
    session.waiting.set(one.number, one)
    session.bytes += one.bytes
    session.last = Math.max(session.last, one.number)
    if (session.isOver || filterOf(session, one.resource) === undefined) return this.#drop(session, one.number)
    for (const { number } of session.waiting.values()) {
      if (session.waiting.size <= this.#limits.commands && session.bytes <= this.#limits.bytes) return
      this.#drop(session, number)
      this.dropped++
    }
  }

  #drop(session: Session, number: number): void {
    const one = session.waiting.get(number)
    if (one === undefined) return
    session.waiting.delete(number)
    session.bytes -= one.bytes
    this.#deletes.add(this.#commands.deleting(idOf(session, number)))
  }

  #forget(session: Session): void {
    const { key, clientId, filters, waiting, id } = session
    session.isOver = true
    for (const { commandsOf } of filters.values()) if (commandsOf !== undefined) this.#unindex(session, commandsOf)
    for (const number of Array.from(waiting.keys())) this.#drop(session, number)
    this.#deletes.add(this.#records.deleting(id))
    const ofKey = this.#sessions.get(key)
    if (ofKey?.get(clientId) === session) ofKey.delete(clientId)
    if (ofKey?.size !== 0) return
    this.#sessions.delete(key)
    this.#unwatch.get(key)?.()
    this.#unwatch.delete(key)
  }

  async #save(session: Session): Promise<void> {
    if (session.isOver) return
    await this.#records.put(session.id, recordOf(session))
  }

  #putting(session: Session, { number, resource, bytes }: WaitingCommand, message: BrokerMessage, isRetained = false) {
    return this.#commands.putting(idOf(session, number), {
      session: session.id,
      resource,
      message,
      bytes,
      ...(isRetained && { isRetained: true as const }),
    })
  }
}

/** records in one commit */
const AT_ONCE = 1_000

function recordOf({ key, keyMark, clientId, expiry, filters, left, sent }: Session): SessionRecord {
  return { key, keyMark, clientId, expiry, filters: [...filters.values()], ...(left !== undefined && { left }), sent }
}

const DIGITS = 12

function idOf({ id }: DeviceSession, number: number): string {
  return `${id}/${String(number).padStart(DIGITS, '0')}`
}

function numbered(session: Session, { resource, text }: Pick<IncomingMessage, 'resource' | 'text'>): WaitingCommand {
  session.last++
  return { number: session.last, resource, bytes: Buffer.byteLength(text), wasSent: false }
}

function filterOf({ filters }: Session, resource: string): KeptFilter | undefined {
  for (const filter of filters.values()) if (filter.commandsOf === resource) return filter
  return undefined
}

function isExpired({ left, expiry }: Session, time: number): boolean {
  return left !== undefined && left + expiry * 1000 <= time
}

function newSession(id: string, record: Pick<Session, 'key' | 'keyMark' | 'clientId' | 'expiry' | 'left'>): Session {
  return {
    ...record,
    id,
    filters: new Map(),
    waiting: new Map(),
    taken: new Set(),
    drained: Promise.resolve(),
    holder: undefined,
    last: 0,
    sent: 0,
    bytes: 0,
    isOver: false,
  }
}
