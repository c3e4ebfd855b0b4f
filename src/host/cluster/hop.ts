/**
 * Signs a mark on each forwarded request. The mark contains the number of hops, which ends cycles; the slot and its
 * term, so that a new owner waits until it owns the tenant; and the client's IP, to which wrong credentials are
 * attributed. A mark is valid for a moment, for one method and address.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

export const HOP_HEADER = 'reflexarc-hop'

/** Validity of a mark in ms; clocks of hosts may differ by a second */
const GOOD_FOR = 30_000

export interface Hop {
  readonly count: number
  readonly term: number
  /** Slot that the term refers to; absent: the address belongs to one slot */
  readonly slot?: number | undefined
  /** Client's IP; absent: the host itself made the request */
  readonly address?: string | undefined
}

export class Hops {
  readonly #key: Uint8Array
  readonly #now: () => number
  readonly #read = new WeakMap<IncomingMessage, Hop>()

  /** `secret`: shared by all hosts. `now`: epoch ms */
  constructor(secret: Uint8Array, now: () => number) {
    this.#key = createHmac('sha256', secret).update(HOP_HEADER).digest()
    this.#now = now
  }

  sign(method: string, url: string, { count, term, slot, address = '' }: Hop): string {
    const head = `${count}.${term}.${slot ?? ''}.${this.#now()}.${Buffer.from(address).toString('base64url')}`
    return `${head}.${this.#signature(head, method, url).toString('base64url')}`
  }

  /** Returns the mark of a request, which is verified only once. */
  of(raw: IncomingMessage): Hop | undefined {
    const known = this.#read.get(raw)
    if (known !== undefined) return known
    const { headers, method = '', url = '' } = raw
    if (headers[HOP_HEADER] === undefined) return undefined
    const hop = this.read(headers[HOP_HEADER], method, url)
    if (hop !== undefined) this.#read.set(raw, hop)
    return hop
  }

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
