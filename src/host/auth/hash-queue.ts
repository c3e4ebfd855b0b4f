/**
 * Queues the hashing of secrets, which is slow on purpose, so that a flood from one network delays only that network.
 *
 * HASH-1 credentials that were valid before go first
 * HASH-2 among the others, networks take turns, however many requests each of them sends
 * HASH-3 when too many wait, a request from the network with the most waiting requests is rejected
 */
import { AppError } from '#kernel'

const MAX_AT_ONCE = 2
const MAX_WAITING = 100

export interface Turn {
  readonly network: string
  readonly wasGood: boolean
}

interface Waiting {
  begin(): void
  refuse(error: AppError): void
}

export class HashQueue {
  #working = 0
  #count = 0
  readonly #good: Waiting[] = []
  readonly #others = new Map<string, Waiting[]>()

  async run<T>(turn: Turn, work: () => Promise<T>): Promise<T> {
    if (this.#working < MAX_AT_ONCE) this.#working++
    else await this.#wait(turn)
    try {
      return await work()
    } finally {
      const next = this.#takeNext()
      if (next === undefined) this.#working--
      else next.begin()
    }
  }

  #wait({ network, wasGood }: Turn): Promise<void> {
    return new Promise((begin, refuse) => {
      const waiting = { begin, refuse }
      if (wasGood) return void this.#good.push(waiting)
      const own = this.#others.get(network) ?? []
      if (this.#count >= MAX_WAITING && !this.#makePlace(own.length)) return refuse(tooMany())
      own.push(waiting)
      this.#others.set(network, own)
      this.#count++
    })
  }

  /** Rejects the newest waiting check of the busiest network. Returns false if that is the new check's own. */
  #makePlace(own: number): boolean {
    let most: Waiting[] = []
    for (const one of this.#others.values()) if (one.length > most.length) most = one
    if (most.length <= own + 1) return false
    most.pop()?.refuse(tooMany())
    this.#count--
    return true
  }

  #takeNext(): Waiting | undefined {
    const good = this.#good.shift()
    if (good !== undefined) return good
    for (const [network, waiting] of this.#others) {
      const next = waiting.shift()
      this.#others.delete(network)
      if (waiting.length > 0) this.#others.set(network, waiting)
      if (next === undefined) continue
      this.#count--
      return next
    }
    return undefined
  }
}

function tooMany(): AppError {
  return new AppError('RATE_LIMITED', 'Too many credentials are being checked at the moment; try again')
}

/** Returns the address itself for IPv4; for IPv6 one subscriber's network, the first 64 bits. */
export function networkOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped !== undefined) return mapped
  if (!address.includes(':')) return address
  const [head = '', tail] = address.toLowerCase().split('::')
  const groups = head === '' ? [] : head.split(':')
  const missing = tail === undefined ? 0 : 8 - groups.length - (tail === '' ? 0 : tail.split(':').length)
  const full = [...groups, ...Array<string>(Math.max(0, missing)).fill('0'), ...(tail ?? '').split(':')]
  return full.slice(0, 4).join(':')
}
