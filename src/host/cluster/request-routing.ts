/**
 * Routes requests in a cluster: any host accepts any request, serves those of its own tenants, and forwards others over
 * persistent connections, streaming the answers back.
 *
 * ROUTING-1 a request is handed on twice at most: the second time when its tenant moved meanwhile
 * ROUTING-2 requests to a host that is gone are rejected as soon as it counts as gone, and streams of it end, so that
 *   their readers come back
 * ROUTING-3 reads without an answer from a host that is gone are repeated at the next one; so are requests held whole
 *   that were not sent, because the host took no connection
 */
import { Readable } from 'node:stream'
import type { FastifyReplyFromHooks } from '@fastify/reply-from'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type OpenTenants, type Place, slotOf } from '#cluster'
import { AppError } from '#kernel'
import { NDJSON_MEDIA_TYPE } from '#services/shared'
import { FrameClients } from './frames/frame-clients.ts'
import { FrameServer } from './frames/frame-server.ts'
import { HOP_HEADER, type Hop, type Hops } from './hop.ts'
import type { PartitionCalls } from './partition-calls.ts'
import { isUnasked } from './question-route.ts'
import { isGetOrHead, SmallRequests } from './small-requests.ts'
import { openTunnel } from './tunnel.ts'

/** Header with the owner of the tenant, so that clients can call it directly. */
const OWNER_HEADER = 'reflexarc-owner'
export const HOST_HEADER = 'reflexarc-host'

const CONNECTIONS = 128
const CONNECT_MS = 2_000
/** Waiting time for an owner in ms: longer than a usual takeover */
const WAIT_MS = 10_000
const MAX_HOPS = 2
const MAX_LOST = 5_000
const MAX_ASKED = 20_000

interface OpenedHere {
  /** Counts the request as one of the tenant until it is answered. */
  hold(reply: FastifyReply): void
}

export interface RoutingOptions {
  readonly tenants: Pick<OpenTenants<OpenedHere>, 'get' | 'opened' | 'has' | 'isComplete'>
  readonly place: (tenant: string) => Place
  readonly hops: Hops
  readonly partitions: readonly Pick<PartitionCalls, 'addTo'>[]
  readonly elapsed: () => number
  /** Time limit for the first byte of an answer, in ms */
  readonly requestMs: number
  /** Maximum number of pending requests and streams at one host */
  readonly maxAsked?: number
  /** Partition that the request is for, by its name (`partitionName`) */
  readonly partitionOf: (tenant: string, request: FastifyRequest) => string
  /** Tenant of a request without credentials; undefined: answered by any host */
  readonly tenantOfPublic: (url: string) => string | undefined | Promise<string | undefined>
}

interface Routed {
  readonly tenant: string
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly done: (error?: Error) => void
  /** Start in monotonic ms */
  readonly since: number
  /** Whole body; absent: still unread */
  readonly body?: Buffer
}

function isPublic(request: FastifyRequest): boolean {
  return request.routeOptions.config.scope === 'public'
}

export class RequestRouting {
  readonly #options: RoutingOptions
  readonly #asked = new Map<string, Set<() => void>>()
  readonly #lost: Routed[] = []
  readonly #bodies = new WeakMap<FastifyRequest, Buffer>()
  readonly #frames: FrameClients
  #small: SmallRequests | undefined
  #forwarded = 0
  #refused = 0

  constructor(options: RoutingOptions) {
    this.#options = options
    this.#frames = new FrameClients(options)
  }

  get forwarded(): number {
    return this.#forwarded
  }

  get framed(): number {
    return this.#small?.framed ?? 0
  }

  /** Total of requests rejected by the limit per host. */
  get refused(): number {
    return this.#refused
  }

