/**
 * Implements the header `Idempotency-Key` for all routes that write: a repeated request receives the first answer and
 * has no effect. A key is scoped to its tenant, method and path.
 *
 * IDEMPOTENCY-1 requests with the same key run one at a time, and none runs after one has completed
 * IDEMPOTENCY-2 a rejected request releases its key; after a request with an unknown outcome, the next one is rejected,
 *   unless it is safe to run twice
 * IDEMPOTENCY-3 secrets in an answer are not stored
 */
import { createHmac } from 'node:crypto'
import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { AppError, isPlainObject } from '#kernel'
import type { Storage } from '#storage'
import { asksForKey } from '../hosted-service.ts'
import { KeptAnswers, otherRequest, type KeptAnswer, type Place } from './kept-answers.ts'

export interface KeepingOptions {
  readonly storage: Pick<Storage, 'tenant'>
  /** Secret for the digests of requests, so that digests do not reveal bodies */
  readonly secret: string | Uint8Array
  readonly now: () => number
}

/** Routes that store keys themselves, in the same commit as their write. */
export const OWN_KEYS: ReadonlySet<string> = new Set([
  '/resources/:id/events',
  '/resources/:id',
  '/messages',
  '/resources/:id/commands',
  '/converter/:name/ingest',
])
export const READS: ReadonlySet<string> = new Set([
  '/series/query',
  '/messages/query',
  '/data/query',
  '/models/:name/predict',
  '/models/:name/classify',
  '/models/:name/regress',
  '/api/tasklogs',
  '/api/rules/check',
  '/api/variableDeclarations',
  // the calls of tools inside are requests of their own
  '/mcp',
  '/converter/:name/convert',
  '/converter/test',
])
const WRITES: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])
const REPEATABLE: ReadonlySet<string> = new Set(['PUT', 'DELETE'])
/** Codes of failures that occur before anything is written. */
const UNDONE: ReadonlySet<string> = new Set(['UNAVAILABLE', 'CLOSED', 'FENCED'])
const OWN_HEADERS = ['content-type', 'location', 'etag', 'link'] as const
const SECRETS: ReadonlySet<string> = new Set(['secret', 'clientSecret', 'password', 'token', 'accessToken'])

/** Maximum characters of a stored answer */
const MAX_ANSWER = 16_384
const MAX_CHARACTERS = 1_000

type Outcome = { readonly kind: 'done' } | { readonly kind: 'failed'; readonly error: unknown }

class KeptRequest {
  readonly #answers: KeptAnswers
  readonly #place: Place
  readonly #over: () => void
  readonly #request: FastifyRequest
  #outcome: Outcome | undefined
  #status: number | undefined
  #isEnded = false

  constructor(answers: KeptAnswers, place: Place, over: () => void, request: FastifyRequest) {
    this.#answers = answers
    this.#place = place
    this.#over = over
    this.#request = request
  }

