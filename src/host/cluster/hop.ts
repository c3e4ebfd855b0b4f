/**
 * The mark of a request that one host of a cluster hands to another: whoever sees it answers, or refuses, and hands it
 * on to nobody. It is signed with a key that only the hosts have, for one method and address, and good for a moment.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'

export const HOP_HEADER = 'reflexarc-hop'

/** ms; the clocks of hosts may be a second apart */
const GOOD_FOR = 30_000

export class Hops {
  readonly #key: Buffer
  readonly #now: () => number

  /** `secret`: what all hosts know. `now`: epoch ms */
  constructor(secret: Uint8Array, now: () => number) {
    this.#key = createHmac('sha256', secret).update(HOP_HEADER).digest()
    this.#now = now
  }

  sign(method: string, url: string): string {
    const ms = String(this.#now())
    return `${ms}.${this.#signature(ms, method, url).toString('base64url')}`
  }

  /** Whether another host of the cluster sent it, just now. */
  isHop(header: unknown, method: string, url: string): boolean {
    if (typeof header !== 'string') return false
    const [, ms = '', signature = ''] = /^(\d{1,15})\.([\w-]{43})$/.exec(header) ?? []
    if (ms === '' || Math.abs(this.#now() - Number(ms)) > GOOD_FOR) return false
    return timingSafeEqual(this.#signature(ms, method, url), Buffer.from(signature, 'base64url'))
  }

  #signature(ms: string, method: string, url: string): Buffer {
    return createHmac('sha256', this.#key).update(`${ms}\n${method}\n${url}`).digest()
  }
}
