/** Reads a subscription as a user sends it: all problems at once, defaults filled in. */
import { at, FORBIDDEN_KEYS, isPlainObject, Issues, type Json, shown } from '#kernel'
import { MAX_EXPIRY, MAX_PATH_BYTES } from '../contract.ts'
import {
  AUTHENTICATION_METHODS,
  CHANGE_EVENTS,
  CHANNEL_METHODS,
  type Authentication,
  type AuthenticationMethod,
  type Channel,
  type Filter,
  type Subscription,
} from './contract.ts'
import { queueOf } from './subscription-record.ts'

/** `secret` as it was sent. */
export type SentSubscription = Subscription

const ID = /^[\w.:~-]{1,128}$/
const MAX_TEXT = 2_000
const MAX_NAME = 512
const MAX_SECRET = 4_096
const MAX_FILTERS = 100
/** characters of the reference as JSON */
const MAX_REFERENCE = 100_000
const MAX_DEPTH = 50
const DEFAULT_SECONDS = 300
/** what the platform that this API comes from calls it */
const ALIASES: ReadonlyMap<unknown, AuthenticationMethod> = new Map([['WAYLAY_TOKEN', 'SERVICE_TOKEN']])
const SECONDS = { seconds: 1, hours: 3_600, days: 86_400 } as const

/** `VALIDATION`. `id`: of the path, or made for it; it counts more than that of the body. */
export function readSubscription(bucket: string, id: string, body: unknown): SentSubscription {
  const reader = new Reader()
  const read = reader.subscription(bucket, id, body)
  reader.issues.throwIfAny('the subscription')
  return read
}

/** The id that a body names; undefined without one. `VALIDATION`. */
export function namedId(body: unknown): string | undefined {
  const id = isPlainObject(body) ? body['id'] : undefined
  if (id === undefined || id === null) return undefined
  const issues = new Issues('BODY')
  checkId(issues, '/id', id)
  // what else is wrong is told with it
  if (issues.count > 0) issues.throwIfAny('the subscription')
  return id as string
}

export function checkId(issues: Issues, path: string, id: unknown): void {
  if (typeof id === 'string' && ID.test(id) && id !== '.' && id !== '..') return
  issues.wrong(path, `${shown(id)} is no id`, 'write 1 to 128 letters, digits or . _ : ~ -, or leave it out')
}

type Wire = Readonly<Record<string, unknown>>

class Reader {
  readonly issues = new Issues('BODY', 100)

  subscription(bucket: string, id: string, body: unknown): SentSubscription {
    const given = this.#object(body, '', ['id', 'title', 'description', 'channel', 'filters', '_links'])
    checkId(this.issues, '/id', id)
    return {
      id,
      ...this.#text(given, '', 'title'),
      ...this.#text(given, '', 'description'),
      channel: this.#channel(given['channel']),
      filters: this.#filters(bucket, id, given['filters']),
    }
  }