  async carryOut(reply: FastifyReply, work: () => unknown): Promise<unknown> {
    // the socket was taken over, or the client disconnected
    reply.raw.once('close', () => {
      if (this.#outcome?.kind === 'done') void this.#end(() => this.#answers.done(this.#place, undefined))
    })
    try {
      const given = await work()
      this.#outcome = { kind: 'done' }
      if (this.#status !== undefined) await this.#end(() => this.#answers.done(this.#place, undefined))
      return given
    } catch (error) {
      this.#outcome = { kind: 'failed', error }
      if (this.#status !== undefined) await this.#failed(error)
      throw error
    }
  }

  async answered(reply: FastifyReply, payload: unknown): Promise<void> {
    if (this.#status !== undefined) return
    const { statusCode } = reply
    this.#status = statusCode
    if (this.#outcome?.kind === 'failed') return this.#failed(this.#outcome.error)
    if (statusCode >= 500 && this.#outcome === undefined) return
    if (statusCode >= 400) return this.#end(() => this.#answers.free(this.#place))
    if (payload instanceof Readable) {
      // the handler may continue until the stream closes
      payload.once('close', () => void this.#end(() => this.#answers.done(this.#place, undefined)))
      return
    }
    await this.#end(() => this.#answers.done(this.#place, answerOf(reply, payload)))
  }

  #failed(error: unknown): Promise<void> {
    const isUndone = error instanceof AppError && (error.status < 500 || UNDONE.has(error.code))
    return this.#end(async () => {
      if (isUndone) await this.#answers.free(this.#place)
    })
  }

  /** Stores the answer. If that fails, the client still receives it. */
  async #end(keep: () => Promise<void>): Promise<void> {
    if (this.#isEnded) return
    this.#isEnded = true
    try {
      await keep()
    } catch (error) {
      this.#request.log.warn({ err: error }, 'the response to a request with an Idempotency-Key could not be stored')
    } finally {
      this.#over()
    }
  }
}

interface Open {
  readonly print: string
  readonly over: Promise<void>
}

export function keepAnswers(app: FastifyInstance, { storage, secret, now }: KeepingOptions): void {
  const KEPT = Symbol('request with a key')
  app.decorateRequest(KEPT, undefined)
  type Holder = FastifyRequest & Record<typeof KEPT, KeptRequest | undefined>
  const byTenant = new Map<string, KeptAnswers>()
  const open = new Map<string, Open>()

  const answersOf = (tenant: string): KeptAnswers => {
    const known = byTenant.get(tenant)
    if (known !== undefined) return known
    const made = new KeptAnswers(storage.tenant(tenant), now())
    byTenant.set(tenant, made)
    return made
  }

  const once = async (request: FastifyRequest, reply: FastifyReply, key: string, work: () => unknown) => {
    const { tenant, method, url, body } = request
    const [path, query] = url.split('?', 2)
    const id = digest(secret, [method, path, key])
    const print = digest(secret, [query, printable(body)])
    const place = `${tenant}\n${id}`
    for (let first = open.get(place); first !== undefined; first = open.get(place)) {
      if (first.print !== print) throw otherRequest()
      await first.over
    }
    let over: () => void = () => undefined
    const ended = new Promise<void>((resolve) => {
      over = () => {
        open.delete(place)
        resolve()
      }
    })
    open.set(place, { print, over: ended })
    const answers = answersOf(tenant)
    let begun
    try {
      begun = await answers.begin(id, print, now(), REPEATABLE.has(method))
    } catch (error) {
      over()
      throw error
    }
    void answers
      .sweep(now())
      .catch((error: unknown) => request.log.warn({ err: error }, 'expired idempotency keys could not be removed'))
    if (begun.kind === 'done') {
      over()
      return replay(reply, begun.answer)
    }
    const kept = new KeptRequest(answers, begun.place, over, request)
    ;(request as Holder)[KEPT] = kept
    return kept.carryOut(reply, work)
  }

  app.addHook('onRoute', (route) => {
    if (!keepsKeys(route, app.prefix)) return
    const { handler, onSend = [] } = route
    route.handler = function (request, reply) {
      const key = request.headers['idempotency-key']
      if (key === undefined) return handler.call(this, request, reply)
      if (key === '' || key.length > MAX_CHARACTERS || Array.isArray(key)) {
        throw new AppError('VALIDATION', `Idempotency-Key: send 1 to ${MAX_CHARACTERS} characters`)
      }
      return once(request, reply, key, () => handler.call(this, request, reply))
    }
    route.onSend = [
      async (request, reply, payload) => {
        await (request as Holder)[KEPT]?.answered(reply, payload)
        return payload
      },
      ...[onSend].flat(),
    ]
  })
}

function keepsKeys({ method, url, config }: RouteOptions, prefix: string): boolean {
  const own = url.slice(prefix.length)
  if (!asksForKey(config ?? {})) return false
  return [method].flat().some((one) => WRITES.has(one) && !(one === 'POST' && (OWN_KEYS.has(own) || READS.has(own))))
}

function replay(reply: FastifyReply, { status, headers, body }: KeptAnswer): FastifyReply {
  return reply.code(status).headers(headers).header('idempotent-replay', 'true').send(body)
}

function answerOf(reply: FastifyReply, payload: unknown): KeptAnswer | undefined {
  const isJson = String(reply.getHeader('content-type')).includes('json')
  const isText = isJson && payload instanceof Uint8Array && payload.length <= MAX_ANSWER
  const text = isText ? new TextDecoder().decode(payload) : (payload ?? '')
  if (typeof text !== 'string' || text.length > MAX_ANSWER) return undefined
  const headers: Record<string, string> = {}
  for (const name of OWN_HEADERS) {
    const value = reply.getHeader(name)
    if (value !== undefined) headers[name] = String(value)
  }
  return { status: reply.statusCode, headers, body: isJson ? withoutSecrets(text) : text }
}

function withoutSecrets(text: string): string {
  if (![...SECRETS].some((name) => text.includes(`"${name}"`))) return text
  const dropped: unknown = JSON.parse(text, (name, value: unknown) => (SECRETS.has(name) ? undefined : value))
  return JSON.stringify(dropped)
}

function printable(body: unknown): unknown {
  if (body instanceof Uint8Array) return Buffer.from(body).toString('base64')
  if (body instanceof Map) return [...(body as Map<unknown, unknown>)].map(([name, part]) => [name, printable(part)])
  if (Array.isArray(body)) return body.map(printable)
  if (!isPlainObject(body)) return body
  return Object.entries(body).map(([name, part]) => [name, printable(part)])
}

function digest(secret: string | Uint8Array, parts: readonly unknown[]): string {
  return createHmac('sha256', secret).update(JSON.stringify(parts)).digest('base64url')
}
