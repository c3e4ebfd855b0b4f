/** Numbers for queries by rank, sorted in runs as they arrive, so that no single sort blocks the event loop. */
export class SortedRuns {
  readonly #runs: Float64Array[] = []
  #open = new Float64Array(16)
  #count = 0
  #size = 0

  get size(): number {
    return this.#size
  }

  add(value: number): void {
    this.#size += 1
    if (this.#count === this.#open.length) {
      const larger = new Float64Array(Math.min(this.#count * 4, RUN))
      larger.set(this.#open)
      this.#open = larger
    }
    this.#open[this.#count++] = value
    if (this.#count === RUN) this.#close()
  }

  /** Returns the number at an index of the ascending order, from 0; NaN outside. */
  at(index: number): number {
    if (this.#count > 0) this.#close()
    if (this.#runs.length > 1) return select(this.#runs, index)
    return this.#runs[0]?.[index] ?? Number.NaN
  }

  #close(): void {
    this.#runs.push(this.#open.subarray(0, this.#count).sort())
    this.#open = new Float64Array(16)
    this.#count = 0
  }
}

const RUN = 10_000

interface Part {
  readonly run: Float64Array
  /** the remaining range: from `low` to `high`, exclusive */
  low: number
  high: number
}

function select(runs: readonly Float64Array[], index: number): number {
  const parts: Part[] = runs.map((run) => ({ run, low: 0, high: run.length }))
  let rank = index
  for (;;) {
    const widest = parts.reduce((most, part) => (part.high - part.low > most.high - most.low ? part : most))
    const pivot = widest.run[(widest.low + widest.high) >> 1]
    if (pivot === undefined || widest.high <= widest.low) return Number.NaN
    const below = parts.map((part) => edge(part, (value) => value < pivot))
    const upTo = parts.map((part) => edge(part, (value) => value <= pivot))
    const smaller = countOf(parts, below)
    if (rank < smaller) {
      for (const [i, part] of parts.entries()) part.high = below[i] ?? part.high
      continue
    }
    const within = countOf(parts, upTo)
    if (rank < within) return pivot
    rank -= within
    for (const [i, part] of parts.entries()) part.low = upTo[i] ?? part.low
  }
}

/** Returns where the values that are `before` end, within the remaining range of a run. */
function edge({ run, low, high }: Part, before: (value: number) => boolean): number {
  let [start, end] = [low, high]
  while (start < end) {
    const middle = (start + end) >> 1
    if (before(run[middle] ?? Number.NaN)) start = middle + 1
    else end = middle
  }
  return start
}

function countOf(parts: readonly Part[], edges: readonly number[]): number {
  return parts.reduce((sum, part, i) => sum + (edges[i] ?? part.low) - part.low, 0)
}
