import { AppError, definePlug, messageOf, parsePlainJson, type Plug, problemsOfCode } from '../../src/plug.ts'
import { exchange, urlOf } from './exchange.ts'
import type { Transport } from './transport.ts'

export interface CallUrlOptions {
  /** the way out; without one every call fails, so that simulations stay offline and repeat */
  readonly transport?: Transport
  /** host names and addresses that may be called although they are private, such as `localhost` */
  readonly allow?: readonly string[]
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD'] as const
const HEADER = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/
const DECIDED = new Set(['host', 'content-length', 'transfer-encoding', 'connection'])

/** A sensor that calls a URL through `transport`. */
export function createCallUrl({ transport, allow = [] }: CallUrlOptions = {}): Plug {
  const allowed = new Set([...allow, ...(transport?.allow ?? [])])
  return definePlug({
    name: 'callURL',
    version: '1.0.0',
    kind: 'sensor',
    description:
      'Calls a URL: Success for an answer from 200 to 299, else Error. At most 10 s and 1 MB an answer and 5 redirects; private addresses only when the host allows them by name. Offline unless the host gives it a transport.',
    category: 'Network',
    acts: ({ method }) => method !== 'GET' && method !== 'HEAD',
    states: ['Success', 'Error'],
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
        description: 'what to send: text, or an object that is sent as JSON',
        example: { temperature: 21.5 },
      },
      headers: {
        type: 'object',
        sensitive: true,
        description: 'headers by name; ${vault.<KEY>} keeps secrets out of rules',
        example: { Accept: 'application/json' },
      },
    },
    output: {
      status: { type: 'integer', description: 'the status code; absent when there was no answer' },
      statusText: { type: 'string', description: 'its text' },
      data: { type: 'any', description: 'the body: parsed when it is JSON, else as text' },
      error: { type: 'string', description: 'why there was no answer; it never shows the URL, headers or body' },
    },
    check: ({ url, headers }) => [
      ...problemsOfCode('url', url, urlOf),
      ...problemsOfCode('headers', headers, headersOf),
    ],
    async execute({ properties, signal }) {
      const { url, method, body, headers } = properties
      const sent = headersOf(headers ?? {})
      const text = typeof body === 'string' || body === undefined ? body : JSON.stringify(body)
      if (text !== body && !Object.keys(sent).some((name) => name.toLowerCase() === 'content-type')) {
        sent['Content-Type'] = 'application/json'
      }
      try {
        if (transport === undefined) throw offline()
        const response = await exchange({ url, method, headers: sent, body: text, signal }, transport, allowed)
        const { status, statusText } = response
        const rawData = { status, statusText, data: dataOf(response.body) }
        return { state: status >= 200 && status < 300 ? 'Success' : 'Error', rawData }
      } catch (error) {
        return { state: 'Error', rawData: { error: messageOf(error) } }
      }
    },
  })
}

function offline(): AppError {
  return new AppError('PLUG_FAILED', 'callURL is offline; give it a way out with createCallUrl({ transport })')
}

function headersOf(headers: Readonly<Record<string, unknown>>): Record<string, string> {
  const result: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) {
    if (!HEADER.test(name) || DECIDED.has(name.toLowerCase())) {
      throw new AppError(
        'PLUG_FAILED',
        `${JSON.stringify(name.slice(0, 100))} cannot be set as a header; name one such as Authorization`,
      )
    }
    const text = typeof value === 'number' || typeof value === 'boolean' ? String(value) : value
    if (typeof text !== 'string' || /[\r\n\0]/.test(text)) {
      throw new AppError('PLUG_FAILED', `the header ${name} is not one line of text`)
    }
    result[name] = text
  }
  return result
}

function dataOf(body: string): unknown {
  try {
    return parsePlainJson(body)
  } catch {
    return body
  }
}
