/** Reports damaged data as errors, and counts it. */
import { AppError, type Logger } from '#kernel'

export function damaged(what: string): AppError {
  return new AppError(
    'DAMAGED',
    `${what} is damaged: the disk contains other bytes than were written. "reflexarc doctor" lists all damage of the data folder`,
  )
}

/** maximum number of texts that are remembered to be logged only once, since a damaged record may be read repeatedly */
const MAX_LOGGED = 100

/** Counts reads that found damage, for /health and /metrics, and logs each damaged place once. */
export class DamageWatch {
  readonly #logger: Pick<Logger, 'error'> | undefined
  readonly #logged = new Set<string>()
  #count = 0

  constructor(logger?: Pick<Logger, 'error'>) {
    this.#logger = logger
  }

  get count(): number {
    return this.#count
  }

  /** Text for /health; undefined when no damage was found. */
  get trouble(): string | undefined {
    const [first] = this.#logged
    return first === undefined ? undefined : `The store is damaged (${this.#count} reads failed): ${first}`
  }

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
