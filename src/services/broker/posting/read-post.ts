/** Reads the body and options of a post. Reports all problems at once, each with its path. */
import {
  AppError,
  at,
  durationMs,
  FORBIDDEN_KEYS,
  isoInstant,
  isPlainObject,
  Issues,
  isTooLongForId,
  isWrittenInteger,
  MAX_HOPS,
  MAX_ID_BYTES,
  notAnInstant,
  UNSTORABLE,
} from '#kernel'
import { MAX_TIME } from '#services/shared/contract'
import type { BrokerMessage, PostOptions, TimeBounds } from '../contract.ts'
import type { IncomingMessage, Oddities, PublishRequest } from './publish-request.ts'
import { Bulk } from './bulk.ts'
import { isSample } from './log-entry.ts'
import { MAX_MESSAGES } from './message-schema.ts'
import { shortMs } from '../series/grouping.ts'
import { boundsProblem, CLAIMED_TIMESTAMP, isWithin, NO_BOUNDS } from './time-bounds.ts'

/** maximum values of one post, over all of its messages */
export const MAX_VALUES = 50_000
/** maximum bytes of a text value */
const MAX_TEXT = 65_536
/** maximum bytes of a message as JSON, so that the message fits into a log entry even with its quotes escaped */
const MAX_MESSAGE = 400_000
const MAX_LIST = 900_000
const MAX_LEVELS = 90
const MAX_ISSUES = 100
const UNSTORED = ['has a NUL or half of a surrogate pair', 'send text that is valid Unicode'] as const

/** `resource`: the one in the path; if undefined, each message must name its own. */
export function readPost(
  resource: string | undefined,
  body: unknown,
  options: PostOptions,
  now: number,
  bounds = NO_BOUNDS,
): PublishRequest {
  // rules post about messages that were already accepted, so their timestamps are not refused
  const isTaken = options.badTime === 'receipt' || (options.hops ?? 0) > 0
  const reader = new PostReader(resource, now, { ...bounds, refuses: bounds.refuses && !isTaken })
  const isList = Array.isArray(body)
  const bulk = isList && repeatsResource(resource, body) ? reader.bulk(body) : undefined
  const arrivals = bulk !== undefined ? [] : isList ? reader.list(body) : [reader.one(body, '')]
  const settings = reader.settings(options)
  reader.done('the message')
  const forward = settings.forward && bulk === undefined
  const oddities = reader.oddities.found
  // with a key, the key alone decides whether a post is a repetition
  const identityIgnores = options.idempotencyKey === undefined ? options.identityIgnores : 'all'
  return {
    channel: 'events',
    arrivals,
    arrived: now,
    ...settings,
    forward,
    ...(bulk && { bulk }),
    ...(oddities && { oddities }),
    ...(identityIgnores && { identityIgnores }),
  }
}

function repeatsResource(resource: string | undefined, list: readonly unknown[]): boolean {
  if (list.length < 2 || resource !== undefined) return list.length > 1
  const seen = new Set<unknown>()
  for (const each of list) {
    const named = isPlainObject(each) ? each['resource'] : undefined
    if (named !== undefined && seen.has(named)) return true
    seen.add(named)
  }
  return false
}

/** Reads a command, which is an object with a `name`. Commands are stored, but not handed to tasks as data. */
export function readCommand(resource: string, body: unknown, options: PostOptions, now: number): PublishRequest {
  const reader = new PostReader(resource, now, NO_BOUNDS)
  const arrival = reader.one(body, '')
  const { name } = arrival.message
  for (const { metric, digits } of reader.oddities.found?.unread ?? []) {
    reader.wrong(
      at('', metric),
      `${digits} has more digits than a number can represent`,
      `send it as a text: "${digits}"`,
    )
  }
  if (isPlainObject(body) && (typeof name !== 'string' || name === '')) {
    reader.wrong('/name', 'must be the name of a command, as text')
  }
  const { hops, root } = reader.settings(options)
  reader.done('the command')
  const causation = { hops, ...(root !== undefined && { root }) }
  return { channel: 'commands', arrivals: [arrival], arrived: now, store: true, forward: false, ...causation }
}

class PostReader {
  readonly #issues = new Issues('TYPE', MAX_ISSUES)
  readonly #resource: string | undefined
  readonly #now: number
  readonly #bounds: TimeBounds
  readonly oddities = new OddityCount()
  #values = 0
  /** whether the last timestamp was out of bounds */
  #isClaim = false
  #lastPlain: string | undefined
  #lastNamed: string | undefined

