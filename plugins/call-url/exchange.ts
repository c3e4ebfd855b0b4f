/** One HTTP call with its bounds: time, size, redirects, and addresses that are checked before each connection. */
import { type AllowList, AppError, isAddress } from '#plug'
import type { OutboundResponse, Transport } from './transport.ts'

export interface Exchange {
  readonly url: string
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
  readonly signal: AbortSignal
}

const TIMEOUT_MS = 10_000
const MAX_BYTES = 1_000_000
const MAX_REDIRECTS = 5
const REDIRECTS = new Set([301, 302, 303, 307, 308])
/** Headers that may reach another origin than the one that they were written for; all others may hold secrets. */
const KEPT_ELSEWHERE = new Set(['accept', 'accept-language', 'content-type', 'user-agent'])

/** The URL of a call. Throws `PLUG_FAILED`; the text names no part of the URL, which may hold secrets. */
export function urlOf(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw new AppError('PLUG_FAILED', 'url is not an http or https address; write one such as https://example.com/hook')
  }
  if (url.username !== '' || url.password !== '') {
    throw new AppError('PLUG_FAILED', 'url holds a user or password; put them into the header Authorization')
  }
  return url
}

/**
 * Calls a URL and follows redirects; each address on the way must be public or allowed, and none is of cloud metadata. Throws `PLUG_FAILED`
 * with a text that names hosts at most.
 */
export async function exchange(first: Exchange, transport: Transport, allowed: AllowList): Promise<OutboundResponse> {
  let { method, body } = first
  let headers = first.headers
  let url = urlOf(first.url)
  for (let hops = 0; hops <= MAX_REDIRECTS; hops++) {
    const address = await addressOf(url, transport, allowed)
    const response = await send(url, { ...first, method, headers, body }, address, transport)
    if (!REDIRECTS.has(response.status) || response.location === undefined) return bounded(response, url)
    const next = URL.canParse(response.location, url.href) ? new URL(response.location, url.href).href : ''
    const before = url
    url = urlOf(next)
    if (before.protocol === 'https:' && url.protocol === 'http:') {
      throw new AppError(
        'PLUG_FAILED',
        `${before.hostname} redirects from https to http, which would show what is sent`,
      )
    }
    if (url.origin !== before.origin) headers = harmless(headers)
    if (response.status === 303 || (response.status < 303 && method === 'POST')) {
      method = 'GET'
      body = undefined
    }
  }
  throw new AppError('PLUG_FAILED', `${url.hostname} is the end of more than ${MAX_REDIRECTS} redirects`)
}

/** Where to connect to for a URL. Throws `PLUG_FAILED` unless each of its addresses may be called. */
export async function addressOf(url: URL, transport: Transport, allowed: AllowList): Promise<string> {
  const host = url.hostname
  let addresses: readonly string[]
  try {
    addresses = isAddress(host) ? [host.replace(/^\[|\]$/g, '')] : await transport.resolve(host)
  } catch {
    throw new AppError('PLUG_FAILED', `the name ${host} cannot be resolved`)
  }
  const [address] = addresses
  if (address === undefined) throw new AppError('PLUG_FAILED', `the name ${host} has no address`)
  for (const one of addresses) {
    const refusal = allowed.refusal(url, one)
    if (refusal !== undefined) throw new AppError('PLUG_FAILED', refusal)
  }
  return address
}

async function send(url: URL, call: Exchange, address: string, transport: Transport): Promise<OutboundResponse> {
  const { method, headers, body, signal } = call
  try {
    return await transport.send({
      url: url.href,
      address,
      method,
      headers,
      body,
      timeoutMs: TIMEOUT_MS,
      maxBytes: MAX_BYTES,
      signal,
    })
  } catch (error) {
    throw new AppError('PLUG_FAILED', `${url.host} ${reasonOf(error)}`)
  }
}

/** By codes of the system. */
const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'refused the connection',
  ECONNRESET: 'broke the connection off',
  EPIPE: 'broke the connection off',
  EHOSTUNREACH: 'cannot be reached',
  ENETUNREACH: 'cannot be reached',
}

/** The text of a transport's error may repeat the URL or a header: only its code or kind is reported. */
function reasonOf(error: unknown): string {
  // a transport may wrap what the system reports
  const own: unknown = error instanceof AppError && error.cause !== undefined ? error.cause : error
  if (own instanceof AppError) return `gave no answer: ${own.message}`
  if (!(own instanceof Error)) return 'gave no answer'
  if (own.name === 'TimeoutError') return `gave no answer within ${TIMEOUT_MS} ms`
  if (!('code' in own) || typeof own.code !== 'string') return `gave no answer (${own.name})`
  const reason = Object.hasOwn(REASONS, own.code) ? REASONS[own.code] : undefined
  return `${reason ?? 'gave no answer'} (${own.code})`
}

function bounded(response: OutboundResponse, url: URL): OutboundResponse {
  if (response.body.length <= MAX_BYTES) return response
  throw new AppError('PLUG_FAILED', `${url.hostname} answered with more than ${MAX_BYTES} bytes`)
}

function harmless(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => KEPT_ELSEWHERE.has(name.toLowerCase())))
}
