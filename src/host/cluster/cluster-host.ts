/** Manages a host's membership in a cluster: joining, placement, routing and leaving. */
import type { FastifyInstance } from 'fastify'
import { checkReplay, HOST_RECORDS, OpenTenants, Placement, type Program, TTL_MS } from '#cluster'
import { AppError, type Logger, messageOf } from '#kernel'
import { machineTimers } from '#platform'
import type { Presence, Store } from '#storage'
import type { Gauges } from '../gauges.ts'
import type { Timers } from '../timers.ts'
import { ConnectionRouting } from './connection-routing.ts'
import { HOP_HEADER, Hops } from './hop.ts'
import { HOST_HEADER, RequestRouting } from './request-routing.ts'
import type { TenantServices } from '../tenant-services.ts'

/** Poll interval in ms */
const POLL_MS = 250
/** Time until the next poll when a host seems to be gone, in ms */
const SECOND_LOOK_MS = 50
const GONE = 'gone'
/** Maximum difference between the clocks of the host and the store, in ms */
const MAX_SKEW_MS = 1_000
/** Interval between comparisons with the store's clock, in ms */
const CLOCK_MS = 2_000
/** Time allowed for handing over slots during a stop, in ms */
const DRAIN_MS = 4_000
const CALL_MS = 2_000

export interface ClusterHostOptions {
  readonly store: Store
  readonly presence: Presence | undefined
  readonly tell: (word: string) => Promise<void>
  readonly tenants: () => Promise<readonly string[]>
  readonly secret: Uint8Array
  readonly program: Program
  /** Where object contents are stored: `files`, or the address of a bucket */
  readonly contents: string
  /** Returns the host's time in epoch ms */
  readonly now: () => number
  /** Receives the store's time, in epoch ms, whenever that is read */
  readonly compared: (store: number) => void
  readonly timers: Timers
  readonly gauges: Gauges
  readonly logger: Logger
  readonly requestMs: number
  readonly open: (tenant: string, holder: { holder: string; term: number }, lost: () => void) => Promise<TenantServices>
  readonly tenantOfPublic: (url: string) => string | undefined | Promise<string | undefined>
}

export class ClusterHost {
  readonly id = machineTimers.newId().slice(0, 8)
  readonly tenants: OpenTenants<TenantServices>
  readonly routing: RequestRouting
  readonly connections: ConnectionRouting
  readonly #options: ClusterHostOptions
  readonly #hops: Hops
  #placement: Placement | undefined
  #name = this.id
  #url: string | undefined
  #cancelLook: () => void = () => undefined
  #watched: { readonly id: string; readonly end: AbortController } | undefined
  #isMember = false
  #isStopped = false
  #clockReadAt = Number.NEGATIVE_INFINITY
  /** Difference between the clocks of host and store, in ms */
  #apart = 0

