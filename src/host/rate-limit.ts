/** Limits how often one key may ask. */

export interface RateLimit {
  /** tokens that come back each second; 0: no limit */
  readonly perSecond: number
  /** how many may go at once */
  readonly burst: number
  /** keys that are remembered; the one that was not used longest is forgotten first */
  readonly mostKeys: number
  /** epoch ms */
  readonly now: () => number
}

interface Bucket {
  tokens: number
  at: number
}

/** A token bucket per key. Keys beyond the bound begin with a full bucket again. */
export class TokenBuckets {
  readonly #limit: RateLimit
  readonly #buckets = new Map<string, Bucket>()

  constructor(limit: RateLimit) {
    this.#limit = limit
  }

  /** Takes one token; 0, or the seconds to wait, at least 1, when there was none. */
  take(key: string): number {
    const { perSecond } = this.#limit
    if (perSecond === 0) return 0
    const bucket = this.#filled(key)
    if (bucket.tokens < 1) return Math.max(1, Math.ceil((1 - bucket.tokens) / perSecond))
    bucket.tokens -= 1
    return 0
  }

  /** Undoes a `take`. */
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
      // A clock that was set back gives nothing, and takes nothing away.
      known.tokens = Math.min(burst, known.tokens + (Math.max(0, at - known.at) / 1000) * perSecond)
      known.at = at
      // To the end: those at the front are the first to be forgotten.
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