  #channel(value: unknown): Channel {
    const place = '/channel'
    const known = ['type', 'name', 'version', 'method', 'description', 'expiry', 'payload', 'authentication']
    const given = this.#object(value, place, known)
    const { type, name } = given
    if (type === 'system') {
      this.issues.wrong(`${place}/type`, "channels of the type system are the host's own", 'write webscript')
    } else if (type !== 'webscript') this.#choice(type, `${place}/type`, ['webscript'])
    if (typeof name !== 'string' || name === '' || name.length > MAX_NAME) {
      this.issues.wrong(`${place}/name`, 'must be the name of a webscript', `1 to ${MAX_NAME} characters`)
    }
    return {
      type: 'webscript',
      name: String(name),
      ...this.#text(given, place, 'version'),
      method: this.#choice(given['method'], `${place}/method`, CHANNEL_METHODS),
      ...this.#text(given, place, 'description'),
      expiry: this.#expiry(given['expiry']),
      payload: this.#payload(given['payload']),
      authentication: this.#authentication(given['authentication']),
    }
  }

  #expiry(value: unknown): Channel['expiry'] {
    if (value === undefined || value === null) return { seconds: DEFAULT_SECONDS }
    const place = '/channel/expiry'
    const given = this.#object(value, place, Object.keys(SECONDS))
    const expiry: { seconds?: number; hours?: number; days?: number } = {}
    let total = 0
    for (const part of Object.keys(SECONDS) as (keyof typeof SECONDS)[]) {
      const number = given[part]
      if (number === undefined || number === null) continue
      if (typeof number !== 'number' || !Number.isFinite(number) || number < 0) {
        this.issues.wrong(at(place, part), `${shown(number)} is no length of time`, 'write a number from 0 on')
      } else {
        expiry[part] = number
        total += number * SECONDS[part]
      }
    }
    if (total > MAX_EXPIRY) {
      this.issues.wrong(place, `${total} s are longer than 7 days`, `at most ${MAX_EXPIRY} s in all`)
    }
    if (Object.keys(expiry).length === 0) return { seconds: DEFAULT_SECONDS }
    if (total < 1) this.issues.wrong(place, `is ${total} s in all`, 'links and tokens are good for 1 s at least')
    return expiry
  }

  #payload(value: unknown): Channel['payload'] {
    const place = '/channel/payload'
    const given = this.#object(value, place, ['signed_links', 'reference'])
    const links = this.#list(given['signed_links'], `${place}/signed_links`, CHANNEL_METHODS)
    const { reference } = given
    if (reference === undefined) return { signed_links: links }
    if (!isKeepable(reference, 0) || JSON.stringify(reference).length > MAX_REFERENCE) {
      const form = `at most ${MAX_REFERENCE} characters, ${MAX_DEPTH} levels, and no key that reaches a prototype`
      this.issues.wrong(`${place}/reference`, 'cannot be kept', form)
    }
    return { signed_links: links, reference: reference as Json }
  }

  #authentication(value: unknown): Authentication {
    const place = '/channel/authentication'
    const given = this.#object(value, place, ['method', 'key', 'secret'])
    const named = given['method'] ?? 'NONE'
    const method = ALIASES.get(named) ?? this.#choice(named, `${place}/method`, AUTHENTICATION_METHODS)
    const needsKey = method === 'API_KEY' || method === 'SERVICE_TOKEN'
    const { key, secret } = given
    this.#credential(key, `${place}/key`, method, needsKey)
    this.#credential(secret, `${place}/secret`, method, method !== 'NONE')
    return {
      method,
      ...(needsKey && { key: String(key) }),
      ...(method !== 'NONE' && { secret: String(secret) }),
    }
  }

  #credential(value: unknown, place: string, method: string, isNeeded: boolean): void {
    const isThere = value !== undefined && value !== null
    if (!isNeeded) {
      if (isThere) this.issues.wrong(place, `is of no use with the method ${method}`, 'leave it out')
    } else if (typeof value !== 'string' || value === '' || value.length > MAX_SECRET) {
      this.issues.wrong(place, `must be there with the method ${method}`, `a text of 1 to ${MAX_SECRET} characters`)
    } else if (/[\0-\u001f\u007f]/.test(value)) {
      this.issues.wrong(place, 'has a control character, which no header can have', 'take it out')
    }
  }

  #filters(bucket: string, id: string, value: unknown): readonly Filter[] {
    const place = '/filters'
    if (!Array.isArray(value) || value.length === 0 || value.length > MAX_FILTERS) {
      this.issues.wrong(place, 'must be a list of filters', `1 to ${MAX_FILTERS}; [{}] is every put`)
      return []
    }
    return value.map((each: unknown, i): Filter => {
      const own = at(place, String(i))
      const given = this.#object(each, own, ['prefix', 'suffix', 'events', 'description', 'queue'])
      const { events } = given
      const isDefault = events === undefined || events === null
      return {
        ...this.#part(given, own, 'prefix'),
        ...this.#part(given, own, 'suffix'),
        events: isDefault ? ['put'] : this.#list(events, `${own}/events`, CHANGE_EVENTS, 1),
        ...this.#text(given, own, 'description'),
        queue: queueOf(bucket, id, i),
      }
    })
  }

  /** What paths begin or end with. */
  #part(given: Wire, place: string, name: 'prefix' | 'suffix'): { prefix?: string; suffix?: string } {
    const value = given[name]
    if (value === undefined || value === null) return {}
    if (typeof value === 'string' && Buffer.byteLength(value) <= MAX_PATH_BYTES) return { [name]: value }
    this.issues.wrong(at(place, name), `must be a part of a path`, `a text of at most ${MAX_PATH_BYTES} bytes`)
    return {}
  }

  #text<Name extends string>(given: Wire, place: string, name: Name): Partial<Record<Name, string>> {
    const value = given[name]
    if (value === undefined || value === null) return {}
    if (typeof value === 'string' && value.length <= MAX_TEXT) return { [name]: value } as Record<Name, string>
    this.issues.wrong(at(place, name), 'must be a text', `of at most ${MAX_TEXT} characters`)
    return {}
  }

  #choice<T extends string>(value: unknown, place: string, choices: readonly [T, ...T[]]): T {
    const found = choices.find((one) => one === value)
    if (found !== undefined) return found
    const what = value === undefined ? 'is missing' : `${shown(value)} is none that there is`
    this.issues.wrong(place, what, `write ${choices.join(', ')}`)
    return choices[0]
  }

  #list<T extends string>(value: unknown, place: string, choices: readonly [T, ...T[]], least = 0): readonly T[] {
    if (!Array.isArray(value) || value.length < least || value.length > 20) {
      this.issues.wrong(place, 'must be a list', `of ${choices.join(', ')}`)
      return []
    }
    const read = value.map((each: unknown, i) => this.#choice(each, at(place, String(i)), choices))
    return [...new Set(read)]
  }

  #object(value: unknown, place: string, known: readonly string[]): Wire {
    if (!isPlainObject(value)) {
      this.issues.wrong(place, value === undefined ? 'is missing' : 'must be an object', `with ${known.join(', ')}`)
      return {}
    }
    for (const key of Object.keys(value)) {
      if (known.includes(key)) continue
      this.issues.wrong(at(place, key.slice(0, 100)), 'is no field', `write one of ${known.join(', ')}`)
    }
    return value
  }
}

function isKeepable(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true
  if (depth > MAX_DEPTH) return false
  return Object.entries(value).every(([key, part]) => !FORBIDDEN_KEYS.has(key) && isKeepable(part, depth + 1))
}
