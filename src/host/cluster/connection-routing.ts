/** Routes MQTT connections to the host that owns their tenant. */
import { setMaxListeners } from 'node:events'
import type { OpenTenants, TenantLocation } from '#cluster'
import { AppError } from '#kernel'
import { INTRODUCTION, type Origin, type OtherHosts, type OtherListener } from '#services/broker'
import type { Hops } from './hop.ts'

/** How long a connection waits for an owner, in ms: longer than a usual takeover */
const WAIT_MS = 10_000
const MAX_HOPS = 2
const MARKED = 'MQTT'
const WORD = `${INTRODUCTION}EFLEXARC`

export interface ConnectionRoutingOptions {
  readonly tenants: Pick<OpenTenants<unknown>, 'opened'>
  readonly place: (tenant: string) => TenantLocation
  readonly hops: Hops
  readonly elapsed: () => number
}

export class ConnectionRouting implements OtherHosts {
  readonly #options: ConnectionRoutingOptions
  readonly #gone = new Map<string, AbortController>()
  readonly #hearers: ((tenant: string) => void)[] = []
  readonly #waiting: (() => void)[] = []
  #isEnded = false

  constructor(options: ConnectionRoutingOptions) {
    this.#options = options
  }

  async find(tenant: string, origin: Origin): Promise<OtherListener | undefined> {
    const { place: placeOf, tenants, elapsed, hops } = this.#options
    for (const since = elapsed(); ; await this.#looked()) {
      const place = placeOf(tenant)
      if (place.kind === 'here' && place.term >= origin.term) {
        await tenants.opened(tenant)
        return undefined
      }
      if (place.kind === 'elsewhere' && place.term >= origin.term) {
        const { url, mqtt, term } = place
        if (mqtt === undefined) throw refused(`the host of tenant ${tenant}, ${url}, was started without --mqtt`)
        if (origin.hops >= MAX_HOPS) break
        const mark = hops.sign(MARKED, origin.address, { count: origin.hops + 1, term })
        const introduction = `${WORD} ${origin.address} ${mark}`
        return { host: hostOf(url), port: mqtt, introduction, gone: this.#goneOf(url) }
      }
      if (this.#isEnded || elapsed() - since > WAIT_MS) break
    }
    throw refused(`tenant ${tenant} is without a host at the moment`)
  }

  read(introduction: string): Origin | undefined {
    const [word, address = '', mark] = introduction.split(' ')
    const hop = word === WORD ? this.#options.hops.read(mark, MARKED, address) : undefined
    return hop && { address, hops: hop.count, term: hop.term }
  }

  onLeave(hear: (tenant: string) => void): void {
    this.#hearers.push(hear)
  }

  left(tenant: string): void {
    for (const hear of this.#hearers) hear(tenant)
  }

  /** Called after each poll. `live`: addresses of live hosts. */
  looked(live: ReadonlySet<string>): void {
    for (const [url, gone] of this.#gone) {
      if (live.has(url)) continue
      this.#gone.delete(url)
      gone.abort()
    }
    for (const resolve of this.#waiting.splice(0)) resolve()
  }

  end(): void {
    this.#isEnded = true
    this.looked(new Set())
  }

  #looked(): Promise<void> {
    return new Promise((resolve) => void this.#waiting.push(resolve))
  }

  #goneOf(url: string): AbortSignal {
    const known = this.#gone.get(url)
    if (known !== undefined) return known.signal
    const made = new AbortController()
    setMaxListeners(0, made.signal)
    this.#gone.set(url, made)
    return made.signal
  }
}

function hostOf(url: string): string {
  return new URL(url).hostname.replace(/^\[|\]$/g, '')
}

function refused(what: string): AppError {
  return new AppError('FENCED', `${what}; connect again in a second`)
}
