/** A sensor and an actuator that call a URL through a transport of the host. */
import { AllowList, CallError, definePlug, isFinalStatus, messageOf, parsePlainJson, problemsOfCode } from '#plug'
import { type Exchange, exchange, urlOf } from './exchange.ts'
import { headersOf } from './headers.ts'
import type { Transport } from './transport.ts'

export interface CallUrlOptions {
  /** default: offline, so that simulations are repeatable */
  readonly transport?: Transport
  /** private names, addresses and networks that may be called, such as `localhost:8080` or `10.0.0.0/8` */
  readonly allow?: readonly string[]
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD'] as const

const LIMITS =
  'Limits: 10 s, 1 MB of response and 5 redirects. Private addresses need permission of the host; cloud metadata addresses are always blocked. Offline unless the host provides a transport.'

const shared = {
  name: 'callURL',
  version: '1.0.0',
  category: 'Network',
  acts: ({ method }: { readonly method: string }) => method !== 'GET' && method !== 'HEAD',
  input: {
    url: {
      type: 'string',
      mandatory: true,
      sensitive: true,
      format: { type: 'url' },
      description: 'an http or https address',
      example: 'https://example.com/hook',
    },
    method: {
      type: 'string',
      mandatory: true,
      format: { type: 'enum', values: METHODS },
      description: 'the method',
      example: 'POST',
    },
    body: {
      type: 'any',
      sensitive: true,
      description: 'body: text, or an object that is sent as JSON',
      example: { temperature: 21.5 },
    },
    headers: {
      type: 'object',
      sensitive: true,
      description:
        'headers by name; ${vault.<KEY>} keeps secrets out of rules. Calls with other methods than GET and HEAD have an Idempotency-Key, the same for each retry',
      example: { Accept: 'application/json' },
    },
  },
  check: ({ url, headers }: Partial<Properties>) => [
    ...problemsOfCode('url', url, urlOf),
    ...problemsOfCode('headers', headers, headersOf),
  ],
} as const

const ANSWER = {
  statusText: { type: 'string', description: 'its text' },
  data: { type: 'any', description: 'body of the response: parsed when it is JSON, otherwise text' },
} as const

interface Properties {
  readonly url: string
  readonly method: string
  readonly body: unknown
  readonly headers: Readonly<Record<string, unknown>> | undefined
}

interface Called {
  readonly isSuccess: boolean
  readonly rawData: { readonly status: number; readonly statusText: string; readonly data: unknown }
  readonly retryAfter: string | undefined
}

export function createCallUrl(options: CallUrlOptions = {}) {
  const call = caller(options)
  return definePlug({
    ...shared,
    kind: 'sensor',
    description: `Calls a URL: Success for a status from 200 to 299, otherwise Error. ${LIMITS}`,
    parameters: [],
    states: ['Success', 'Error'],
    output: {
      status: { type: 'integer', description: 'the status code; absent without a response' },
      ...ANSWER,
      error: { type: 'string', description: 'reason for the missing response, without URL, headers and body' },
    },
    async execute({ properties, signal, id }) {
      const request = requestOf(properties, id)
      try {
        const { isSuccess, rawData } = await call(request, signal)
        return { state: isSuccess ? 'Success' : 'Error', rawData }
      } catch (error) {
        return { state: 'Error', rawData: { error: messageOf(error) } }
      }
    },
  })
}

export function createCallUrlActuator(options: CallUrlOptions = {}) {
  const call = caller(options)
  return definePlug({
    ...shared,
    kind: 'actuator',
    description: `Calls a URL, and fails unless the status is from 200 to 299. A status from 400 to 499 is not retried, except 408, 425 and 429; the header Retry-After of a response delays the retry. ${LIMITS}`,
    retry: { maxRetries: 5, minBackoff: 'PT1S', maxBackoff: 'PT1M' },
    output: { status: { type: 'integer', description: 'the status code' }, ...ANSWER },
    async execute({ properties, signal, id, now }) {
      const { isSuccess, rawData, retryAfter } = await call(requestOf(properties, id), signal)
      const { host } = urlOf(properties.url)
      const { status } = rawData
      const message = `${host} responded with status ${status}`
      if (isSuccess) return { message, rawData }
      const isFinal = isFinalStatus(status)
      const wait = waitOf(retryAfter, now)
      throw new CallError(message, { isFinal, ...(wait !== undefined && { retryAfter: wait }) })
    },
  })
}

type Request = Omit<Exchange, 'signal'>

function caller({ transport, allow = [] }: CallUrlOptions): (request: Request, signal: AbortSignal) => Promise<Called> {
  const allowed = new AllowList([...allow, ...(transport?.allow ?? [])])
  return async (request, signal) => {
    if (transport === undefined) throw offline()
    const { status, statusText, body, retryAfter } = await exchange({ ...request, signal }, transport, allowed)
    return { isSuccess: status >= 200 && status < 300, rawData: { status, statusText, data: dataOf(body) }, retryAfter }
  }
}

/** `id`: of the effect, which stays the same when the call is repeated */
function requestOf({ url, method, body, headers = {} }: Properties, id: string): Request {
  const sent = headersOf(headers)
  const has = (wanted: string) => Object.keys(sent).some((name) => name.toLowerCase() === wanted)
  if (method !== 'GET' && method !== 'HEAD' && !has('idempotency-key')) sent['Idempotency-Key'] = encodeURI(id)
  const text = typeof body === 'string' || body === undefined ? body : JSON.stringify(body)
  if (text !== body && !has('content-type')) {
    sent['Content-Type'] = 'application/json'
  }
  return { url, method, headers: sent, body: text }
}

function offline(): CallError {
  return new CallError('callURL is offline; pass a transport to createCallUrl({ transport })', { isFinal: true })
}

/** Returns the ms that a header `Retry-After` demands: seconds, or a date. `now`: epoch ms */
function waitOf(retryAfter: string | undefined, now: number): number | undefined {
  if (retryAfter === undefined) return undefined
  const ms = /^\d{1,9}$/.test(retryAfter) ? Number(retryAfter) * 1_000 : Date.parse(retryAfter) - now
  return ms > 0 ? ms : undefined
}

function dataOf(body: string): unknown {
  try {
    return parsePlainJson(body)
  } catch {
    return body
  }
}