  async addTo(app: FastifyInstance): Promise<void> {
    const { requestMs, hops } = this.#options
    // optional packages, loaded only in a cluster
    const [{ default: replyFrom }, { Agent }] = await Promise.all([import('@fastify/reply-from'), import('undici')])
    const agent = new Agent({
      connections: CONNECTIONS,
      connect: { timeout: CONNECT_MS },
      // the answering host enforces the limit; this is for one that does not
      headersTimeout: requestMs + CONNECT_MS,
      // streams have no deadline
      bodyTimeout: 0,
    })
    this.#small = new SmallRequests({ agent, frames: this.#frames, hops })
    new FrameServer(hops).addTo(app)
    await app.register(replyFrom, { disableRequestLogging: true, disableCache: true, undici: agent })
    app.addHook('onClose', () => {
      this.#frames.end()
      return agent.destroy()
    })
    app.addHook('preParsing', (request, _reply, payload, done) => {
      const body = this.#bodies.get(request)
      done(null, body === undefined ? payload : Readable.from([body]))
    })
    for (const asked of this.#options.partitions) await asked.addTo(app)
    app.addHook('onRequest', (request, reply, done) => {
      const asked = { request, reply, done }
      if (!isPublic(request)) return this.#take(request.tenant, asked)
      const whose = this.#options.tenantOfPublic(request.raw.url ?? '')
      if (whose instanceof Promise) void whose.then((found) => this.#take(found, asked), done)
      else this.#take(whose, asked)
    })
  }

  #take(whose: string | undefined, asked: Omit<Routed, 'tenant' | 'since'>): void {
    const { request, reply, done } = asked
    if (whose === undefined || whose === '') return done()
    const tenant = this.#options.partitionOf(whose, request)
    // routes use the services of that partition
    if (tenant !== whose) request.tenant = tenant
    const opened = this.#options.tenants.get(tenant)
    if (opened === undefined) return this.#route({ ...asked, tenant, since: this.#options.elapsed() })
    opened.hold(reply)
    done()
  }

  /** Rejects requests to hosts that are gone, and retries requests that wait for an owner. Called after each poll. */
  looked(live: ReadonlySet<string>): void {
    for (const url of this.#asked.keys()) if (!live.has(url)) this.#endAt(url)
    this.#frames.looked(live)
    for (const one of this.#lost.splice(0)) this.#route(one)
  }

  /** Rejects everything that waits. */
  end(): void {
    for (const { tenant, done } of this.#lost.splice(0)) done(notAnywhere(tenant))
    for (const url of this.#asked.keys()) this.#endAt(url)
  }

  #endAt(url: string): void {
    for (const end of this.#asked.get(url) ?? []) end()
    this.#asked.delete(url)
  }

  #route(one: Routed): void {
    const { tenant, request, reply, done } = one
    const { tenants } = this.#options
    const place = this.#options.place(tenant)
    const { count, ...marked }: Hop = this.#options.hops.of(request.raw) ?? { count: 0, term: 0 }
    const slot = slotOf(tenant)
    // the forwarding host may have been wrong: a webscript has an id before its tenant is known everywhere
    const term = marked.slot === slot ? marked.term : 0
    if (place.kind === 'unowned' || place.term < term) {
      // wait until the tenant has an owner, or this host learns that it is one
      if (!this.#waits(one)) done(notAnywhere(tenant))
    } else if (place.kind === 'here') {
      // requests without credentials may name unknown tenants: do not open them
      if (isPublic(request) && tenants.isComplete && !tenants.has(tenant)) return done()
      void this.#goOn(one)
    } else if (count >= MAX_HOPS) done(notAnywhere(tenant))
    else if (!(request.raw.url ?? '').startsWith('/')) {
      reply.header(OWNER_HEADER, place.url)
      done(
        new AppError(
          'ELSEWHERE',
          `tenant ${tenant} is at ${place.url}, which needs a path; request a path, or call that host`,
        ),
      )
    } else if ((this.#asked.get(place.url)?.size ?? 0) >= (this.#options.maxAsked ?? MAX_ASKED)) {
      this.#refused += 1
      done(
        new AppError(
          'FENCED',
          `this host has too many pending requests to the tenant's host, ${place.url}; retry in a second, or call that host directly`,
        ),
      )
    } else this.#forward(place.url, { count: count + 1, term: place.term, slot }, one)
  }

  /** Waits for the next poll; false at the time limit, or when too many wait. */
  #waits(one: Routed): boolean {
    const mayWait = this.#options.elapsed() - one.since <= WAIT_MS && this.#lost.length < MAX_LOST
    if (mayWait) this.#lost.push(one)
    return mayWait
  }

  async #goOn({ tenant, request, reply, body, done }: Routed): Promise<void> {
    if (body !== undefined && body.length > 0) this.#bodies.set(request, body)
    try {
      const opened = await this.#options.tenants.opened(tenant)
      opened.hold(reply)
    } catch (error) {
      return done(error as Error)
    }
    done()
  }

  #forward(owner: string, next: Hop, one: Routed): void {
    const { request, reply, body } = one
    const small = this.#small
    if (body !== undefined || small === undefined || !small.takes(request)) return this.#ask(owner, next, one)
    small.read(request, reply, (whole) => {
      // it was answered at its deadline meanwhile
      if (!reply.sent) this.#ask(owner, next, { ...one, body: whole })
    })
  }

  #ask(owner: string, next: Hop, one: Routed): void {
    const { request, reply, body } = one
    const { method, raw, headers } = request
    this.#forwarded += 1
    reply.header(OWNER_HEADER, owner)
    const mark = { ...next, address: request.ip }
    let isOver = false
    let drop: () => void = () => undefined
    const refuse = (error?: unknown): void => {
      if (isOver) return
      isOver = true
      drop()
      // reads are safe to repeat
      const mayRepeat =
        headers.upgrade === undefined && (isGetOrHead(method) || (body !== undefined && isUnasked(error)))
      if (reply.sent || reply.raw.headersSent) reply.raw.destroy()
      else if (!mayRepeat || !this.#waits(one)) reply.send(unanswered(owner))
    }
    if (body !== undefined && this.#small !== undefined) {
      drop = this.#endWith(owner, reply, refuse)
      const stream = (answer: Readable): void => sendStream(reply, answer)
      this.#small.ask(owner, request, body, mark, {
        reply,
        isOver: () => isOver || reply.sent || reply.raw.destroyed,
        stream,
        failed: refuse,
      })
      return
    }
    // behind the address, not as its base: a request path may begin with two slashes
    const target = new URL(owner + (raw.url ?? ''))
    const hop = this.#options.hops.sign(method, target.pathname + target.search, mark)
    if (headers.upgrade !== undefined) {
      this.#endWith(owner, reply, openTunnel(target, { ...headers, [HOP_HEADER]: hop }, reply, refuse))
      return
    }
    // unread, as a stream
    if (!isGetOrHead(method)) request.body = raw
    drop = this.#endWith(owner, reply, refuse)
    const hooks: FastifyReplyFromHooks = {
      // addresses in answers, and signatures, use the host name that the client knows
      rewriteRequestHeaders: ({ headers: { host } }, given) => ({
        ...given,
        ...(host !== undefined && { host }),
        [HOP_HEADER]: hop,
      }),
      retryDelay: () => null,
      onResponse: (_request, _reply, answer) => {
        const { stream } = answer as unknown as { stream: Readable }
        // it arrived after another attempt began
        if (isOver) return void stream.destroy()
        sendStream(reply, stream)
      },
      onError: (_reply, { error }) => refuse(error),
    }
    reply.from(target.href, hooks)
  }

  /**
   * Ends the request when that host is gone before the answer is complete. Returns the function that unregisters it.
   */
  #endWith(owner: string, reply: FastifyReply, end: () => void): () => void {
    const asked = this.#asked.get(owner) ?? new Set()
    this.#asked.set(owner, asked.add(end))
    const forget = (): void => {
      reply.raw.off('close', forget)
      asked.delete(end)
      if (asked.size === 0 && this.#asked.get(owner) === asked) this.#asked.delete(owner)
    }
    reply.raw.once('close', forget)
    return forget
  }
}

function sendStream(reply: FastifyReply, stream: Readable): void {
  // send the head at once: readers of lines would otherwise see nothing before the first line
  if (String(reply.getHeader('content-type')) === NDJSON_MEDIA_TYPE)
    reply.raw.once('pipe', () => reply.raw.flushHeaders())
  reply.send(stream)
}

function notAnywhere(tenant: string): AppError {
  return new AppError('FENCED', `tenant ${tenant} is without a host at the moment; retry in a second`)
}

function unanswered(url: string): AppError {
  return new AppError(
    'FENCED',
    `the tenant's host, ${url}, did not answer, and the outcome is unknown; retry in ` +
      'a second, with an Idempotency-Key where it must not take effect twice',
  )
}
