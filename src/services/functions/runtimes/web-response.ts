/** The response of a webscript in the style of Express, sent whole or as fast as the client reads. */
import { Buffer } from 'node:buffer'
import { Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { HostSide } from './host-fetch.ts'
import { PIECE_BYTES, type WebAnswer, type WebHead } from './web-call.ts'

const TEXT = 'text/html; charset=utf-8'
const JSON_TYPE = 'application/json; charset=utf-8'
const BYTES = 'application/octet-stream'
const TYPES: Readonly<Record<string, string>> = {
  html: TEXT,
  json: JSON_TYPE,
  text: 'text/plain; charset=utf-8',
  txt: 'text/plain; charset=utf-8',
  csv: 'text/csv; charset=utf-8',
  xml: 'application/xml',
  bin: BYTES,
}

export class WebResponse extends Writable {
  statusCode = 200
  readonly #id: string
  readonly #isHead: boolean
  readonly #host: HostSide
  readonly #headers = new Map<string, { readonly name: string; readonly values: readonly string[] }>()
  readonly #over: Promise<WebAnswer>
  #settle: ((answer: WebAnswer) => void) | undefined
  #fail: ((error: Error) => void) | undefined
  #isStreaming = false

  constructor(id: string, method: string, host: HostSide) {
    super({ highWaterMark: PIECE_BYTES, decodeStrings: true })
    this.#id = id
    this.#isHead = method === 'HEAD'
    this.#host = host
    this.#over = new Promise((resolve, reject) => {
      this.#settle = resolve
      this.#fail = reject
    })
    // a rejection before `finished` is called must not end the process
    this.#over.catch(() => undefined)
    this.on('error', (error) => this.#fail?.(error))
  }

  get isBegun(): boolean {
    return this.#isStreaming || this.#settle === undefined
  }

  get isWhole(): boolean {
    return this.#settle === undefined && !this.#isStreaming
  }

  get headersSent(): boolean {
    return this.isBegun
  }

  status(code: number): this {
    this.statusCode = code
    return this
  }

  sendStatus(code: number): this {
    return this.status(code).type('text').send(String(code))
  }

  set(name: string | Readonly<Record<string, string | readonly string[]>>, value?: unknown): this {
    if (typeof name !== 'string') {
      for (const [each, one] of Object.entries(name)) this.set(each, one)
      return this
    }
    if (this.isBegun) throw new Error(`the header ${name} is too late: the response has begun`)
    const values = (Array.isArray(value) ? value : [value]).map(String)
    this.#headers.set(name.toLowerCase(), { name, values })
    return this
  }

  header(name: string, value: unknown): this {
    return this.set(name, value)
  }

  setHeader(name: string, value: unknown): this {
    return this.set(name, value)
  }

  append(name: string, value: unknown): this {
    const former = this.#headers.get(name.toLowerCase())?.values ?? []
    return this.set(name, [...former, ...(Array.isArray(value) ? value : [value]).map(String)])
  }

  get(name: string): string | undefined {
    return this.#headers.get(name.toLowerCase())?.values.join(', ')
  }

  getHeader(name: string): string | undefined {
    return this.get(name)
  }

  removeHeader(name: string): this {
    this.#headers.delete(name.toLowerCase())
    return this
  }

  type(type: string): this {
    return this.set('Content-Type', TYPES[type] ?? type)
  }

  writeHead(status: number, headers: Readonly<Record<string, string>> = {}): this {
    return this.status(status).set(headers)
  }

  redirect(...args: readonly [string] | readonly [number, string]): this {
    const [status, location] = args.length === 1 ? [302, args[0]] : args
    return this.status(status).set('Location', location).type('text').send(`Found at ${location}`)
  }

  json(value: unknown): this {
    if (this.get('content-type') === undefined) this.type('json')
    return this.#whole(JSON.stringify(value) ?? 'null')
  }

  /** Sends text or bytes as they are, and other values as JSON. */
  send(value?: unknown): this {
    if (value === undefined || value === null) return this.#whole('')
    const isBytes = value instanceof Uint8Array
    if (!isBytes && typeof value !== 'string') return this.json(value)
    if (this.get('content-type') === undefined) this.type(isBytes ? BYTES : TEXT)
    return this.#whole(value)
  }

  override end(...args: readonly unknown[]): this {
    const [chunk] = args
    if (
      !this.#isStreaming &&
      !this.isBegun &&
      (chunk === undefined || typeof chunk === 'string' || chunk instanceof Uint8Array)
    ) {
      return this.#whole(chunk ?? '')
    }
    return super.end(...(args as readonly []))
  }

  async answerWith(value: unknown): Promise<void> {
    if (!(value instanceof Response)) return void this.send(value)
    this.status(value.status)
    for (const [name, one] of value.headers) this.append(name, one)
    if (value.body === null) return void this.#whole('')
    await pipeline(Readable.fromWeb(value.body), this)
  }

  /** Resolves when everything is sent; called by the harness. */
  finished(call: { readonly signal: AbortSignal }): Promise<WebAnswer> {
    // a settled response needs no signal, which takes time to create
    if (this.#settle !== undefined)
      call.signal.addEventListener('abort', () => this.destroy(new Error('the client disconnected')), { once: true })
    return this.#over
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    void settled(this.#writeAll(chunk), done)
  }

  override _final(done: (error?: Error | null) => void): void {
    // ended without sending a piece
    const begun = this.#isStreaming ? Promise.resolve() : this.#begin()
    const answered = begun.then(() => this.#answer({ streamed: true }))
    void settled(answered, done)
  }

  async #begin(): Promise<void> {
    this.#isStreaming = true
    await this.#host.ask('web.head', { id: this.#id, ...this.#head() })
  }

  async #writeAll(chunk: Buffer): Promise<void> {
    if (!this.#isStreaming) await this.#begin()
    for (let at = 0; at < chunk.length; at += PIECE_BYTES) {
      const bytes = chunk.subarray(at, at + PIECE_BYTES).toString('base64')
      await this.#host.ask('web.write', { id: this.#id, bytes })
    }
  }

  #whole(body: string | Uint8Array): this {
    if (this.isBegun) throw new Error('it responded twice: the response was already sent')
    const size = typeof body === 'string' ? Buffer.byteLength(body) : body.length
    if (this.#isHead && size > PIECE_BYTES) this.#answer({ ...this.#head(), text: '' })
    else if (size <= PIECE_BYTES) {
      const content = typeof body === 'string' ? { text: body } : { bytes: Buffer.from(body).toString('base64') }
      this.#answer({ ...this.#head(), ...content })
    } else super.end(Buffer.from(body))
    return this
  }

  #answer(answer: WebAnswer): void {
    this.#settle?.(answer)
    this.#settle = undefined
  }

  #head(): WebHead {
    const headers = [...this.#headers.values()].flatMap(({ name, values }) => values.map((one) => [name, one] as const))
    return { status: this.statusCode, headers }
  }
}

async function settled(work: Promise<unknown>, done: (error?: Error | null) => void): Promise<void> {
  let failure: Error | undefined
  try {
    await work
  } catch (error) {
    failure = error as Error
  }
  done(failure)
}
