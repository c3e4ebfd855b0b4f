/**
 * Forgets entries of the broker's log that series have. Not at once: series reach the disk later than the log does, and
 * after a power cut the log must still have what series had not written down.
 */
import type { Log } from '#storage'
import { PARTITION } from './log-entry.ts'

/** ms that an entry stays after it was applied */
const LAG_MS = 120_000
/** entries that stay at most: beyond them the lag is shorter */
const MAX_ENTRIES = 2_000_000

export class LogTrim {
  readonly #log: Log
  readonly #elapsed: () => number
  /** what was applied, and when that was seen; oldest first */
  readonly #marks: { readonly at: number; readonly position: number }[] = []
  #trimmed = 0

  /** `elapsed`: ms since some moment, whatever the clock is set to. */
  constructor(log: Log, elapsed: () => number) {
    this.#log = log
    this.#elapsed = elapsed
  }

  async sweep(applied: number): Promise<void> {
    const now = this.#elapsed()
    let upTo = Math.max(0, applied - MAX_ENTRIES)
    while (this.#marks.length > 0 && (this.#marks[0]?.at ?? 0) <= now - LAG_MS) {
      upTo = Math.max(upTo, this.#marks.shift()?.position ?? 0)
    }
    if ((this.#marks.at(-1)?.position ?? 0) < applied) this.#marks.push({ at: now, position: applied })
    // the newest stays: who saw it last can tell that nothing came since
    upTo = Math.min(upTo, applied - 1)
    if (upTo <= this.#trimmed) return
    await this.#log.trim(PARTITION, upTo)
    this.#trimmed = upTo
  }
}
