/**
 * Routes requests in a cluster: any host accepts any request, serves requests for its own tenants, and forwards others
 * over persistent connections, streaming the answers back.
 *
 * ROUTING-1 a request is forwarded at most twice: the second time if its tenant moved meanwhile
 * ROUTING-2 when a host counts as gone, requests to it are rejected and streams from it end, so that readers reconnect
 * ROUTING-3 reads that a gone host left unanswered are repeated at the next owner; so are fully buffered requests that
 *   were never sent because the host accepted no connection
 */
import { Readable } from 'node:stream'
import type { FastifyReplyFromHooks } from '@fastify/reply-from'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type OpenTenants, type TenantLocation, slotOf } from '#cluster'
import { AppError } from '#kernel'
import { NDJSON_MEDIA_TYPE } from '#services/shared'
import { FrameClients } from './frames/frame-clients.ts'
import { FrameServer } from './frames/frame-server.ts'
import { HOP_HEADER, type Hop, type Hops } from './hop.ts'
import type { PartitionCalls } from './partition-calls.ts'
import { isUnasked } from './question-route.ts'
import { isGetOrHead, SmallRequests } from './small-requests.ts'
import { openTunnel } from './tunnel.ts'

/** Response header that names the tenant's owner, so that clients can call the owner directly. */
const OWNER_HEADER = 'reflexarc-owner'
export const HOST_HEADER = 'reflexarc-host'

const CONNECTIONS = 128
const CONNECT_MS = 2_000
/** How long a request waits for an owner, in ms: longer than a usual takeover */
const WAIT_MS = 10_000
const MAX_HOPS = 2
const MAX_LOST = 5_000
const MAX_ASKED = 20_000

interface OpenedHere {
  /** Counts the request as pending for the tenant until it is answered. */
  hold(reply: FastifyReply): void
}

export interface RoutingOptions {
  readonly tenants: Pick<OpenTenants<OpenedHere>, 'get' | 'opened' | 'has' | 'isComplete'>
  readonly place: (tenant: string) => TenantLocation
  readonly hops: Hops
  readonly partitions: readonly Pick<PartitionCalls, 'addTo'>[]
  readonly elapsed: () => number
  /** Time limit for the first byte of a response, in ms */
  readonly requestMs: number
  /** Maximum number of pending requests and streams per host */
  readonly maxAsked?: number
  /** Returns the name (`partitionName`) of the partition that serves the request */
  readonly partitionOf: (tenant: string, request: FastifyRequest) => string
  /** Returns the tenant of a request without credentials; undefined: any host can answer */
  readonly tenantOfPublic: (url: string) => string | undefined | Promise<string | undefined>
}

interface Routed {
  readonly tenant: string
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly done: (error?: Error) => void
  /** Start of the request in monotonic ms */
  readonly since: number
  /** The whole body; absent: not read yet */
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

  get refused(): number {
    return this.#refused
  }

  async addTo(app: FastifyInstance): Promise<void> {
    const { requestMs, hops } = this.#options
    // optional packages, only loaded in a cluster
    const [{ default: replyFrom }, { Agent }] = await Promise.all([import('@fastify/reply-from'), import('undici')])
    const agent = new Agent({
      connections: CONNECTIONS,
      connect: { timeout: CONNECT_MS },
      // the owner enforces the time limit; this limit is for an owner that does not
      headersTimeout: requestMs + CONNECT_MS,
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
    // makes routes use that partition's services
    if (tenant !== whose) request.tenant = tenant
    const opened = this.#options.tenants.get(tenant)
    if (opened === undefined) return this.#route({ ...asked, tenant, since: this.#options.elapsed() })
    opened.hold(reply)
    done()
  }

  looked(live: ReadonlySet<string>): void {
    for (const url of this.#asked.keys()) if (!live.has(url)) this.#endAt(url)
    this.#frames.looked(live)
    for (const one of this.#lost.splice(0)) this.#route(one)
  }

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
    // the forwarding host may have been wrong: a webscript gets its id before all hosts know its tenant
    const term = marked.slot === slot ? marked.term : 0
    if (place.kind === 'unowned' || place.term < term) {
      // wait until the tenant has an owner, or until this host learns that it is the owner
      if (!this.#waits(one)) done(notAnywhere(tenant))
    } else if (place.kind === 'here') {
      // requests without credentials may name unknown tenants: do not open those
      if (isPublic(request) && tenants.isComplete && !tenants.has(tenant)) return done()
      void this.#goOn(one)
    } else if (count >= MAX_HOPS) done(notAnywhere(tenant))
    else if (!(request.raw.url ?? '').startsWith('/')) {
      reply.header(OWNER_HEADER, place.url)
      done(
        new AppError(
          'ELSEWHERE',
          `tenant ${tenant} is on the host ${place.url}; request a path, or call that host directly`,
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

  /** Makes a request wait for the next poll. Returns false at its time limit, or when too many requests wait. */
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
      // the request may have been answered at its deadline meanwhile
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
      // reads can be repeated safely
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
    // append the path to the address instead of resolving it, since a path may begin with two slashes
    const target = new URL(owner + (raw.url ?? ''))
    const hop = this.#options.hops.sign(method, target.pathname + target.search, mark)
    if (headers.upgrade !== undefined) {
      this.#endWith(owner, reply, openTunnel(target, { ...headers, [HOP_HEADER]: hop }, reply, refuse))
      return
    }
    if (!isGetOrHead(method)) request.body = raw
    drop = this.#endWith(owner, reply, refuse)
    const hooks: FastifyReplyFromHooks = {
      // keeps the host name that the client knows, which addresses in answers and signatures use
      rewriteRequestHeaders: ({ headers: { host } }, given) => ({
        ...given,
        ...(host !== undefined && { host }),
        [HOP_HEADER]: hop,
      }),
      retryDelay: () => null,
      onResponse: (_request, _reply, answer) => {
        const { stream } = answer as unknown as { stream: Readable }
        // this answer came after another attempt had begun
        if (isOver) return void stream.destroy()
        sendStream(reply, stream)
      },
      onError: (_reply, { error }) => refuse(error),
    }
    reply.from(target.href, hooks)
  }

  /** Ends the request if the owner is gone before the answer is complete. Returns a function that unregisters it. */
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
  // send the head at once, which readers of lines would otherwise see only with the first line
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
    `the tenant's host, ${url}, did not respond, so the outcome is unknown; retry in ` +
      'a second, with an Idempotency-Key if it must not take effect twice',
  )
}
