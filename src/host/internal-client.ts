/** Calls the host's own API for a tenant without a socket, with a token that never leaves this process. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { AppError, type Caller, type Causation, LruCache } from '#kernel'
import type { ApiAnswer, ApiRequest } from '#services/functions/contract'
import type { TokenOrder } from './auth/tokens.ts'
import { causationHeader } from './causation-header.ts'

export interface InternalClientOptions {
  readonly issueToken: (order: TokenOrder) => Promise<string>
  readonly now: () => number
}

interface Issued {
  readonly token: string
  readonly until: number
}

const LIFETIME_S = 300
/** How long before its expiry a token is renewed, in ms */
const EARLY_MS = 60_000
const MAX_TOKENS = 1_000
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
/** Address from a documentation network, so that internal requests cannot read what only this machine may. */
const NOWHERE = '192.0.2.1'
export function isInternal({ raw }: FastifyRequest): boolean {
  return raw.socket.remoteAddress === NOWHERE
}

/** Headers that callers may not set: InternalClient sets them, or they would change the request's identity. */
const REFUSED: ReadonlySet<string> = new Set([
  'authorization',
  'connection',
  'content-length',
  'forwarded',
  'host',
  'transfer-encoding',
  'upgrade',
  'x-forwarded-for',
])
/** Maximum size of a response in bytes */
const MAX_BYTES = 900_000

export class InternalClient {
  readonly #options: InternalClientOptions
  readonly #tokens = new LruCache<string, Issued>(MAX_TOKENS)
  #app: FastifyInstance | undefined

  constructor(options: InternalClientOptions) {
    this.#options = options
  }

  isAt(app: FastifyInstance): void {
    this.#app = app
  }

  /** Rejects with `PLUG_FAILED` for an invalid request; an error of the API is a normal response. */
  async request(
    caller: Caller,
    { method: named, path, headers, body }: ApiRequest,
    signal: AbortSignal,
    causation?: Causation,
  ): Promise<ApiAnswer> {
    const app = this.#app
    if (app === undefined) throw new AppError('CLOSED', 'the API of the host is not ready yet')
    const method = METHODS.find((one) => one === named)
    if (method === undefined) throw failed(`the API does not support the method ${named.slice(0, 20)}`)
    const allowed = headers.filter(([name]) => !REFUSED.has(name.toLowerCase()))
    if (allowed.some(([name, value]) => name.toLowerCase() === 'accept' && value.includes('text/event-stream'))) {
      throw failed('webscripts cannot read streams of events, since their calls end')
    }
    const url = `${app.prefix}${normalized(path)}`
    const authorization = `Bearer ${await this.#tokenOf(caller)}`
    const over = new AbortController()
    const answer = await app.inject({
      method,
      url,
      headers: { ...Object.fromEntries(allowed), ...(causation && causationHeader(causation)), authorization },
      remoteAddress: NOWHERE,
      signal: AbortSignal.any([signal, over.signal]),
      // lets us stop reading at the size limit
      payloadAsStream: true,
      ...(body !== undefined && { payload: body }),
    })
    const pieces: Uint8Array[] = []
    let size = 0
    for await (const piece of answer.stream() as AsyncIterable<Uint8Array>) {
      pieces.push(piece)
      size += piece.length
      if (size <= MAX_BYTES) continue
      over.abort()
      throw failed(`the response has more than ${MAX_BYTES} bytes; request less`)
    }
    const received = Object.entries(answer.headers).flatMap(([name, value]): (readonly [string, string])[] =>
      value === undefined ? [] : [value].flat().map((one) => [name, String(one)] as const),
    )
    return { status: answer.statusCode, headers: received, text: Buffer.concat(pieces).toString('utf8') }
  }

  async #tokenOf({ tenant, user, rights }: Caller): Promise<string> {
    const key = JSON.stringify([tenant, user, rights])
    const now = this.#options.now()
    const known = this.#tokens.get(key)
    if (known !== undefined && known.until - EARLY_MS > now) return known.token
    const token = await this.#options.issueToken({
      tenant,
      subject: user,
      lifetime: LIFETIME_S,
      ...(rights && { rights }),
    })
    this.#tokens.set(key, { token, until: now + LIFETIME_S * 1_000 })
    return token
  }
}

/** Resolves `..` before the prefix is added, so that a path cannot leave the prefix. */
function normalized(path: string): string {
  if (!path.startsWith('/') || path.startsWith('//') || path.includes('\\')) {
    throw failed('a path of the API begins with one slash, such as /api/tasks')
  }
  const { pathname, search } = new URL(path, 'http://host')
  return pathname + search
}

function failed(why: string): AppError {
  return new AppError('PLUG_FAILED', why)
}
