/** Represents the request of a webscript in the style of Express. */
import type { Buffer } from 'node:buffer'
import type { WebAnswer, WebCallParams } from './web-call.ts'

export class HttpError extends Error {
  readonly answer: WebAnswer

  constructor(status: number, message: string) {
    super(message)
    const text = JSON.stringify({ error: message, statusCode: status })
    this.answer = { status, headers: [['content-type', 'application/json; charset=utf-8']], text }
  }
}

export interface FormFile {
  readonly name: string
  readonly filename: string
  readonly type: string
  readonly data: Uint8Array
}

type Values = Record<string, string | string[]>

export class WebRequest {
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
