/** A sensor and an actuator that call a URL through a transport of the host. */
import { AllowList, AppError, definePlug, messageOf, parsePlainJson, type Plug, problemsOfCode } from '#plug'
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
      description: 'headers by name; ${vault.<KEY>} keeps secrets out of rules',
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
}

export function createCallUrl(options: CallUrlOptions = {}): Plug {
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
    async execute({ properties, signal }) {
      const request = requestOf(properties)
      try {
        const { isSuccess, rawData } = await call(request, signal)
        return { state: isSuccess ? 'Success' : 'Error', rawData }
      } catch (error) {
        return { state: 'Error', rawData: { error: messageOf(error) } }
      }
    },
  })
}

export function createCallUrlActuator(options: CallUrlOptions = {}): Plug {
  const call = caller(options)
  return definePlug({
    ...shared,
    kind: 'actuator',
    description: `Calls a URL, and fails unless the status is from 200 to 299. ${LIMITS}`,
    output: { status: { type: 'integer', description: 'the status code' }, ...ANSWER },
    async execute({ properties, signal }) {
      const { isSuccess, rawData } = await call(requestOf(properties), signal)
      const { host } = urlOf(properties.url)
      const message = `${host} responded with status ${rawData.status}`
      if (!isSuccess) throw new AppError('PLUG_FAILED', message)
      return { message, rawData }
    },
  })
}

type Request = Omit<Exchange, 'signal'>

function caller({ transport, allow = [] }: CallUrlOptions): (request: Request, signal: AbortSignal) => Promise<Called> {
  const allowed = new AllowList([...allow, ...(transport?.allow ?? [])])
  return async (request, signal) => {
    if (transport === undefined) throw offline()
    const { status, statusText, body } = await exchange({ ...request, signal }, transport, allowed)
    return { isSuccess: status >= 200 && status < 300, rawData: { status, statusText, data: dataOf(body) } }
  }
}

function requestOf({ url, method, body, headers = {} }: Properties): Request {
  const sent = headersOf(headers)
  const text = typeof body === 'string' || body === undefined ? body : JSON.stringify(body)
  if (text !== body && !Object.keys(sent).some((name) => name.toLowerCase() === 'content-type')) {
    sent['Content-Type'] = 'application/json'
  }
  return { url, method, headers: sent, body: text }
}

function offline(): AppError {
  return new AppError('PLUG_FAILED', 'callURL is offline; pass a transport to createCallUrl({ transport })')
}

function dataOf(body: string): unknown {
  try {
    return parsePlainJson(body)
  } catch {
    return body
  }
}
