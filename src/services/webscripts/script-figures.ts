/** Figures of one webscript on this host: counts, and how long its answers took to begin. */
import type { ScriptMetrics } from './webscript-schema.ts'

/** Times are counted in classes, each a tenth wider than the one before, from 0.1 ms on: 150 reach beyond a day. */
const CLASSES = 150
const WIDTH = Math.log(1.1)
const LEAST = 0.1

export class ScriptFigures {
  open = 0
  coldStarts = 0
  bytesIn = 0
  bytesOut = 0
  errors = 0
  #calls = 0
  readonly #classes = new Uint32Array(CLASSES)

  answered(ms: number): void {
    this.#calls++
    const place = Math.min(CLASSES - 1, Math.max(0, Math.ceil(Math.log(Math.max(ms, LEAST) / LEAST) / WIDTH)))
    this.#classes[place] = (this.#classes[place] ?? 0) + 1
  }

  get metrics(): ScriptMetrics {
    const { open, coldStarts, bytesIn, bytesOut, errors } = this
    return { calls: this.#calls, errors, coldStarts, open, p50: this.#at(0.5), p99: this.#at(0.99), bytesIn, bytesOut }
  }

  /** The upper end of the class in which that share of all lies. */
  #at(share: number): number {
    let left = this.#calls * share
    if (left === 0) return 0
    for (const [place, count] of this.#classes.entries()) {
      left -= count
      if (left <= 0) return Number((LEAST * Math.exp(place * WIDTH)).toPrecision(3))
    }
    return 0
  }
}
