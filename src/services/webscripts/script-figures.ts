/** Collects metrics of a webscript on this host: counts, and latency until responses begin. */
import type { ScriptMetrics } from './webscript-schema.ts'

/** Latency classes grow by a tenth each, starting at 0.1 ms; 150 classes reach beyond a day. */
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
    const index = Math.min(CLASSES - 1, Math.max(0, Math.ceil(Math.log(Math.max(ms, LEAST) / LEAST) / WIDTH)))
    this.#classes[index] = (this.#classes[index] ?? 0) + 1
  }

  get metrics(): ScriptMetrics {
    const { open, coldStarts, bytesIn, bytesOut, errors } = this
    return { calls: this.#calls, errors, coldStarts, open, p50: this.#at(0.5), p99: this.#at(0.99), bytesIn, bytesOut }
  }

  #at(share: number): number {
    let left = this.#calls * share
    if (left === 0) return 0
    for (const [index, count] of this.#classes.entries()) {
      left -= count
      if (left <= 0) return Number((LEAST * Math.exp(index * WIDTH)).toPrecision(3))
    }
    return 0
  }
}
