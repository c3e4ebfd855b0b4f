/** Limits the calls of a tenant: rate, concurrency and CPU time. */
import { AppError, CpuAllowance, type CpuRate } from '#kernel'

export interface CallLimits {
  /** Returns the seconds until the next call is allowed; 0: now. */
  readonly takeCall: () => number
  readonly mostOpen: number
  readonly cpu: CpuRate
}

export interface CallQuotaOptions extends CallLimits {
  readonly cpuMs: () => number
  /** monotonic ms */
  readonly clock: () => number
}

export class CallQuota {
  readonly #options: CallQuotaOptions
  readonly #cpu: CpuAllowance
  #open = 0

  constructor(options: CallQuotaOptions) {
    this.#options = options
    this.#cpu = new CpuAllowance(options.cpu)
  }

  /** Counts a call against the rate. Throws `RATE_LIMITED`, whose `cause` is the seconds to wait. */
  admit(): void {
    const { cpuMs, clock, takeCall } = this.#options
    this.#refuseBeyondOpen()
    const cpuWait = this.#cpu.waitAfter(cpuMs(), clock())
    if (cpuWait > 0) throw refused('Webscripts of the tenant used too much CPU time', cpuWait)
    const wait = takeCall()
    if (wait > 0) throw refused('Too many calls of webscripts per second', wait)
  }

  /** Returns a function that ends the call, to be called once. */
  begin(): () => void {
    this.#refuseBeyondOpen()
    this.#open += 1
    return () => (this.#open -= 1)
  }

  #refuseBeyondOpen(): void {
    const { mostOpen } = this.#options
    if (this.#open < mostOpen) return
    throw new AppError('RATE_LIMITED', `${mostOpen} calls of webscripts are open; retry when one has ended`)
  }
}

function refused(why: string, seconds: number): AppError {
  return new AppError('RATE_LIMITED', `${why}; retry in ${seconds} s`, { cause: seconds })
}
