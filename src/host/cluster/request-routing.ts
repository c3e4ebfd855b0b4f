/**
 * Any host of a cluster takes any request: what is about a tenant of this host goes on here, what is about another's is
 * handed to the host that has it, over a connection that is kept, and its answer handed back as it comes.
 *
 * ROUTING-1 a request is handed on twice at most: the second time when its tenant moved meanwhile
 * ROUTING-2 nobody waits for a host that is gone: what waits for its answer is refused as soon as it counts as gone, and
 *   streams of it end, so that their readers come back
 * ROUTING-3 what only reads, and has no answer yet from a host that is gone, is asked of the next one; so is all that
 *   was held whole and that no host was asked, because it took no connection
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

/** Tells a client which host has its tenant, so that it can ask that one the next time. */
const OWNER_HEADER = 'reflexarc-owner'
/** Tells which life of a host answered; only other hosts are told. */
export const HOST_HEADER = 'reflexarc-host'

/** connections to one host */
const CONNECTIONS = 128
const CONNECT_MS = 2_000
/** ms for which a request waits until its tenant is at a host: longer than a takeover, as a rule */
const WAIT_MS = 10_000
const MAX_HOPS = 2
/** requests that wait so at once; beyond them they are refused */
const MAX_LOST = 5_000
/** requests and streams that one host has to answer for this one; beyond them they are refused */
const MAX_ASKED = 20_000

/** What this host has open of a tenant. */
interface OpenedHere {
  /** The request is one of the tenant's until it is answered. */
  hold(reply: FastifyReply): void
}

export interface RoutingOptions {
  readonly tenants: Pick<OpenTenants<OpenedHere>, 'get' | 'opened' | 'has' | 'isComplete'>
  readonly place: (tenant: string) => Place
  readonly hops: Hops
  /** where hosts ask each other for partitions */
  readonly partitions: readonly Pick<PartitionCalls, 'addTo'>[]
  /** ms since some moment; never goes back */
  readonly elapsed: () => number
  /** ms until the answer to a request must begin */
  readonly requestMs: number
  /** requests and streams that one host may have to answer for this one at once */
  readonly maxAsked?: number
  /** the partition of the tenant that the request is for, by its name (`partitionName`) */
  readonly partitionOf: (tenant: string, request: FastifyRequest) => string
  /** whose a request is that needs no credentials; undefined: it is answered by whoever is asked */
  readonly tenantOfPublic: (url: string) => string | undefined | Promise<string | undefined>
}

/** A request on its way to whoever has its tenant. */
interface Routed {
  readonly tenant: string
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  /** it goes on here */
  readonly done: (error?: Error) => void
  /** ms of the machine */
  readonly since: number
  /** whole; absent: nobody has read any of it */
  readonly body?: Buffer
}

function isPublic(request: FastifyRequest): boolean {
  return request.routeOptions.config.scope === 'public'
}

export class RequestRouting {
  readonly #options: RoutingOptions
  /** by address of a host: what has its answer from there, and how to end it */
  readonly #asked = new Map<string, Set<() => void>>()
  /** what waits until its tenant is at a host */
  readonly #lost: Routed[] = []
  /** bodies that were read before it was known that they are for this host */
  readonly #bodies = new WeakMap<FastifyRequest, Buffer>()
  readonly #frames: FrameClients
  #small: SmallRequests | undefined
  #forwarded = 0
  #refused = 0

  constructor(options: RoutingOptions) {
    this.#options = options
    this.#frames = new FrameClients(options)
  }

  /** requests that other hosts were asked to answer, since the start */
  get forwarded(): number {
    return this.#forwarded
  }

  /** those of them that went in frames */
  get framed(): number {
    return this.#small?.framed ?? 0
  }

  /** requests that were refused because a host had too many to answer, since the start */
  get refused(): number {
    return this.#refused
  }

