/** What a tenant may call: so many in a second, and so many at once. */
import { AppError } from '../../kernel/errors.ts'

export interface CallLimits {
  /** Seconds until a tenant may call again; 0: now. */
  readonly takeCall: (tenant: string) => number
  /** calls of a tenant at once */
  readonly mostOpen: number
}

export class TenantCalls {
  readonly #limits: CallLimits
  readonly #open = new Map<string, number>()

  constructor(limits: CallLimits) {
    this.#limits = limits
  }

  /** Gives what ends the call. `RATE_LIMITED` beyond the bounds. */
  take(tenant: string): () => void {
    const { takeCall, mostOpen } = this.#limits
    const open = this.#open.get(tenant) ?? 0
    if (open >= mostOpen) {
      throw new AppError('RATE_LIMITED', `${mostOpen} calls of webscripts are open; go on when one is over`)
    }
    const wait = takeCall(tenant)
    if (wait > 0) throw new AppError('RATE_LIMITED', `Too many calls of webscripts in a second; go on in ${wait} s`)
    this.#open.set(tenant, open + 1)
    let isOver = false
    return () => {
      if (isOver) return
      isOver = true
      const left = (this.#open.get(tenant) ?? 1) - 1
      if (left === 0) this.#open.delete(tenant)
      else this.#open.set(tenant, left)
    }
  }
}
