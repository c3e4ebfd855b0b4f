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
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type OpenTenants, type TenantLocation, slotOf } from '#cluster'
import { AppError } from '#kernel'
import type { Timers } from '../timers.ts'
import { Forwarding, isGetOrHead } from './forwarding.ts'
import type { Hop, Hops } from './hop.ts'

/** Response header that names the tenant's owner, so that clients can call the owner directly. */
const OWNER_HEADER = 'reflexarc-owner'
export const HOST_HEADER = 'reflexarc-host'

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
  readonly timers: Pick<Timers, 'elapsed' | 'after'>
  /** Time limit for the first byte of a response, in ms */
  readonly requestMs: number
  /** Maximum number of pending requests and streams per host */
  readonly maxAsked?: number
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
  readonly #forwarding: Forwarding
  #forwarded = 0
  #refused = 0

  constructor(options: RoutingOptions) {
    this.#options = options
    this.#forwarding = new Forwarding(options)
  }

  get forwarded(): number {
    return this.#forwarded
  }

  get refused(): number {
    return this.#refused
  }

  addTo(app: FastifyInstance): void {
    app.addHook('onClose', async () => this.#forwarding.end())
    app.addHook('preParsing', (request, _reply, payload, done) => {
      const body = this.#bodies.get(request)
      done(null, body === undefined ? payload : Readable.from([body]))
    })
    app.addHook('onRequest', (request, reply, done) => {
      const asked = { request, reply, done }
      if (!isPublic(request)) return this.#take(request.tenant, asked)
      const whose = this.#options.tenantOfPublic(request.raw.url ?? '')
      if (whose instanceof Promise) void whose.then((found) => this.#take(found, asked), done)
      else this.#take(whose, asked)
    })
  }

  #take(tenant: string | undefined, asked: Omit<Routed, 'tenant' | 'since'>): void {
    const { reply, done } = asked
    if (tenant === undefined || tenant === '') return done()
    const opened = this.#options.tenants.get(tenant)
    if (opened === undefined) return this.#route({ ...asked, tenant, since: this.#options.timers.elapsed() })
    opened.hold(reply)
    done()
  }

  looked(live: ReadonlySet<string>): void {
    for (const url of this.#asked.keys()) if (!live.has(url)) this.#endAt(url)
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
    const mayWait = this.#options.timers.elapsed() - one.since <= WAIT_MS && this.#lost.length < MAX_LOST
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
    if (body !== undefined || !this.#forwarding.holds(request)) return this.#ask(owner, next, one)
    this.#forwarding.read(request, reply, (whole) => {
      // the request may have been answered at its deadline meanwhile
      if (!reply.sent) this.#ask(owner, next, { ...one, body: whole })
    })
  }

  #ask(owner: string, next: Hop, one: Routed): void {
    const { request, reply, body } = one
    const { method, raw, headers, ip } = request
    this.#forwarded += 1
    reply.header(OWNER_HEADER, owner)
    let isOver = false
    const refuse = (isUnasked = false): void => {
      if (isOver) return
      isOver = true
      drop()
      cut()
      // reads can be repeated safely
      const mayRepeat = headers.upgrade === undefined && (isGetOrHead(method) || (body !== undefined && isUnasked))
      if (reply.sent || reply.raw.headersSent) reply.raw.destroy()
      else if (!mayRepeat || !this.#waits(one)) reply.send(unanswered(owner))
    }
    const drop = this.#endWith(owner, reply, refuse)
    const hop = this.#options.hops.sign(method, raw.url ?? '', { ...next, address: ip })
    const cut = this.#forwarding.ask(owner, { request, reply, hop, body, failed: refuse })
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
