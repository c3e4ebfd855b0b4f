/** Reads which server has a model: where it is, how it is asked, and with which headers. */
import { isPlainObject, type Issues, shown } from '#kernel'
import { REMOTE_PROTOCOLS, type RemoteModel, type RemoteProtocol } from '../contract.ts'

/** Whole, with headers that are sealed. */
export type SealedRemote = Required<RemoteModel>

const KEYS = ['url', 'protocol', 'model', 'headers']
const MAX_URL = 2_000
/** a name, and a version of it */
const MODEL = /^[^/?#\p{Cc}]{1,200}(?:\/versions\/[^/?#\p{Cc}]{1,50})?$/u
const DOTS = /(?:^|\/)\.{1,2}(?:\/|$)/
const MAX_HEADERS = 20
const HEADER = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/
const MAX_VALUE = 8_000
const LINE = /^[\t\x20-\x7e\x80-\xff]*$/
/** What a request says about itself. */
const DECIDED: ReadonlySet<string> = new Set([
  'accept',
  'accept-encoding',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

export interface RemoteReading {
  /** of the model here */
  readonly name: string
  /** Undefined for a sealed text that is not of this header of that server. */
  readonly seal: (url: string, header: string, text: string) => string | undefined
  readonly issues: Issues
}

/** What is wrong is told to `issues`; then what it gives is of no use. */
export function readRemote(given: unknown, { name, seal, issues }: RemoteReading): SealedRemote {
  const body = isPlainObject(given) ? given : {}
  if (!isPlainObject(given)) issues.wrong('/remote', `is ${shown(given)}`, 'send {"url": "...", "protocol": "v2"}')
  for (const key of Object.keys(body)) {
    if (!KEYS.includes(key)) issues.wrong(`/remote/${key.slice(0, 80)}`, 'is unknown', `write ${KEYS.join(', ')}`)
  }
  const { url, protocol, model = name, headers = {} } = body
  const known = REMOTE_PROTOCOLS.find((one) => one === protocol)
  if (known === undefined && isPlainObject(given)) {
    issues.wrong('/remote/protocol', `is ${shown(protocol)}`, `write ${REMOTE_PROTOCOLS.join(' or ')}`)
  }
  const isModel = typeof model === 'string' && MODEL.test(model) && !DOTS.test(model)
  // a name that is wrong here too is told already
  if (!isModel && body['model'] !== undefined) {
    issues.wrong('/remote/model', `is ${shown(model)}`, 'write its name, or name/versions/2')
  }
  const read = isPlainObject(given) ? readUrl(url, issues) : undefined
  return {
    url: read ?? '',
    protocol: known ?? ('v2' satisfies RemoteProtocol),
    model: isModel ? model : '',
    // to which server they belong is known only with its address
    headers: readHeaders(headers, (header, text) => (read === undefined ? '' : seal(read, header, text)), issues),
  }
}

function readUrl(given: unknown, issues: Issues): string | undefined {
  const wrong = (what: string, right: string): undefined => issues.wrong('/remote/url', what, right)
  const url = typeof given === 'string' && given.length <= MAX_URL && URL.canParse(given) ? new URL(given) : undefined
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    return wrong(`is ${shown(given)}`, 'write an http or https address such as https://models.example.com')
  }
  // not shown: it is a secret
  if (url.username !== '' || url.password !== '') {
    return wrong('holds a user or password', 'put them into the header Authorization')
  }
  if (url.search !== '' || url.hash !== '') {
    return wrong(`is ${shown(given)}`, 'write it without a query, up to what comes before /v1 or /v2')
  }
  if (/\/v[12](?:\/models.*)?$/.test(url.pathname)) {
    return wrong(`is ${shown(given)}`, 'write what comes before /v1 or /v2; model says which of its models')
  }
  return url.origin + url.pathname.replace(/\/$/, '')
}

type SealHeader = (header: string, text: string) => string | undefined

function readHeaders(given: unknown, seal: SealHeader, issues: Issues): Readonly<Record<string, string>> {
  if (!isPlainObject(given)) {
    issues.wrong('/remote/headers', `is ${shown(given)}`, 'send an object of texts by name')
    return {}
  }
  const entries = Object.entries(given)
  if (entries.length > MAX_HEADERS) {
    issues.wrong('/remote/headers', `has ${entries.length} headers`, `send at most ${MAX_HEADERS}`)
    return {}
  }
  const sealed = entries.map(([name, value]) => [name, readHeader(name, value, seal, issues)] as const)
  return Object.fromEntries(sealed)
}

function readHeader(name: string, value: unknown, seal: SealHeader, issues: Issues): string {
  const path = `/remote/headers/${name.slice(0, 100)}`
  if (!HEADER.test(name) || DECIDED.has(name.toLowerCase())) {
    issues.wrong(path, 'cannot be set', 'name one such as Authorization')
  } else if (typeof value !== 'string' || value.length > MAX_VALUE || !LINE.test(value)) {
    issues.wrong(path, 'is not one line of text', `send at most ${MAX_VALUE} characters`)
  } else {
    const sealed = seal(name, value)
    if (sealed !== undefined) return sealed
    issues.wrong(path, 'is a sealed text that this header of that server does not have', 'send the text itself')
  }
  return ''
}
