/** The figures of services that are made several times in one process, once for each tenant: one figure for all of them. */
import type { ByStatus, Gauges, Ways, Work } from '../gauges.ts'

/** What one set of services tells. */
export interface GaugesOfTenant {
  readonly gauges: Gauges
  /** They are gone: what they counted stays counted. */
  end(): void
}

export class SummedGauges {
  readonly #host: Gauges
  readonly #queues = new Map<string, Sum<number>>()
  readonly #totals = new Map<string, Sum<number>>()
  readonly #readings = new Map<string, Sum<number>>()
  readonly #work: Sum<Work>
  readonly #ways: Sum<Ways>
  readonly #tasks = new Set<() => ByStatus | Promise<ByStatus>>()

  constructor(host: Gauges) {
    this.#host = host
    this.#work = new Sum({ inputs: 0, steps: 0, firings: 0, held: 0, dropped: 0 }, addNumbers)
    this.#ways = new Sum<Ways>({ vectorized: 0, rows: 0, why: {} }, (a, b) => ({
      vectorized: a.vectorized + b.vectorized,
      rows: a.rows + b.rows,
      why: addCounts(a.why, b.why),
    }))
    host.watchWork(() => this.#work.value)
    host.watchWays(() => this.#ways.value)
    host.watchTasks(async () => {
      const counts = await Promise.all([...this.#tasks].map(async (read) => read()))
      return counts.reduce(addCounts, {})
    })
  }

  of(): GaugesOfTenant {
    const ends: (() => void)[] = []
    const told = <V>(sum: Sum<V>, read: () => V): void => void ends.push(sum.watch(read))
    const named = (sums: Map<string, Sum<number>>, name: string, tell: (read: () => number) => void): Sum<number> => {
      const known = sums.get(name)
      if (known !== undefined) return known
      const sum = new Sum(0, (a, b) => a + b)
      sums.set(name, sum)
      tell(() => sum.value)
      return sum
    }
    const host = this.#host
    return {
      gauges: {
        plugTook: (ms) => host.plugTook(ms),
        watchWork: (read) => told(this.#work, read),
        watchWays: (read) => told(this.#ways, read),
        watchTasks: (read) => {
          this.#tasks.add(read)
          ends.push(() => this.#tasks.delete(read))
        },
        // nothing waits any more in what is gone
        watchQueue: (name, read) => {
          const queue = named(this.#queues, name, (sum) => host.watchQueue(name, sum))
          ends.push(queue.watch(read, 0))
        },
        watchTotal: (name, read) =>
          told(
            named(this.#totals, name, (sum) => host.watchTotal(name, sum)),
            read,
          ),
        watchReadings: (reason, read) =>
          told(
            named(this.#readings, reason, (sum) => host.watchReadings(reason, sum)),
            read,
          ),
        watchClock: (read) => host.watchClock(read),
        watchCommits: (read) => host.watchCommits(read),
      },
      end: () => {
        for (const end of ends.splice(0)) end()
      },
    }
  }
}

class Sum<V> {
  readonly #add: (a: V, b: V) => V
  readonly #readers = new Set<() => V>()
  /** of those that are gone */
  #past: V

  constructor(zero: V, add: (a: V, b: V) => V) {
    this.#past = zero
    this.#add = add
  }

  get value(): V {
    let value = this.#past
    for (const read of this.#readers) value = this.#add(value, read())
    return value
  }

  /** Gives how to end it; `rest` is what then stays of it, by default what it read last. */
  watch(read: () => V, rest?: V): () => void {
    this.#readers.add(read)
    return () => {
      if (this.#readers.delete(read)) this.#past = this.#add(this.#past, rest ?? read())
    }
  }
}

function addNumbers(a: Work, b: Work): Work {
  return {
    inputs: a.inputs + b.inputs,
    steps: a.steps + b.steps,
    firings: a.firings + b.firings,
    held: a.held + b.held,
    dropped: a.dropped + b.dropped,
  }
}

function addCounts(a: ByStatus, b: ByStatus): ByStatus {
  const sum = new Map(Object.entries(a))
  for (const [name, count] of Object.entries(b)) sum.set(name, (sum.get(name) ?? 0) + count)
  return Object.fromEntries(sum)
}
