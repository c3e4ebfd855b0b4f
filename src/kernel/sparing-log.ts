/** A log for what anybody can cause as often as they like: what comes again soon is counted, and told later. */

/** ms in which what comes again is only counted */
const WINDOW_MS = 10_000
/** Kinds that are told apart; what comes besides shares one. */
const MAX_KINDS = 1_000

type Details = Readonly<Record<string, unknown>>

export interface SparingLogOptions {
  write(message: string, details: Details): void
  /** Does it after ms; gives how to call it off. */
  after(ms: number, work: () => void): () => void
}

export class SparingLog {
  readonly #options: SparingLogOptions
  /** by kind: how many were left out since the last line, and the details of the last of them */
  readonly #windows = new Map<string, { count: number; details: Details }>()

  constructor(options: SparingLogOptions) {
    this.#options = options
  }

  /** `about`: who or what it is about; lines of the same message and the same one are one kind. */
  tell(message: string, about: string, details: Details): void {
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
