/** Checks the status and headers of a webscript's response, which are untrusted. */
import { hash } from 'node:crypto'
import { AppError } from '#kernel'
import type { WebHead } from '#services/functions/contract'
import { CONNECTION_HEADERS } from '#services/shared/contract'

const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/
const VALUE = /^[\t\u0020-\u007e\u0080-\u00ff]*$/
const MAX_HEADERS = 100
const MAX_CHARACTERS = 16_384
/** Headers that concern the connection or the whole host, or that the host sets itself. */
const OF_THE_HOST: ReadonlySet<string> = new Set([
  ...CONNECTION_HEADERS,
  'alt-svc',
  'clear-site-data',
  'content-length',
  'nel',
  'proxy-authenticate',
  'report-to',
  'reporting-endpoints',
  'service-worker-allowed',
  'strict-transport-security',
])

export function headOf({ status, headers }: { readonly status?: unknown; readonly headers?: unknown }): WebHead {
  if (typeof status !== 'number' || !Number.isInteger(status) || status < 200 || status > 599) {
    throw wrong(`the status ${shown(status)}; it is a number from 200 to 599`)
  }
  if (!Array.isArray(headers)) throw wrong('no list of headers')
  const pairs = headers.map(pairOf)
  const size = pairs.reduce((sum, [name, value]) => sum + name.length + value.length, 0)
  if (pairs.length > MAX_HEADERS || size > MAX_CHARACTERS) {
    throw wrong(`more than ${MAX_HEADERS} headers, or more than ${MAX_CHARACTERS} characters of them`)
  }
  return { status, headers: pairs.filter(([name]) => !OF_THE_HOST.has(name)) }
}

function pairOf(pair: unknown): readonly [string, string] {
  const [name, value] = Array.isArray(pair) ? (pair as readonly unknown[]) : []
  if (typeof name !== 'string' || !NAME.test(name)) throw wrong(`the header name ${shown(name)}`)
  if (typeof value !== 'string' || !VALUE.test(value))
    throw wrong(`a header ${name} that is not one line of Latin letters`)
  return [name.toLowerCase(), value]
}

function shown(value: unknown): string {
  return value === undefined ? 'nothing' : JSON.stringify(value).slice(0, 60)
}

function wrong(what: string): AppError {
  return new AppError('PLUG_FAILED', `it returned ${what}`, { cause: 'answer' })
}

export function etagOf(body: string | Uint8Array): string {
  const digest = hash('sha1', body, 'base64').slice(0, 27)
  return `W/"${Buffer.byteLength(body).toString(16)}-${digest}"`
}

export function isKnown(etag: string, ifNoneMatch: string | undefined): boolean {
  if (ifNoneMatch === undefined) return false
  const weak = (text: string): string => text.trim().replace(/^W\//, '')
  return ifNoneMatch.trim() === '*' || ifNoneMatch.split(',').some((one) => weak(one) === weak(etag))
}
