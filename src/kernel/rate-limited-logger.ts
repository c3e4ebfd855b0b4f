/** Logs the first of several similar messages, and reports the count of its repeats at the end of an interval. */

/** ms during which repeats are only counted */
const WINDOW_MS = 10_000
/** Most kinds tracked separately; beyond that, all lines with the same message share a kind. */
const MAX_KINDS = 1_000

type Details = Readonly<Record<string, unknown>>

export interface RateLimitedLoggerOptions {
  write(message: string, details: Details): void
  after(ms: number, work: () => void): () => void
}

export class RateLimitedLogger {
  readonly #options: RateLimitedLoggerOptions
  /** by kind: the number of repeats since the last logged line, and the details of the latest repeat */
  readonly #windows = new Map<string, { count: number; details: Details }>()

  constructor(options: RateLimitedLoggerOptions) {
    this.#options = options
  }

  /** Logs a line. Lines with the same message and `about` are of one kind. */
  log(message: string, about: string, details: Details): void {
    const kind = this.#windows.size < MAX_KINDS ? `${message}\n${about}` : message
    const window = this.#windows.get(kind)
    if (window !== undefined) {
      window.count++
      window.details = details
      return
    }
    this.#options.write(message, details)
    this.#open(kind, message, details)
  }

  #open(kind: string, message: string, details: Details): void {
    const window = { count: 0, details }
    this.#windows.set(kind, window)
    this.#options.after(WINDOW_MS, () => {
      this.#windows.delete(kind)
      if (window.count === 0) return
      this.#options.write(message, { ...window.details, times: window.count })
      this.#open(kind, message, window.details)
    })
  }
}