  /** After whatever lets requests in, which says whose they are. */
  async addTo(app: FastifyInstance): Promise<void> {
    const { requestMs, hops } = this.#options
    // Only in a cluster: the packages are not everybody's.
    const [{ default: replyFrom }, { Agent }] = await Promise.all([import('@fastify/reply-from'), import('undici')])
    const agent = new Agent({
      connections: CONNECTIONS,
      connect: { timeout: CONNECT_MS },
      // the host that answers keeps the limit; this is for one that does not
      headersTimeout: requestMs + CONNECT_MS,
      // streams last as long as their readers like
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
    // routes ask the services of that partition
    if (tenant !== whose) request.tenant = tenant
    const opened = this.#options.tenants.get(tenant)
    if (opened === undefined) return this.#route({ ...asked, tenant, since: this.#options.elapsed() })
    opened.hold(reply)
    done()
  }

  /** After each look: what waits for hosts that are gone is refused, and what waits for a host may have one now. */
  looked(live: ReadonlySet<string>): void {
    for (const url of this.#asked.keys()) if (!live.has(url)) this.#endAt(url)
    this.#frames.looked(live)
    for (const one of this.#lost.splice(0)) this.#route(one)
  }

  /** Nothing is waited for any more. */
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
    // whoever handed it on may have taken it for another's: a webscript has an id before its tenant is known everywhere
    const term = marked.slot === slot ? marked.term : 0
    if (place.kind === 'unowned' || place.term < term) {
      // soon it is somebody's, or this host hears that it is its own
      if (!this.#waits(one)) done(notAnywhere(tenant))
    } else if (place.kind === 'here') {
      // whoever has no credentials may name tenants that nobody has: none is opened for that
      if (isPublic(request) && tenants.isComplete && !tenants.has(tenant)) return done()
      void this.#goOn(one)
    } else if (count >= MAX_HOPS) done(notAnywhere(tenant))
    else if (!(request.raw.url ?? '').startsWith('/')) {
      reply.header(OWNER_HEADER, place.url)
      done(new AppError('ELSEWHERE', `the host at ${place.url} has tenant ${tenant}; ask for a path, or ask that one`))
    } else if ((this.#asked.get(place.url)?.size ?? 0) >= (this.#options.maxAsked ?? MAX_ASKED)) {
      this.#refused += 1
      done(
        new AppError(
          'FENCED',
          `the host that has the tenant, ${place.url}, has too much to answer for this one; ask again in a second, or ask that one`,
        ),
      )
    } else this.#forward(place.url, { count: count + 1, term: place.term, slot }, one)
  }

  /** Until the next look; false when it has waited long enough, or too many do. */
  #waits(one: Routed): boolean {
    const mayWait = this.#options.elapsed() - one.since <= WAIT_MS && this.#lost.length < MAX_LOST
    if (mayWait) this.#lost.push(one)
    return mayWait
  }

  /** Here, as soon as the tenant is open. */
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
      // it took too long meanwhile
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
      // reading twice is reading once
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
    // behind the address, never in its place: what is asked may begin with two slashes
    const target = new URL(owner + (raw.url ?? ''))
    const hop = this.#options.hops.sign(method, target.pathname + target.search, mark)
    if (headers.upgrade !== undefined) {
      this.#endWith(owner, reply, openTunnel(target, { ...headers, [HOP_HEADER]: hop }, reply, refuse))
      return
    }
    // as it comes: nobody has read it
    if (!isGetOrHead(method)) request.body = raw
    drop = this.#endWith(owner, reply, refuse)
    const hooks: FastifyReplyFromHooks = {
      // addresses in answers, and signatures, are those of the host that the client knows
      rewriteRequestHeaders: ({ headers: { host } }, given) => ({
        ...given,
        ...(host !== undefined && { host }),
        [HOP_HEADER]: hop,
      }),
      retryDelay: () => null,
      onResponse: (_request, _reply, answer) => {
        const { stream } = answer as unknown as { stream: Readable }
        // it came when another was asked already
        if (isOver) return void stream.destroy()
        sendStream(reply, stream)
      },
      onError: (_reply, { error }) => refuse(error),
    }
    reply.from(target.href, hooks)
  }

  /** When that host is gone before the answer is whole. Gives how to have it forgotten. */
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
  // a reader of lines sees nothing before the first one otherwise
  if (String(reply.getHeader('content-type')) === NDJSON_MEDIA_TYPE)
    reply.raw.once('pipe', () => reply.raw.flushHeaders())
  reply.send(stream)
}

function notAnywhere(tenant: string): AppError {
  return new AppError('FENCED', `tenant ${tenant} is at no host at the moment; ask again in a second`)
}

function unanswered(url: string): AppError {
  return new AppError(
    'FENCED',
    `the host that has the tenant, ${url}, did not answer: it is not known whether it did what was asked; ask again in ` +
      'a second, with an Idempotency-Key where it must not be done twice',
  )
}
