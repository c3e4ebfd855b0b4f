/** Errors and counts of damaged data. */
import { AppError, type Logger } from '#kernel'

export function damaged(what: string): AppError {
  return new AppError(
    'DAMAGED',
    `${what} is not as it was written: the disk has other bytes. "reflexarc doctor" lists all damage of the data folder`,
  )
}

/** texts that are logged once each: a damaged record may be read repeatedly */
const MAX_LOGGED = 100

/** Counts reads that found damage, for /health and /metrics, and logs each damaged place once. */
export class DamageWatch {
  readonly #logger: Pick<Logger, 'error'> | undefined
  readonly #logged = new Set<string>()
  #count = 0

  constructor(logger?: Pick<Logger, 'error'>) {
    this.#logger = logger
  }

  /** failed reads and writes since the start */
  get count(): number {
    return this.#count
  }

  /** For /health; undefined: no damage was found. */
  get trouble(): string | undefined {
    const [first] = this.#logged
    return first === undefined ? undefined : `The store is damaged (${this.#count} reads failed): ${first}`
  }

  /** Counts a `DAMAGED` error; ignores others. */
  note(error: unknown): void {
    if (!(error instanceof AppError) || error.code !== 'DAMAGED') return
    this.#count += 1
    if (this.#logged.size >= MAX_LOGGED || this.#logged.has(error.message)) return
    this.#logged.add(error.message)
    this.#logger?.error(`the store is damaged: ${error.message}`)
  }

  watch<T>(work: () => T): T {
    try {
      return work()
    } catch (error) {
      this.note(error)
      throw error
    }
  }
}
