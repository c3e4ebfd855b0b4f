/** What a tenant may call: so many in a second, so many at once, and with so much CPU time. */
import { AppError, CpuAllowance, type CpuRate, LruCache } from '#kernel'

export interface CallLimits {
  /** Seconds until a tenant may call again; 0: now. */
  readonly takeCall: (tenant: string) => number
  /** calls of a tenant at once */
  readonly mostOpen: number
  /** of a tenant */
  readonly cpu: CpuRate
  /** ms of CPU time that the functions of a tenant have taken so far */
  readonly cpuMs: (tenant: string) => number
  /** ms of a clock that never goes back */
  readonly clock: () => number
}

const MAX_TENANTS = 10_000

export class TenantCalls {
  readonly #limits: CallLimits
  readonly #open = new Map<string, number>()
  readonly #cpu = new LruCache<string, CpuAllowance>(MAX_TENANTS)

  constructor(limits: CallLimits) {
    this.#limits = limits
  }

  /** Counts one that may be made. `RATE_LIMITED` beyond the bounds, whose `cause` is the seconds to wait. */
  admit(tenant: string): void {
    this.#refuseBeyondOpen(tenant)
    const cpuWait = this.#cpuWait(tenant)
    if (cpuWait > 0) throw refused('Webscripts of the tenant took too much CPU time', cpuWait)
    const wait = this.#limits.takeCall(tenant)
    if (wait > 0) throw refused('Too many calls of webscripts in a second', wait)
  }

  /** Returns what ends the call, once. `RATE_LIMITED` when too many are open. */
  begin(tenant: string): () => void {
    this.#refuseBeyondOpen(tenant)
    this.#open.set(tenant, (this.#open.get(tenant) ?? 0) + 1)
    return () => {
      const left = (this.#open.get(tenant) ?? 1) - 1
      if (left === 0) this.#open.delete(tenant)
      else this.#open.set(tenant, left)
    }
  }

  #refuseBeyondOpen(tenant: string): void {
    const { mostOpen } = this.#limits
    if ((this.#open.get(tenant) ?? 0) < mostOpen) return
    throw new AppError('RATE_LIMITED', `${mostOpen} calls of webscripts are open; go on when one is over`)
  }

  /** s */
  #cpuWait(tenant: string): number {
    const { cpu, cpuMs, clock } = this.#limits
    const allowance = this.#cpu.get(tenant) ?? new CpuAllowance(cpu)
    this.#cpu.set(tenant, allowance)
    return allowance.waitAfter(cpuMs(tenant), clock())
  }
}

function refused(why: string, seconds: number): AppError {
  return new AppError('RATE_LIMITED', `${why}; go on in ${seconds} s`, { cause: seconds })
}
