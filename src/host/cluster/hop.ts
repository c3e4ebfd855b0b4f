/**
 * The mark of a request that one host of a cluster hands to another: it counts how often that was done, so that no
 * request goes round for ever, and says for which term of which slot, so that a host that does not know yet that the slot
 * is its own waits until it does. It tells who the client is, whose wrong credentials count as its own. It is signed with
 * a key that only the hosts have, for one method and address, and good for a moment.
 */
import { createHmac, hash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

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

/** bytes that SHA-256 takes at once */
const BLOCK = 64

export class Hops {
  readonly #inner: Buffer
  readonly #outer: Buffer
  readonly #now: () => number
  /** those that were read already */
  readonly #read = new WeakMap<IncomingMessage, Hop>()

  /** `secret`: what all hosts know. `now`: epoch ms */
  constructor(secret: Uint8Array, now: () => number) {
    const key = createHmac('sha256', secret).update(HOP_HEADER).digest()
    this.#inner = padded(key, 0x36)
    this.#outer = padded(key, 0x5c)
    this.#now = now
  }

  sign(method: string, url: string, { count, term, slot, address = '' }: Hop): string {
    const head = `${count}.${term}.${slot ?? ''}.${this.#now()}.${Buffer.from(address).toString('base64url')}`
    return `${head}.${this.#signature(head, method, url).toString('base64url')}`
  }

  /** Of a request; read once. */
  of(raw: IncomingMessage): Hop | undefined {
    const { headers, method = '', url = '' } = raw
    if (headers[HOP_HEADER] === undefined) return undefined
    const known = this.#read.get(raw)
    if (known !== undefined) return known
    const hop = this.read(headers[HOP_HEADER], method, url)
    if (hop !== undefined) this.#read.set(raw, hop)
    return hop
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

  /** HMAC with SHA-256, of two digests: an `Hmac` of Node costs ten times as much, most of it for its key. */
  #signature(head: string, method: string, url: string): Buffer {
    const text = Buffer.from(`${head}\n${method}\n${url}`)
    const inner = hash('sha256', Buffer.concat([this.#inner, text]), 'buffer')
    return hash('sha256', Buffer.concat([this.#outer, inner]), 'buffer')
  }
}

function padded(key: Uint8Array, pad: number): Buffer {
  const block = Buffer.alloc(BLOCK, pad)
  for (const [at, byte] of key.entries()) block[at] = byte ^ pad
  return block
}
