/** Slows down whoever tries secrets. */
import { TokenBuckets } from '../rate-limit.ts'

/** wrong attempts on one key from one address: this many at once, then one a second */
const WRONG_BURST = 20

/** Counts wrong attempts by address and key. */
export class WrongAttempts {
  readonly #buckets: TokenBuckets

  /** `now`: epoch ms */
  constructor(now: () => number) {
    this.#buckets = new TokenBuckets({ perSecond: 1, burst: WRONG_BURST, mostKeys: 10_000, now })
  }

  /** Seconds until another attempt may be made; 0: now. */
  wait(address: string, key: string): number {
    return this.#buckets.wait(nameOf(address, key))
  }

  count(address: string, key: string): void {
    this.#buckets.take(nameOf(address, key))
  }
}

function nameOf(address: string, key: string): string {
  return `${address} ${key.slice(0, 64)}`
}
