/**
 * The mark of a request that one host of a cluster hands to another: it counts how often that was done, so that no
 * request goes round for ever, and says for which term of which slot, so that a host that does not know yet that the slot
 * is its own waits until it does. It tells who the client is, whose wrong credentials count as its own. It is signed with
 * a key that only the hosts have, for one method and address, and good for a moment.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { Signer } from './signer.ts'

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
  readonly #signer: Signer
  readonly #now: () => number
  /** those that were read already */
  readonly #read = new WeakMap<IncomingMessage, Hop>()

  /** `secret`: what all hosts know. `now`: epoch ms */
  constructor(secret: Uint8Array, now: () => number) {
    this.#signer = new Signer(createHmac('sha256', secret).update(HOP_HEADER).digest())
    this.#now = now
  }

  sign(method: string, url: string, { count, term, slot, address = '' }: Hop): string {
    const head = `${count}.${term}.${slot ?? ''}.${this.#now()}.${Buffer.from(address).toString('base64url')}`
    return `${head}.${this.#signature(head, method, url).toString('base64url')}`
  }

  /** Of a request that came over a connection between hosts, all of which is signed. */
  mark(raw: IncomingMessage, hop: Hop): void {
    this.#read.set(raw, hop)
  }

  /** A key that only hosts of the cluster know. `purpose`: begins with a letter, so that it is no mark */
  keyFor(purpose: string): Uint8Array {
    return this.#signer.sign(Buffer.from(purpose))
  }

  /** Of a request; read once. */
  of(raw: IncomingMessage): Hop | undefined {
    const known = this.#read.get(raw)
    if (known !== undefined) return known
    const { headers, method = '', url = '' } = raw
    if (headers[HOP_HEADER] === undefined) return undefined
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

  #signature(head: string, method: string, url: string): Buffer {
    return this.#signer.sign(Buffer.from(`${head}\n${method}\n${url}`))
  }
}
