/** Makes HTTP calls with limits of time, size and redirects, and checks addresses before each connection. */
import { type AllowList, AppError, CallError, isAddress } from '#plug'
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
/** Headers that may follow a redirect to another origin; all others may contain secrets. */
const KEPT_ELSEWHERE = new Set(['accept', 'accept-language', 'content-type', 'idempotency-key', 'user-agent'])

/** Parses the URL of a call. Throws `PLUG_FAILED` without quoting the URL, which may contain secrets. */
export function urlOf(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw final('url is not an http or https address; use one such as https://example.com/hook')
  }
  if (url.username !== '' || url.password !== '') {
    throw final('url contains a user or password; use the header Authorization instead')
  }
  return url
}

/** Each address must be public or allowed, and no metadata address. Throws `PLUG_FAILED`, which at most names hosts. */
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
      throw final(`${before.hostname} redirects from https to http, which would expose the request`)
    }
    if (url.origin !== before.origin) headers = harmless(headers)
    if (response.status === 303 || (response.status < 303 && method === 'POST')) {
      method = 'GET'
      body = undefined
    }
  }
  throw final(`${url.hostname} exceeds the limit of ${MAX_REDIRECTS} redirects`)
}

/** Resolves a URL. Throws `PLUG_FAILED` unless all of its addresses are allowed. */
export async function addressOf(url: URL, transport: Transport, allowed: AllowList): Promise<string> {
  const host = url.hostname
  let addresses: readonly string[]
  try {
    addresses = isAddress(host) ? [host.replace(/^\[|\]$/g, '')] : await transport.resolve(host)
  } catch {
    throw new CallError(`the host name ${host} cannot be resolved`)
  }
  const [address] = addresses
  if (address === undefined) throw final(`the host name ${host} does not have an address`)
  for (const one of addresses) {
    const refusal = allowed.refusal(url, one)
    if (refusal !== undefined) throw final(refusal)
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
    // an error of the transport without a cause is a refusal, such as a response that is too long
    const isFinal = error instanceof AppError && error.cause === undefined
    throw new CallError(`${url.host} ${reasonOf(error)}`, { isFinal })
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'refused the connection',
  ECONNRESET: 'closed the connection',
  EPIPE: 'closed the connection',
  EHOSTUNREACH: 'cannot be reached',
  ENETUNREACH: 'cannot be reached',
}

/** Reports only the code or kind of a transport error, whose text may repeat the URL or a header. */
function reasonOf(error: unknown): string {
  // transports may wrap system errors
  const cause: unknown = error instanceof AppError && error.cause !== undefined ? error.cause : error
  if (cause instanceof AppError) return `did not respond: ${cause.message}`
  if (!(cause instanceof Error)) return 'did not respond'
  if (cause.name === 'TimeoutError') return `did not respond within ${TIMEOUT_MS} ms`
  if (!('code' in cause) || typeof cause.code !== 'string') return `did not respond (${cause.name})`
  const reason = Object.hasOwn(REASONS, cause.code) ? REASONS[cause.code] : undefined
  return `${reason ?? 'did not respond'} (${cause.code})`
}

function bounded(response: OutboundResponse, url: URL): OutboundResponse {
  if (response.body.length <= MAX_BYTES) return response
  throw final(`the response of ${url.hostname} exceeds ${MAX_BYTES} bytes`)
}

function final(message: string): CallError {
  return new CallError(message, { isFinal: true })
}

function harmless(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => KEPT_ELSEWHERE.has(name.toLowerCase())))
}
