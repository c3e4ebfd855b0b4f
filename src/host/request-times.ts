/**
 * Records request durations in a Prometheus histogram. Each observation costs two look-ups; the text is built on each
 * scrape.
 */
import type { Metric } from 'prom-client'

interface Counts {
  readonly method: string
  readonly route: string
  readonly status: number
  readonly buckets: number[]
  sum: number
  count: number
}

interface Value {
  readonly metricName: string
  readonly labels: Readonly<Record<string, string | number>>
  readonly value: number
}

export class RequestTimes {
  readonly name: string
  readonly help: string
  readonly type = 'histogram'
  readonly aggregator = 'sum'
  readonly #bounds: readonly number[]
  readonly #byRoute = new Map<string, Counts[]>()
  readonly #all: Counts[] = []

  /** `bounds`: upper bounds of the buckets in seconds, ascending */
  constructor(name: string, help: string, bounds: readonly number[]) {
    this.name = name
    this.help = help
    this.#bounds = bounds
  }

  observe(method: string, route: string, status: number, seconds: number): void {
    const counts = this.#countsOf(method, route, status)
    counts.sum += seconds
    counts.count++
    const bucket = this.#bounds.findIndex((bound) => seconds <= bound)
    if (bucket >= 0) counts.buckets[bucket] = (counts.buckets[bucket] ?? 0) + 1
  }

  get asMetric(): Metric {
    return this as unknown as Metric
  }

  async get() {
    const { name, help, type, aggregator } = this
    return { name, help, type, aggregator, values: this.#all.flatMap((counts) => this.#valuesOf(counts)) }
  }

  #countsOf(method: string, route: string, status: number): Counts {
    let ofRoute = this.#byRoute.get(route)
    if (ofRoute === undefined) this.#byRoute.set(route, (ofRoute = []))
    for (const counts of ofRoute) if (counts.status === status && counts.method === method) return counts
    const fresh = { method, route, status, buckets: this.#bounds.map(() => 0), sum: 0, count: 0 }
    ofRoute.push(fresh)
    this.#all.push(fresh)
    return fresh
  }

  #valuesOf({ method, route, status, buckets, sum, count }: Counts): readonly Value[] {
    const labels = { method, route, status }
    const value = (part: string, own: object, figure: number): Value => {
      return { metricName: `${this.name}_${part}`, labels: { ...own, ...labels }, value: figure }
    }
    let below = 0
    return [
      ...this.#bounds.map((le, i) => value('bucket', { le }, (below += buckets[i] ?? 0))),
      value('bucket', { le: '+Inf' }, count),
      value('sum', {}, sum),
      value('count', {}, count),
    ]
  }
}
