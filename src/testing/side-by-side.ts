/** Work of which some waits for something outside: then the next begins meanwhile, and only so many at once. */
import { timer } from 'rxjs'

export class SideBySide {
  readonly #most: number
  readonly #running = new Set<Promise<void>>()

  /** `most`: from 1 */
  constructor(most: number) {
    this.#most = most
  }

  /**
   * Resolves when the work is done, or waits for something that promises alone do not bring: what never does runs one
   * after the other. `work` must not reject.
   */
  async begin(work: () => Promise<void>): Promise<void> {
    while (this.#running.size >= this.#most) await Promise.race(this.#running)
    const running: Promise<void> = work().finally(() => this.#running.delete(running))
    this.#running.add(running)
    await Promise.race([running, ...(this.#most > 1 ? [turnOver(running)] : [])])
  }

  /** Resolves when all of it is done. */
  async idle(): Promise<void> {
    await Promise.all(this.#running)
  }
}

/** Resolves at the next turn of timers, which no chain of settled promises lets come. */
function turnOver(unless: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    const turn = timer(0).subscribe(() => resolve())
    void unless.then(() => turn.unsubscribe())
  })
}
