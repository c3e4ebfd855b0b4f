/** Runs a webscript in JavaScript, in the style of Express. Small responses are sent whole, large ones in pieces. */
import { Buffer } from 'node:buffer'
import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { pathToFileURL } from 'node:url'
import { type Client, createClient } from '../../../client.ts'
import { fetchByHost, type HostSide } from './host-fetch.ts'
import { type ApiAnswer, PIECE_BYTES, type WebAnswer, type WebCallParams } from './web-call.ts'
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

class HttpError extends Error {
  readonly answer: WebAnswer

  constructor(status: number, message: string) {
    super(message)
    const text = JSON.stringify({ error: message, statusCode: status })
    this.answer = { status, headers: [['content-type', 'application/json; charset=utf-8']], text }
  }
}

interface FormFile {
  readonly name: string
  readonly filename: string
  readonly type: string
  readonly data: Uint8Array
}

type Values = Record<string, string | string[]>

/** Represents the request of a webscript in the style of Express. */
class WebRequest {
  readonly method: string
  /** decoded path after the name of the webscript; begins with a slash */
  readonly path: string
  /** encoded path with the query */
  readonly url: string
  readonly query: Values
  readonly headers: Values
  readonly rawBody: Buffer
  /** parsed JSON or form, text, or bytes; undefined without a body */
  body: unknown
  files: readonly FormFile[] = []
  readonly #call: { readonly signal: AbortSignal }

  /** The signal is created on first use. */
  constructor(
    { method, path, query, headers }: WebCallParams,
    rawBody: Buffer,
    call: { readonly signal: AbortSignal },
  ) {
    this.method = method
    this.path = decoded(path)
    this.url = query === '' ? path : `${path}?${query}`
    this.query = valuesOf(new URLSearchParams(query))
    this.headers = valuesOf(headers)
    this.rawBody = rawBody
    this.#call = call
  }

  get signal(): AbortSignal {
    return this.#call.signal
  }

  get originalUrl(): string {
    return this.url
  }

  get(name: string): string | undefined {
    const value = this.headers[name.toLowerCase()]
    return Array.isArray(value) ? value.join(', ') : value
  }

  header(name: string): string | undefined {
    return this.get(name)
  }

  is(type: string): boolean {
    const sent = (this.get('content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
    return type.includes('/') ? sent === type.toLowerCase() : sent.endsWith(`/${type}`) || sent.endsWith(`+${type}`)
  }

  async parse(): Promise<void> {
    if (this.rawBody.length === 0) return
    const type = this.get('content-type') ?? ''
    if (/^application\/(?:[\w.-]+\+)?json\b/i.test(type)) this.body = parsedJson(this.rawBody)
    else if (/^(?:application\/x-www-form-urlencoded|multipart\/form-data)\b/i.test(type)) await this.#parseForm(type)
    else if (/^text\//i.test(type) && isUtf8(type)) this.body = this.rawBody.toString('utf8')
    else this.body = this.rawBody
  }

  async #parseForm(type: string): Promise<void> {
    const fields: [string, string][] = []
    const files: FormFile[] = []
    try {
      const form = await new Response(new Uint8Array(this.rawBody), { headers: { 'content-type': type } }).formData()
      for (const [name, value] of form) {
        if (typeof value === 'string') fields.push([name, value])
        else
          files.push({ name, filename: value.name, type: value.type, data: new Uint8Array(await value.arrayBuffer()) })
      }
    } catch {
      throw new HttpError(400, 'The body is not a valid form of its content type')
    }
    this.body = valuesOf(fields)
    this.files = files
  }
}

function valuesOf(entries: Iterable<readonly [string, string]>): Values {
  // without a prototype, since names come from outside
  const values = Object.create(null) as Values
  for (const [name, value] of entries) {
    const former = values[name]
    values[name] = former === undefined ? value : [...(Array.isArray(former) ? former : [former]), value]
  }
  return values
}

/** True when the type's charset is UTF-8; a body in another charset stays bytes. */
function isUtf8(type: string): boolean {
  const [, charset = 'utf-8'] = /;\s*charset\s*=\s*"?([^\s";]*)/i.exec(type) ?? []
  return ['utf-8', 'utf8', 'us-ascii', 'ascii'].includes(charset.toLowerCase())
}

function parsedJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch {
    throw new HttpError(400, 'The body is not valid JSON')
  }
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}
