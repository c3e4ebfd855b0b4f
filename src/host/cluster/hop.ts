/**
 * The mark of a request that one host of a cluster hands to another: it counts how often that was done, so that no
 * request goes round for ever. It is signed with a key that only the hosts have, for one method and address, and good for
 * a moment.
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

  /** For a request that is handed on for the `count`th time. */
  sign(method: string, url: string, count: number): string {
    const head = `${count}.${this.#now()}`
    return `${head}.${this.#signature(head, method, url).toString('base64url')}`
  }

  /** How often hosts of the cluster have handed the request on; 0 for whatever none of them has signed just now. */
  count(header: unknown, method: string, url: string): number {
    if (typeof header !== 'string') return 0
    const [, count = '', ms = '', signature = ''] = /^(\d)\.(\d{1,15})\.([\w-]{43})$/.exec(header) ?? []
    if (ms === '' || Math.abs(this.#now() - Number(ms)) > GOOD_FOR) return 0
    const expected = this.#signature(`${count}.${ms}`, method, url)
    return timingSafeEqual(expected, Buffer.from(signature, 'base64url')) ? Number(count) : 0
  }

  #signature(head: string, method: string, url: string): Buffer {
    return createHmac('sha256', this.#key).update(`${head}\n${method}\n${url}`).digest()
  }
}
