/** Slows down whoever tries secrets. */
import { TokenBuckets } from '../rate-limit.ts'

/** wrong attempts on one key from one network: this many at once, then one a second */
const WRONG_BURST = 20

/** Counts wrong attempts by network and key. */
export class WrongAttempts {
  readonly #buckets: TokenBuckets

  /** `now`: epoch ms */
  constructor(now: () => number) {
    this.#buckets = new TokenBuckets({ perSecond: 1, burst: WRONG_BURST, mostKeys: 10_000, now })
  }

  /** Counts an attempt as wrong before it is looked at, so that many at once gain nothing. Seconds to wait; 0: go on. */
  begin(network: string, key: string): number {
    return this.#buckets.take(nameOf(network, key))
  }

  /** The attempt was not wrong. */
  takeBack(network: string, key: string): void {
    this.#buckets.giveBack(nameOf(network, key))
  }
}

function nameOf(network: string, key: string): string {
  return `${network} ${key.slice(0, 64)}`
}
