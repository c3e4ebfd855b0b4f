/** Describes the data that a resource had. Counts messages as they pass, in constant memory. */
import type { Message } from '#core'
import type { CoverageItem, Fidelity } from './rehearsal-schema.ts'

const MAX_GAPS = 10
/** a pause is a gap if it is this many times as long as the usual pause */
const UNUSUAL = 10

export class CoverageCount {
  readonly #resource: string | undefined
  readonly #fidelity: Fidelity
  readonly #initialState: CoverageItem['initialState']
  readonly #metrics = new Map<string, { count: number }>()
  /** number of pauses, indexed by the base-2 logarithm of their length */
  readonly #pauses: number[] = []
  /** the longest pauses, longest first */
  readonly #longest: { readonly from: number; readonly until: number }[] = []
  /** length of the last pause in ms, and its logarithm */
  #length = 0
  #size = 0
  #messages = 0
  #from: number | null = null
  #until: number | null = null

  constructor(resource: string | undefined, fidelity: Fidelity, initialState: CoverageItem['initialState'] = 'cold') {
    this.#resource = resource
    this.#fidelity = fidelity
    this.#initialState = initialState
  }

  note(message: Message, time: number): void {
    this.#messages++
    for (const name in message) {
      if (name === 'resource' || name === 'timestamp') continue
      const metric = this.#metrics.get(name)
      if (metric === undefined) this.#metrics.set(name, { count: 1 })
      else metric.count++
    }
    if (this.#until !== null && time > this.#until) this.#pause(this.#until, time)
    this.#from = Math.min(this.#from ?? time, time)
    this.#until = Math.max(this.#until ?? time, time)
  }

  get isEmpty(): boolean {
    return this.#messages === 0
  }

  get item(): CoverageItem {
    const usual = this.#usual
    return {
      resource: this.#resource ?? null,
      fidelity: this.#fidelity,
      initialState: this.#initialState,
      messages: this.#messages,
      from: this.#from,
      until: this.#until,
      gaps: this.#longest
        .filter(({ from, until }) => until - from > UNUSUAL * usual)
        .toSorted((a, b) => a.from - b.from),
      metrics: Object.fromEntries(this.#metrics),
    }
  }

  #pause(from: number, until: number): void {
    if (until - from !== this.#length) {
      this.#length = until - from
      this.#size = Math.ceil(Math.log2(this.#length))
    }
    const size = this.#size
    this.#pauses[size] = (this.#pauses[size] ?? 0) + 1
    const shortest = this.#longest.at(-1)
    if (this.#longest.length === MAX_GAPS && shortest && until - from <= shortest.until - shortest.from) return
    const place = this.#longest.findIndex((one) => one.until - one.from < until - from)
    this.#longest.splice(place === -1 ? this.#longest.length : place, 0, { from, until })
    this.#longest.length = Math.min(this.#longest.length, MAX_GAPS)
  }

  /** The usual pause in ms: between the median pause and twice that. */
  get #usual(): number {
    const total = this.#pauses.reduce((sum, count) => sum + (count ?? 0), 0)
    let below = 0
    for (const [size, count = 0] of this.#pauses.entries()) {
      below += count
      if (below * 2 >= total) return 2 ** size
    }
    return 0
  }
}
