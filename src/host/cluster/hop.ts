/**
 * The mark of a request that one host of a cluster hands to another: it counts how often that was done, so that no
 * request goes round for ever, and says for which term of which slot, so that a host that does not know yet that the slot
 * is its own waits until it does. It tells who the client is, whose wrong credentials count as its own. It is signed with
 * a key that only the hosts have, for one method and address, and good for a moment.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'

export const HOP_HEADER = 'reflexarc-hop'

/** ms; the clocks of hosts may be a second apart */
const GOOD_FOR = 30_000

export interface Hop {
  /** how often the request was handed on */
  readonly count: number
  readonly term: number
  /** whose term that is; absent: of the one slot that the address is about */
  readonly slot?: number | undefined
  /** IP of the client; absent: a host asks for itself */
  readonly address?: string | undefined
}

export class Hops {
  readonly #key: Buffer
  readonly #now: () => number

  /** `secret`: what all hosts know. `now`: epoch ms */
  constructor(secret: Uint8Array, now: () => number) {
    this.#key = createHmac('sha256', secret).update(HOP_HEADER).digest()
    this.#now = now
  }

  sign(method: string, url: string, { count, term, slot, address = '' }: Hop): string {
    const head = `${count}.${term}.${slot ?? ''}.${this.#now()}.${Buffer.from(address).toString('base64url')}`
    return `${head}.${this.#signature(head, method, url).toString('base64url')}`
  }

  /** Undefined for whatever no host of the cluster has signed just now. */
  read(header: unknown, method: string, url: string): Hop | undefined {
    if (typeof header !== 'string') return undefined
    const parts = /^(\d)\.(\d{1,15})\.(\d{0,3})\.(\d{1,15})\.([\w-]{0,100})\.([\w-]{43})$/.exec(header)
    const [, count = '', term = '', slot = '', ms = '', client = '', signature = ''] = parts ?? []
    if (parts === null || Math.abs(this.#now() - Number(ms)) > GOOD_FOR) return undefined
    const expected = this.#signature(`${count}.${term}.${slot}.${ms}.${client}`, method, url)
    if (!timingSafeEqual(expected, Buffer.from(signature, 'base64url'))) return undefined
    const address = Buffer.from(client, 'base64url').toString()
    return {
      count: Number(count),
      term: Number(term),
      ...(slot !== '' && { slot: Number(slot) }),
      ...(address !== '' && { address }),
    }
  }

  #signature(head: string, method: string, url: string): Buffer {
    return createHmac('sha256', this.#key).update(`${head}\n${method}\n${url}`).digest()
  }
}
