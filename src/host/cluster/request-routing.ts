/**
 * Any host of a cluster takes any request: what is about a tenant of this host goes on here, what is about another's is
 * handed to the host that has it, over a connection that is kept, and its answer handed back as it comes.
 *
 * ROUTING-1 a request is handed on once at most
 * ROUTING-2 nobody waits for a host that is gone: what waits for its answer is refused as soon as it counts as gone
 */
import replyFrom from '@fastify/reply-from'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { OpenTenants } from '../../cluster/open-tenants.ts'
import type { Place } from '../../cluster/placement.ts'
import { AppError } from '../../kernel/errors.ts'
import type { Access } from '../hosted-service.ts'
import { HOP_HEADER, type Hops } from './hop.ts'
import type { TenantServices } from './tenant-services.ts'

/** Tells a client which host has its tenant, so that it can ask that one the next time. */
export const OWNER_HEADER = 'reflexarc-owner'
/** Tells which life of a host answered; only other hosts are told. */
export const HOST_HEADER = 'reflexarc-host'

/** connections to one host */
const CONNECTIONS = 128
const CONNECT_MS = 2_000

export interface RoutingOptions {
  readonly id: string
  readonly tenants: OpenTenants<TenantServices>
  readonly place: (tenant: string) => Place
  readonly hops: Hops
  /** ms until the answer to a request must begin */
  readonly requestMs: number
  /** whose a request is that needs no credentials; undefined: it is answered by whoever is asked */
  readonly tenantOfPublic: (url: string) => string | undefined
}

export class RequestRouting {
  readonly #options: RoutingOptions
  /** by address of a host: what waits for its answer */
  readonly #waiting = new Map<string, Set<FastifyReply>>()
  #forwarded = 0

  constructor(options: RoutingOptions) {
    this.#options = options
  }

  /** requests that other hosts were asked to answer, since the start */
  get forwarded(): number {
    return this.#forwarded
  }

  /** After whatever lets requests in, which says whose they are. */
  async addTo(app: FastifyInstance): Promise<void> {
    const { requestMs } = this.#options
    await app.register(replyFrom, {
      disableRequestLogging: true,
      disableCache: true,
      undici: {
        connections: CONNECTIONS,
        connect: { timeout: CONNECT_MS },
        // the host that answers keeps the limit; this is for one that does not
        headersTimeout: requestMs + CONNECT_MS,
        // streams last as long as their readers like
        bodyTimeout: 0,
      },
    })
    app.addHook('onRequest', (request, reply, done) => {
      const { access = 'key' } = request.routeOptions.config
      const tenant = access === 'public' ? this.#options.tenantOfPublic(request.raw.url ?? '') : request.tenant
      if (tenant === undefined || tenant === '') return done()
      const opened = this.#options.tenants.get(tenant)
      if (opened === undefined) return this.#route(tenant, access, request, reply, done)
      opened.hold(reply)
      done()
    })
  }

  /** Refuses what waits for hosts that are not among these any more. */
  onlyAsk(urls: ReadonlySet<string>): void {
    for (const [url, replies] of this.#waiting) {
      if (urls.has(url)) continue
      for (const reply of replies) if (!reply.sent) void reply.send(unanswered(url))
      this.#waiting.delete(url)
    }
  }

  #route(
    tenant: string,
    access: Access,
    request: FastifyRequest,
    reply: FastifyReply,
    done: (error?: Error) => void,
  ): void {
    const { tenants } = this.#options
    const place = this.#options.place(tenant)
    const url = request.raw.url ?? ''
    if (place.kind === 'here') {
      // whoever has no credentials may name tenants that nobody has: none is opened for that
      if (access === 'public' && tenants.isComplete && !tenants.has(tenant)) return done()
      tenants.opened(tenant).then(
        (opened) => {
          opened.hold(reply)
          done()
        },
        (error: unknown) => done(error as Error),
      )
    } else if (place.kind === 'nobody' || this.#isHop(request) || !url.startsWith('/')) {
      const text = `tenant ${tenant} is at no host at the moment, or at another; ask again in a second`
      done(new AppError('FENCED', text))
    } else if (request.headers.upgrade !== undefined) {
      reply.header(OWNER_HEADER, place.url)
      done(new AppError('ELSEWHERE', `WebSockets of tenant ${tenant} are opened at the host that has it: ${place.url}`))
    } else this.#forward(place.url, request, reply)
  }

  #isHop({ headers, method, raw }: FastifyRequest): boolean {
    return this.#options.hops.isHop(headers[HOP_HEADER], method, raw.url ?? '')
  }

  #forward(owner: string, request: FastifyRequest, reply: FastifyReply): void {
    const { method } = request
    // behind the address, never in its place: what is asked may begin with two slashes
    const target = new URL(owner + (request.raw.url ?? ''))
    const waiting = this.#waiting.get(owner) ?? new Set()
    this.#waiting.set(owner, waiting.add(reply))
    this.#forwarded += 1
    // as it comes: nobody has read it
    if (method !== 'GET' && method !== 'HEAD') request.body = request.raw
    reply.header(OWNER_HEADER, owner)
    const hop = this.#options.hops.sign(method, target.pathname + target.search)
    reply.from(target.href, {
      rewriteRequestHeaders: (_request, headers) => ({ ...headers, [HOP_HEADER]: hop }),
      retryDelay: () => null,
      onResponse: (_request, _reply, answer) => {
        waiting.delete(reply)
        reply.send((answer as unknown as { stream: NodeJS.ReadableStream }).stream)
      },
      onError: () => {
        waiting.delete(reply)
        if (!reply.sent) void reply.send(unanswered(owner))
      },
    })
  }
}

function unanswered(url: string): AppError {
  return new AppError(
    'FENCED',
    `the host that has the tenant, ${url}, did not answer: it is not known whether it did what was asked; ask again in ` +
      'a second, with an Idempotency-Key where it must not be done twice',
  )
}
