/** Shows a progress bar on one line of a terminal. */

const REDRAW_MS = 100
const WIDTH = 30
const ERASE_LINE = '\r\u001b[2K'

/** Draws a bar on one line, at most ten times a second. Without a terminal, draws nothing. */
export class Progress {
  readonly #write: (text: string) => void
  readonly #now: () => number
  #drawnAt: number
  #drawn = false

  /** `now`: in ms; nothing is drawn in the first 100 ms, so that short runs do not flicker */
  constructor(write: (text: string) => void, now: () => number) {
    this.#write = write
    this.#now = now
    this.#drawnAt = now()
  }

  show(share: number, text: string): void {
    const now = this.#now()
    if (now - this.#drawnAt < REDRAW_MS) return
    this.#drawnAt = now
    this.#drawn = true
    const bounded = Math.min(1, Math.max(0, Number.isFinite(share) ? share : 0))
    const full = Math.round(bounded * WIDTH)
    const bar = '█'.repeat(full) + '░'.repeat(WIDTH - full)
    this.#write(`${ERASE_LINE}${bar} ${String(Math.floor(bounded * 100)).padStart(3)} %  ${text}`)
  }

  clear(): void {
    if (this.#drawn) this.#write(ERASE_LINE)
    this.#drawn = false
  }
}