  constructor(options: ClusterHostOptions) {
    const { tenants, open, logger, secret, now, requestMs, tenantOfPublic, gauges, timers } = options
    this.#options = options
    this.#hops = new Hops(secret, now)
    const locate: Placement['of'] = (tenant) => this.#placement?.of(tenant) ?? { kind: 'unowned', term: 0 }
    this.tenants = new OpenTenants<TenantServices>({
      tenants,
      locate,
      open: (tenant, term, lost) => open(tenant, { holder: this.#name, term }, lost),
      close: (opened, name) => {
        this.connections.left(name)
        return opened.close()
      },
      logger,
    })
    this.routing = new RequestRouting({
      tenants: this.tenants,
      place: locate,
      timers,
      hops: this.#hops,
      requestMs,
      tenantOfPublic,
    })
    const elapsed = (): number => timers.elapsed()
    this.connections = new ConnectionRouting({ tenants: this.tenants, place: locate, hops: this.#hops, elapsed })
    gauges.watchQueue('cluster-slots', () => this.#placement?.owned ?? 0)
    gauges.watchQueue('cluster-tenants', () => this.tenants.size)
    gauges.watchTotal('cluster-forwarded', () => this.routing.forwarded)
    gauges.watchTotal('cluster-refused', () => this.routing.refused)
  }

  /** Address for other hosts; undefined until this host has joined. */
  get url(): string | undefined {
    return this.#url
  }

  get isMember(): boolean {
    return this.#isMember
  }

  isNobodys(tenant: string): boolean {
    return this.#placement?.of(tenant).kind === 'here' && this.tenants.isComplete && !this.tenants.has(tenant)
  }

  warnings(): readonly string[] {
    return this.#apart > MAX_SKEW_MS ? [tooFarApart(this.#apart)] : []
  }

  introduce(app: FastifyInstance): void {
    app.addHook('onRequest', (request, reply, done) => {
      const hop = this.#hops.of(request.raw)
      if (hop === undefined) return done()
      reply.header(HOST_HEADER, this.id)
      if (hop.address !== undefined) Object.defineProperty(request, 'ip', { value: hop.address })
      done()
    })
  }

  /** Resolves when the host's tenants are open. Throws `STORE` when the host cannot become a member. */
  async join(url: string, mqtt?: number): Promise<void> {
    const { store, presence, program, contents, timers } = this.#options
    await this.#check(url)
    await this.#replaceFormerLife(url)
    this.#placement = new Placement({
      store,
      presence,
      id: this.id,
      url,
      mqtt,
      contents,
      program,
      elapsed: () => timers.elapsed(),
      gained: () => this.tenants.gained(),
      lost: (slots) => this.tenants.lost(slots),
      release: (slot) => this.tenants.release(slot),
    })
    this.#name = `${url} (${this.id})`
    this.#url = url
    const placement = this.#placement
    await presence?.announce(this.id)
    presence?.onNotification((word) => {
      // a host that only lost its session is back before the second poll
      if (word === GONE && !this.#isStopped) this.#lookNow(placement)
    })
    await placement.look()
    this.#lookLater(placement)
    await this.tenants.complete()
    this.#isMember = true
  }

  /** Hands over as much as other hosts accept, closes the rest, and leaves the cluster. Safe to call twice. */
  async leave(): Promise<void> {
    if (this.#isStopped) return
    this.#isStopped = true
    this.#cancelLook()
    this.#watched?.end.abort()
    const placement = this.#placement
    const { timers, logger } = this.#options
    const until = timers.elapsed() + DRAIN_MS
    try {
      if (placement !== undefined) await this.#giveAway(placement, until)
    } catch (error) {
      logger.warn(`slots could not be handed over; other hosts take them in ${TTL_MS} ms: ${messageOf(error)}`)
    }
    await this.tenants.close()
    await placement?.leave().catch((error: unknown) => {
      logger.warn(`the stop of this host could not be announced: ${messageOf(error)}`)
    })
    this.routing.end()
    this.connections.end()
  }

  async #giveAway(placement: Placement, until: number): Promise<void> {
    const { timers } = this.#options
    placement.drain()
    for (;;) {
      if (!placement.isTaken || timers.elapsed() >= until) return
      await placement.look()
      this.#looked(placement)
      await new Promise<void>((resolve) => timers.after(SECOND_LOOK_MS, resolve))
    }
  }

  #lookLater(placement: Placement): void {
    this.#cancelLook()
    this.#cancelLook = this.#options.timers.after(placement.isUnsure ? SECOND_LOOK_MS : POLL_MS, () =>
      this.#lookNow(placement),
    )
  }

  #lookNow(placement: Placement): void {
    this.#cancelLook()
    placement
      .look()
      .catch((error: unknown) =>
        this.#options.logger.warn(`the state of the cluster cannot be read: ${messageOf(error)}`),
      )
      .finally(() => {
        this.#looked(placement)
        void this.#readClock()
        void this.tenants.complete()
        if (this.#isStopped) return
        this.#watch(placement)
        this.#lookLater(placement)
      })
  }

  #looked({ urls }: Placement): void {
    this.routing.looked(urls)
    this.connections.looked(urls)
  }

  /** Compares the clocks again, since they may be set after the join. Never rejects. */
  async #readClock(): Promise<void> {
    const { timers, logger } = this.#options
    if (timers.elapsed() - this.#clockReadAt < CLOCK_MS) return
    this.#clockReadAt = timers.elapsed()
    try {
      const before = this.#apart
      this.#apart = await this.#clocksApart()
      if (this.#apart > MAX_SKEW_MS && before <= MAX_SKEW_MS) logger.warn(tooFarApart(this.#apart))
    } catch {
      // failed polls already report an unreachable store
    }
  }

  /** Returns a lower bound of the clock difference in ms, whatever the store's latency. */
  async #clocksApart(): Promise<number> {
    const { store, now, compared } = this.#options
    const began = now()
    const { ms } = await store.now()
    compared(ms)
    return Math.max(began - ms, ms - now(), 0)
  }

  /** Watches one other host, so that the cluster notices a crash at once. */
  #watch(placement: Placement): void {
    const { presence, tell } = this.#options
    const id = placement.neighbour
    if (presence === undefined || this.#watched?.id === id) return
    this.#watched?.end.abort()
    this.#watched = undefined
    if (id === undefined) return
    const watched = { id, end: new AbortController() }
    this.#watched = watched
    presence
      .gone(id, watched.end.signal)
      .then(() => (watched.end.signal.aborted ? undefined : tell(GONE)))
      // the next poll watches again, also after a reconnection
      .catch(() => undefined)
      .finally(() => {
        if (this.#watched === watched) this.#watched = undefined
      })
  }

  async #check(url: string): Promise<void> {
    const { store, program, contents } = this.#options
    const { ms } = await store.now()
    const apart = await this.#clocksApart()
    const problems = [...(await checkReplay(store, program, url)).problems]
    if (apart > MAX_SKEW_MS) problems.push(tooFarApart(apart))
    const hosts = await store.collection(HOST_RECORDS).find({})
    for (const { value } of hosts) {
      if (value.url === url || Math.abs(ms - value.seen) > TTL_MS) continue
      if (value.contents !== undefined && value.contents !== contents) {
        problems.push(
          `the host at ${value.url} stores contents of objects in ${value.contents}, but this host in ${contents}; start ` +
            'all hosts with the same --objects',
        )
      }
    }
    problems.push(...(await this.#problemOfAddress(url)))
    if (problems.length > 0) throw new AppError('STORE', `This host cannot join the cluster: ${problems.join('; ')}`)
  }

  async #problemOfAddress(url: string): Promise<readonly string[]> {
    const remedy = 'set --advertise to the address at which other hosts reach this one'
    const late = new AbortController()
    const callOff = this.#options.timers.after(CALL_MS, () => late.abort())
    try {
      const headers = { [HOP_HEADER]: this.#hops.sign('GET', '/health', { count: 1, term: 0 }) }
      const answer = await fetch(`${url}/health`, { headers, signal: late.signal })
      await answer.body?.cancel()
      if (answer.headers.get(HOST_HEADER) === this.id) return []
      return [`another server responds at ${url}; ${remedy}`]
    } catch (error) {
      return [`${url} does not respond (${messageOf(error)}); ${remedy}`]
    } finally {
      callOff()
    }
  }

  async #replaceFormerLife(url: string): Promise<void> {
    const records = this.#options.store.collection(HOST_RECORDS)
    for (const { id, value } of await records.find({})) if (value.url === url) await records.delete(id)
  }
}

function tooFarApart(ms: number): string {
  return (
    `the clock of this machine differs by ${ms} ms from the clock of the database; synchronize both with one time server, ` +
    `${MAX_SKEW_MS} ms are allowed`
  )
}
