/** Runs a webscript in JavaScript, in the style of Express. Small responses are sent whole, large ones in pieces. */
import { Buffer } from 'node:buffer'
import { registerHooks } from 'node:module'
import { readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { type Client, createClient } from '../../../client.ts'
import { fetchByHost, type HostSide } from './host-fetch.ts'
import { type ApiAnswer, PIECE_BYTES, type WebAnswer, type WebCallParams } from './web-call.ts'
import { HttpError, WebRequest } from './web-request.ts'
import { WebResponse } from './web-response.ts'

interface CallSide {
  readonly signal: AbortSignal
}
type Handler = (request: WebRequest, response: WebResponse) => unknown

/** Key under which the main module leaves a handler that it declares but does not export. */
const HANDLER = Symbol.for('reflexarc.handleRequest')

/** Starts the webscript; called once by the process. `module`: absolute path. */
export async function start(
  { module, env = {} }: { readonly module: string; readonly env?: Readonly<Record<string, string>> },
  host: HostSide,
): Promise<(method: string, params: unknown, call: CallSide) => unknown> {
  Object.assign(process.env, env)
  globalThis.fetch = (input, init) => fetchByHost(host, input, init)
  const client = withAliases(createClient({ url: 'http://host', fetch: (input, init) => callApi(host, input, init) }))
  Object.assign(globalThis, { client, waylay: client })
  const handler = await load(module)
  return (method, params, call) => {
    if (method === 'declare') return {}
    return handle(handler, params as WebCallParams, call, host)
  }
}

async function load(module: string): Promise<Handler> {
  const main = pathToFileURL(module).href
  // an appended line publishes a handler that is only declared
  registerHooks({
    load: (url, context, next) => {
      const loaded = next(url, context)
      if (url !== main) return loaded
      // undefined where Node detects the format from the syntax
      const { format } = loaded
      const line = `\n;if (typeof handleRequest === 'function') globalThis[Symbol.for('reflexarc.handleRequest')] = handleRequest\n`
      return { format, source: readFileSync(module, 'utf8') + line, shortCircuit: true }
    },
  })
  const loaded = (await import(main)) as Readonly<Record<string, unknown>>
  const fallback = loaded['default'] as Readonly<Record<string, unknown>> | undefined
  const left = (globalThis as unknown as Readonly<Record<symbol, unknown>>)[HANDLER]
  const global = (globalThis as Readonly<Record<string, unknown>>)['handleRequest']
  const found = [fallback, loaded['handleRequest'], fallback?.['handleRequest'], fallback?.['default'], left, global]
  const handler = found.find((one) => typeof one === 'function')
  if (handler === undefined) throw new Error('it has no handler: write export default (req, res) => { ... }')
  return handler as Handler
}

async function handle(handler: Handler, params: WebCallParams, call: CallSide, host: HostSide): Promise<WebAnswer> {
  const response = new WebResponse(params.id, params.method, host)
  try {
    const request = new WebRequest(params, await bodyOf(params, host), call)
    await request.parse()
    const value = await handler(request, response)
    if (value !== undefined && !response.isBegun) await response.answerWith(value)
    return await response.finished(call)
  } catch (error) {
    if (error instanceof HttpError && !response.isBegun) return error.answer
    if (!response.isWhole) throw error
    // the first response counts
    host.log('error', `after its response: ${error instanceof Error ? error.message : String(error)}`)
    return response.finished(call)
  }
}

async function bodyOf({ id, size, body }: WebCallParams, host: HostSide): Promise<Buffer> {
  if (body !== undefined) return Buffer.from(body, 'base64')
  const pieces: Buffer[] = []
  for (let offset = 0; offset < size; offset += PIECE_BYTES) {
    pieces.push(Buffer.from((await host.ask('web.read', { id, offset })) as string, 'base64'))
  }
  return Buffer.concat(pieces)
}

/** Requests the API through the host, as the tenant and without a secret. */
async function callApi(host: HostSide, input: string | URL | Request, init?: RequestInit): Promise<Response> {
  const request = new Request(input, init)
  const { pathname, search } = new URL(request.url)
  const hasBody = request.method !== 'GET' && request.method !== 'HEAD'
  const body = hasBody ? await request.text() : ''
  const { status, headers, text } = (await host.ask('api', {
    method: request.method,
    path: pathname + search,
    headers: [...request.headers],
    ...(body !== '' && { body }),
  })) as ApiAnswer
  const empty = [204, 205, 304].includes(status)
  return new Response(empty ? null : text, { status, headers: headers.map(([name, value]) => [name, value]) })
}

function withAliases(client: Client) {
  const { resources, rules, broker, converter } = client
  return {
    ...client,
    resources: {
      ...resources,
      get: async (id: string) => (await resources.resources.get(id)).value,
      create: resources.resources.create,
      update: resources.resources.patch,
    },
    data: {
      postSeries: (resource: string, values: Readonly<Record<string, unknown>>) =>
        broker.posting.events(resource, values),
      getCurrent: (resource: string) => broker.messages.current(resource),
    },
    transformers: {
      execute: (name: string, { data = {} }: { readonly data?: unknown }) => converter.convert(name, data),
    },
    tasks: rules.tasks,
    templates: rules.templates,
  }
}
