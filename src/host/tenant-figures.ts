/** Sums metrics of services that exist once per tenant over all open tenants; totals also include closed tenants. */
import type {
  ByStatus,
  ByTenant,
  ConnectorFigures,
  Gauges,
  Kept,
  ReadingReason,
  TenantFigure,
  Ways,
  Work,
} from './gauges.ts'
import { LABELLED_TENANTS } from './tenant-metrics.ts'
import type { ServiceRegistry } from './wiring/service-registry.ts'

type Read<V> = (registry: ServiceRegistry) => V | undefined

const NO_WORK: Work = { inputs: 0, steps: 0, firings: 0, held: 0, dropped: 0 }
const NO_RECORDS: ConnectorFigures = { lag: 0, accepted: 0, rejected: 0, retried: 0 }
const NO_WAYS: Ways = { vectorized: 0, rows: 0, why: {} }

export class TenantFigures {
  readonly #gauges: Gauges
  /** open tenants, with their labels */
  readonly #open = new Map<ServiceRegistry, string>()
  readonly #labels = new Set<string>()
  readonly #keep: ((ended: ServiceRegistry, label: string) => void)[] = []

  constructor(gauges: Gauges) {
    this.#gauges = gauges
  }

  began(registry: ServiceRegistry, tenant: string): void {
    if (this.#labels.size < LABELLED_TENANTS) this.#labels.add(tenant)
    this.#open.set(registry, this.#labels.has(tenant) ? tenant : '')
  }

  ended(registry: ServiceRegistry): void {
    const label = this.#open.get(registry)
    if (label === undefined) return
    this.#open.delete(registry)
    for (const keep of this.#keep) keep(registry, label)
  }

  queue(name: string, read: Read<number>): void {
    this.#gauges.watchQueue(name, () => this.#read(read).reduce(plus, 0))
  }

  total(name: string, read: Read<number>): void {
    this.#gauges.watchTotal(name, this.#lasting(0, plus, read))
  }

  readings(reason: ReadingReason, read: Read<number>): void {
    this.#gauges.watchReadings(reason, this.#lasting(0, plus, read))
  }

  work(read: Read<Work>): void {
    this.#gauges.watchWork(this.#lasting(NO_WORK, addWork, read))
  }

  ways(read: Read<Ways>): void {
    this.#gauges.watchWays(this.#lasting(NO_WAYS, addWays, read))
  }

  kept(read: Read<Kept>): void {
    this.#gauges.watchKept(() => this.#read(read).reduce(addKept, { bytes: 0, messages: 0, oldest: undefined }))
  }

  connectors(read: Read<ConnectorFigures>): void {
    this.#gauges.watchConnectors(this.#lasting(NO_RECORDS, addRecords, read))
  }

  tasks(read: Read<Promise<ByStatus>>): void {
    this.#gauges.watchTasks(async () => (await Promise.all(this.#read(read))).reduce(addCounts, {}))
  }

  deliveries(read: Read<ByStatus>): void {
    const past = new Map<string, ByStatus>()
    this.#keep.push((ended, label) => addTo(past, label, read(ended)))
    this.#gauges.watchByTenant('deliveries', () => {
      const sums = new Map(past)
      for (const [registry, label] of this.#open) addTo(sums, label, read(registry))
      return sums
    })
  }

  /** `read`: present numbers, which may take a moment; a tenant whose numbers cannot be read is left out */
  byTenant(figure: TenantFigure, read: Read<Promise<ByStatus>>): void {
    this.#gauges.watchByTenant(figure, async (): Promise<ByTenant> => {
      const sums = new Map<string, ByStatus>()
      for (const [registry, label] of this.#open) addTo(sums, label, await read(registry)?.catch(() => undefined))
      return sums
    })
  }

  #read<V>(read: Read<V>): V[] {
    return [...this.#open.keys()].flatMap((registry) => read(registry) ?? [])
  }

  #lasting<V extends number | Work | Ways | ConnectorFigures>(none: V, add: (a: V, b: V) => V, read: Read<V>): () => V {
    let past = none
    this.#keep.push((ended) => (past = add(past, read(ended) ?? none)))
    return () => this.#read(read).reduce(add, past)
  }
}

function addTo(sums: Map<string, ByStatus>, label: string, counts: ByStatus | undefined): void {
  if (counts !== undefined) sums.set(label, addCounts(sums.get(label) ?? {}, counts))
}

function plus(a: number, b: number): number {
  return a + b
}

function addKept(a: Kept, b: Kept): Kept {
  const oldest = [a.oldest, b.oldest].filter((at) => at !== undefined)
  return {
    bytes: a.bytes + b.bytes,
    messages: a.messages + b.messages,
    oldest: oldest.length === 0 ? undefined : Math.min(...oldest),
  }
}

/** A connector that has ended has no lag. */
function addRecords(past: ConnectorFigures, { lag, accepted, rejected, retried }: ConnectorFigures): ConnectorFigures {
  return {
    lag: past.lag + lag,
    accepted: past.accepted + accepted,
    rejected: past.rejected + rejected,
    retried: past.retried + retried,
  }
}

function addWork(a: Work, b: Work): Work {
  return {
    inputs: a.inputs + b.inputs,
    steps: a.steps + b.steps,
    firings: a.firings + b.firings,
    held: a.held + b.held,
    dropped: a.dropped + b.dropped,
  }
}

function addWays(a: Ways, b: Ways): Ways {
  return { vectorized: a.vectorized + b.vectorized, rows: a.rows + b.rows, why: addCounts(a.why, b.why) }
}

function addCounts(a: ByStatus, b: ByStatus): ByStatus {
  const sum = new Map(Object.entries(a))
  for (const [name, count] of Object.entries(b)) sum.set(name, (sum.get(name) ?? 0) + count)
  return Object.fromEntries(sum)
}
