/** What is damaged on the disk: how it is named when it is read, and who counts it. */
import { AppError, type Logger } from '#kernel'

/** `what` begins a sentence. */
export function damaged(what: string): AppError {
  return new AppError(
    'DAMAGED',
    `${what} is not as it was written: the disk has other bytes. "reflexarc doctor" lists all damage of the data folder`,
  )
}

/** texts that are logged, each once: a damaged place may be read again and again */
const MAX_LOGGED = 100

/** Counts the reads that found damage, for /health and /metrics, and logs each damaged place once. */
export class DamageWatch {
  readonly #logger: Pick<Logger, 'error'> | undefined
  readonly #logged = new Set<string>()
  #count = 0

  constructor(logger?: Pick<Logger, 'error'>) {
    this.#logger = logger
  }

  /** reads and writes that failed for it since the start */
  get count(): number {
    return this.#count
  }

  /** Why the store is not well; undefined: no damage was found. */
  get trouble(): string | undefined {
    const [first] = this.#logged
    return first === undefined ? undefined : `The store is damaged (${this.#count} reads failed): ${first}`
  }

  /** To be called with whatever the store throws; other errors count nothing. */
  note(error: unknown): void {
    if (!(error instanceof AppError) || error.code !== 'DAMAGED') return
    this.#count += 1
    if (this.#logged.size >= MAX_LOGGED || this.#logged.has(error.message)) return
    this.#logged.add(error.message)
    this.#logger?.error(`the store is damaged: ${error.message}`)
  }

  /** Notes why `work` failed. */
  watch<T>(work: () => T): T {
    try {
      return work()
    } catch (error) {
      this.note(error)
      throw error
    }
  }
}
