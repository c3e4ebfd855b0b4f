/** Limits the rate of requests per key. */

export interface RateLimit {
  readonly perSecond: number
  readonly burst: number
  readonly mostKeys: number
  readonly now: () => number
}

interface Bucket {
  tokens: number
  at: number
}

/** Keeps one token bucket per key. An evicted key starts again with a full bucket. */
export class TokenBuckets {
  readonly #limit: RateLimit
  readonly #buckets = new Map<string, Bucket>()

  constructor(limit: RateLimit) {
    this.#limit = limit
  }

  /** Takes one token. Returns 0, or the seconds to wait, at least 1. */
  take(key: string): number {
    const { perSecond } = this.#limit
    if (perSecond === 0) return 0
    const bucket = this.#filled(key)
    if (bucket.tokens < 1) return Math.max(1, Math.ceil((1 - bucket.tokens) / perSecond))
    bucket.tokens -= 1
    return 0
  }

  giveBack(key: string): void {
    const bucket = this.#buckets.get(key)
    if (bucket !== undefined) bucket.tokens = Math.min(this.#limit.burst, bucket.tokens + 1)
  }

  get size(): number {
    return this.#buckets.size
  }

  #filled(key: string): Bucket {
    const { perSecond, burst, mostKeys, now } = this.#limit
    const at = now()
    const known = this.#buckets.get(key)
    if (known !== undefined) {
      // a clock that was set back neither adds nor removes tokens
      known.tokens = Math.min(burst, known.tokens + (Math.max(0, at - known.at) / 1000) * perSecond)
      known.at = at
      // reinsertion marks the key as recently used
      this.#buckets.delete(key)
      this.#buckets.set(key, known)
      return known
    }
    for (const oldest of this.#buckets.keys()) {
      if (this.#buckets.size < mostKeys) break
      this.#buckets.delete(oldest)
    }
    const fresh = { tokens: burst, at }
    this.#buckets.set(key, fresh)
    return fresh
  }
}