  constructor(resource: string | undefined, now: number, bounds: TimeBounds) {
    this.#resource = resource
    this.#now = now
    this.#bounds = bounds
    if (resource !== undefined) this.#label(resource, '/resource', 'the id of a resource')
  }

  list(body: readonly unknown[]): readonly IncomingMessage[] {
    refuseMany(body)
    if (body.length === 0) this.wrong('', 'the array is empty', 'send at least one message')
    const arrivals = body.map((each, i) => this.one(each, `/${i}`))
    refuseLong(arrivals)
    return arrivals
  }

  bulk(body: readonly unknown[]): Bulk {
    refuseMany(body)
    const bulk = new Bulk()
    for (let i = 0; i < body.length; i++) {
      const value = body[i]
      const base = `/${i}`
      if (!isPlainObject(value)) {
        this.wrong(base, 'must be an object with metrics', 'send {"temperature": 21.5}')
        continue
      }
      const resource = this.#resource ?? this.#named(value['resource'], base)
      const { time } = this.#time(value['timestamp'], base, resource)
      bulk.saw(resource, Math.min(time, this.#now), value)
      for (const key of Object.keys(value)) {
        if (key === 'resource' || key === 'timestamp') continue
        const metric = value[key]
        if (metric === undefined) continue
        this.#metric(key, metric, base, resource)
        if (isSample(metric)) bulk.add(resource, key, time, metric)
      }
    }
    return bulk
  }

  one(value: unknown, base: string): IncomingMessage {
    if (!isPlainObject(value)) {
      this.wrong(base, 'must be an object with metrics', 'send {"temperature": 21.5}')
      return { resource: '', message: { timestamp: this.#now }, text: '' }
    }
    const resource = this.#resource ?? this.#named(value['resource'], base)
    const read = this.#plain(value, base, resource) ?? this.#message(value, base, resource)
    // invalid values may be cyclic, or not JSON at all
    if (this.#issues.count > 0) return { resource, message: read, text: '' }
    const text = JSON.stringify(read)
    if (isLongerThan(text, MAX_MESSAGE)) this.#tooLarge(text, base)
    const isStamped = value['timestamp'] !== undefined && value['timestamp'] !== null && !this.#isClaim
    return { resource, message: read, text, ...(!isStamped && { isUnstamped: true }) }
  }

  /** Copies a message without `timestamp` and `resource` as a whole, which is cheaper than key by key. */
  #plain(value: Record<string, unknown>, base: string, resource: string): BrokerMessage | undefined {
    if (this.#issues.count > 0 || Object.hasOwn(value, 'timestamp') || Object.hasOwn(value, 'resource'))
      return undefined
    const copy: Record<string, unknown> = { ...value, timestamp: this.#now }
    const before = this.#values
    for (const key of Object.keys(value)) {
      const metric = copy[key]
      if (metric !== undefined) this.#metric(key, metric, base, resource)
      if (metric !== undefined && this.#issues.count === 0) continue
      // start over key by key, which reports all problems
      this.#values = before
      this.#issues.clear()
      return undefined
    }
    return copy as BrokerMessage
  }

  #message(value: Record<string, unknown>, base: string, resource: string): BrokerMessage {
    const message: Record<string, BrokerMessage[string]> = {}
    for (const key of Object.keys(value)) {
      if (key === 'resource' || key === 'timestamp') continue
      const metric = value[key]
      if (metric === undefined) continue
      this.#metric(key, metric, base, resource)
      message[key] = metric as BrokerMessage[string]
    }
    const { time, claim } = this.#time(value['timestamp'], base, resource)
    const isKept = claim !== undefined && !Object.hasOwn(message, CLAIMED_TIMESTAMP)
    return Object.assign(message, isKept && { [CLAIMED_TIMESTAMP]: claim }, { timestamp: time })
  }

  settings(options: PostOptions): Pick<PublishRequest, 'store' | 'forward' | 'expires' | 'hops' | 'root'> {
    const { store = true, forward = true, ttl, hops = 0, root } = options
    if (hops > MAX_HOPS) {
      throw new AppError(
        'VALIDATION',
        `${hops} rules in a row led to this message; more than ${MAX_HOPS} are rejected as a loop`,
      )
    }
    const ms = ttl === undefined ? 0 : timeToLive(ttl)
    if (ms === undefined)
      this.wrong('/ttl', `"${String(ttl).slice(0, 80)}" is not a valid time to live`, TIME_TO_LIVE_FORM)
    const causation = { hops, ...(root !== undefined && { root }) }
    return { store, forward, ...causation, ...(ms !== undefined && ms > 0 && { expires: this.#now + ms }) }
  }

  wrong(path: string, message: string, suggestion?: string): void {
    this.#issues.wrong(path, message, suggestion)
  }

  done(subject: string): void {
    if (this.#values > MAX_VALUES) {
      throw new AppError(
        'TOO_LARGE',
        `the post has ${this.#values} values, more than ${MAX_VALUES}; send several posts`,
      )
    }
    this.#issues.throwIfAny(subject)
  }

  #named(resource: unknown, base: string): string {
    const path = `${base}/resource`
    if (resource === undefined) this.wrong(path, 'is missing', 'add the resource of the message')
    else if (typeof resource !== 'string') this.wrong(path, 'must be a text')
    // most messages in a list name the same resource
    else if (resource !== this.#lastNamed) {
      const before = this.#issues.count
      this.#label(resource, path, 'the id of a resource')
      if (this.#issues.count === before) this.#lastNamed = resource
    }
    return typeof resource === 'string' ? resource : ''
  }

  #metric(name: string, value: unknown, base: string, resource: string): void {
    this.#values++
    // nearly every metric is a number with a short name, so a single check suffices
    if (typeof value === 'number' && Number.isFinite(value) && this.#isPlain(name)) return
    const path = at(base, name.slice(0, 200))
    if (FORBIDDEN_KEYS.has(name)) this.wrong(path, `the key ${name} is the name of a prototype property`, 'rename it')
    else this.#label(name, path, 'the name of a metric')
    if (typeof value === 'number' && !Number.isFinite(value)) {
      this.wrong(path, BEYOND, 'send a smaller one, or null')
    } else if (typeof value === 'string' && isLongerThan(value, MAX_TEXT)) {
      this.wrong(path, `has ${Buffer.byteLength(value)} bytes`, `a text has at most ${MAX_TEXT}`)
    } else if (typeof value === 'string' && UNSTORABLE.test(value)) {
      this.wrong(path, ...UNSTORED)
    } else if (typeof value === 'object') this.#inside(value, path, 1, { resource, metric: name })
    else if (!['string', 'number', 'boolean'].includes(typeof value)) this.wrong(path, 'is not JSON')
  }

  #inside(value: unknown, path: string, level: number, of: { resource: string; metric: string }): void {
    if (typeof value === 'number' && !Number.isFinite(value)) this.wrong(path, BEYOND, 'send a smaller one, or null')
    if (typeof value === 'string' && UNSTORABLE.test(value)) this.wrong(path, ...UNSTORED)
    if (typeof value !== 'object' || value === null || this.#issues.count > 0) return
    if (isWrittenInteger(value)) return this.oddities.unreadable(of.resource, of.metric, value)
    if (level > MAX_LEVELS) return this.wrong(path, `nests deeper than ${MAX_LEVELS} levels`, 'use fewer levels')
    if (!Array.isArray(value) && !isPlainObject(value)) return this.wrong(path, 'is not JSON')
    for (const [key, part] of Object.entries(value)) {
      const inner = `${path}/${key}`
      if (FORBIDDEN_KEYS.has(key)) this.wrong(inner, `the key ${key} is the name of a prototype property`)
      else if (UNSTORABLE.test(key)) this.wrong(inner, `the key ${UNSTORED[0]}`, UNSTORED[1])
      else this.#inside(part, inner, level + 1, of)
    }
  }

  #tooLarge(text: string, base: string): void {
    const most = `a message has at most ${MAX_MESSAGE} bytes as JSON`
    this.wrong(base, `has ${Buffer.byteLength(text)} bytes`, most)
  }

  #isPlain(name: string): boolean {
    // messages in a list use the same few names
    if (name === this.#lastPlain) return true
    if (!PLAIN.test(name) || FORBIDDEN_KEYS.has(name)) return false
    this.#lastPlain = name
    return true
  }

  /** Reads a timestamp. `claim` in the result: the given timestamp, if it is out of bounds. */
  #time(value: unknown, base: string, resource: string): { readonly time: number; readonly claim?: number | string } {
    this.#isClaim = false
    if (value === undefined || value === null) return { time: this.#now }
    const time = typeof value === 'string' ? isoInstant(value) : value
    const path = `${base}/timestamp`
    if (typeof time !== 'number' || !(Math.abs(time) <= MAX_TIME)) {
      this.wrong(path, `${shown(value)} ${notAnInstant(value)}`, 'send epoch milliseconds or ISO 8601')
      return { time: this.#now }
    }
    const whole = Math.floor(time) + 0
    if (isWithin(whole, this.#now, this.#bounds)) return { time: whole }
    if (this.#bounds.refuses) this.wrong(path, ...boundsProblem(whole, this.#now, this.#bounds))
    else this.oddities.badTime(resource, value)
    this.#isClaim = true
    return { time: this.#now, claim: value as number | string }
  }

  #label(text: string, path: string, what: string): void {
    if (text === '') this.wrong(path, `${what} is empty`)
    else if (UNSTORABLE.test(text)) this.wrong(path, `${what} has a NUL or half of a surrogate pair`)
    else if (isTooLongForId(text)) this.wrong(path, `${what} has more than ${MAX_ID_BYTES} bytes`)
  }
}

function refuseMany({ length }: readonly unknown[]): void {
  if (length <= MAX_MESSAGES) return
  throw new AppError('TOO_LARGE', `the post has ${length} messages, more than ${MAX_MESSAGES}; send several posts`)
}

/** Refuses a list that is too long, since tasks receive a list as one log entry. */
function refuseLong(arrivals: readonly IncomingMessage[]): void {
  let bytes = 0
  for (const { resource, text } of arrivals) bytes += Buffer.byteLength(resource) + Buffer.byteLength(text)
  if (bytes <= MAX_LIST) return
  throw new AppError('TOO_LARGE', `the messages have ${bytes} bytes, more than ${MAX_LIST}; send several posts`)
}

const BEYOND = 'is a number beyond 1.8e308'
const PLAIN = /^[\w.:-]{1,128}$/

function isLongerThan(text: string, bytes: number): boolean {
  // UTF-8 takes at most three bytes per UTF-16 code unit
  return text.length * 3 > bytes && Buffer.byteLength(text) > bytes
}

function shown(value: unknown, most = 80): string {
  return (JSON.stringify(value) ?? typeof value).slice(0, most)
}

const MAX_NAMED = 20

class OddityCount {
  #unreadable = 0
  readonly #unread = new Map<string, Oddities['unread'][number]>()
  #badTime = 0
  readonly #badTimes = new Map<string, Oddities['badTimes'][number]>()

  unreadable(resource: string, metric: string, value: unknown): void {
    this.#unreadable += 1
    const key = `${metric}\n${resource}`
    if (this.#unread.size >= MAX_NAMED || this.#unread.has(key)) return
    this.#unread.set(key, { resource, metric, digits: shown(value, 60) })
  }

  badTime(resource: string, claim: unknown): void {
    this.#badTime += 1
    if (this.#badTimes.size >= MAX_NAMED || this.#badTimes.has(resource)) return
    this.#badTimes.set(resource, { resource, claim: shown(claim, 60) })
  }

  get found(): Oddities | undefined {
    if (this.#unreadable === 0 && this.#badTime === 0) return undefined
    return {
      unreadable: this.#unreadable,
      unread: [...this.#unread.values()],
      badTime: this.#badTime,
      badTimes: [...this.#badTimes.values()],
    }
  }
}

const TIME_TO_LIVE_FORM = 'write seconds such as 3600, a number with one of w, d, h, m, s such as 42m, or PT42M'

/** Returns the ms of a `ttl`; zero means unlimited, undefined means invalid. */
function timeToLive(value: string | number): number | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0 ? within(value * 1000) : undefined
  if (/^\d{1,15}$/.test(value)) return within(Number(value) * 1000)
  const short = shortMs(value)
  if (short !== undefined) return within(short)
  return value.startsWith('P') ? within(isoMs(value)) : undefined
}

function isoMs(text: string): number {
  try {
    return durationMs(text)
  } catch (error) {
    if (error instanceof AppError) return Number.NaN
    throw error
  }
}

function within(ms: number): number | undefined {
  return ms >= 0 && ms < MAX_TIME / 2 ? Math.ceil(ms) : undefined
}
