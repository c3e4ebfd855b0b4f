/** Hosts of a cluster over one store in memory, each of which can stall at any point. */
import { HOST_RECORDS } from '../../../src/cluster/placement/cluster-records.ts'
import { OpenTenants } from '../../../src/cluster/placement/open-tenants.ts'
import { Placement, TTL_MS } from '../../../src/cluster/placement/placement.ts'
import type { Store } from '../../../src/storage/contract.ts'
import { fenceStore, takeFence } from '../../../src/storage/fence-store.ts'
import { openMemory } from '../../../src/storage/memory/open-memory.ts'

interface ModelHost {
  readonly id: string
  readonly placement: Placement
  readonly tenants: OpenTenants<Opened>
  /** undefined: it runs */
  frozen: { readonly until: Promise<void>; readonly wake: () => void } | undefined
  isDead: boolean
}

interface Opened {
  readonly store: Store
  readonly term: number
}

const silent = { warn: () => undefined, error: () => undefined }

export class ModelCluster {
  readonly #hosts = new Map<number, ModelHost>()
  readonly #acknowledged = new Map<string, number[]>()
  /** Whether the store tells who is there; it does not until then. */
  isTelling = false
  /** hosts that it takes for gone, though they are not */
  readonly #missed = new Set<number>()
  #ms = 1_000_000
  #offset = 0
  #lives = 0
  #writes = 0
  readonly #storage = openMemory({ clock: () => this.#ms + this.#offset })

  get store(): Store {
    return this.#storage.tenant('_host')
  }

  /** A host that is there already goes on. */
  join(number: number, replay = 1): void {
    if (this.#hosts.get(number)?.isDead === false) return
    const id = `host-${number}-${(this.#lives += 1)}`
    const isAwake = (): Promise<void> => host.frozen?.until ?? (host.isDead ? new Promise(() => undefined) : done)
    const done = Promise.resolve()
    const around = (store: Store): Store => halting(store, isAwake)
    const placement = new Placement({
      store: around(this.store),
      id,
      presence: { among: async () => this.#among() },
      url: `http://${id}`,
      program: { version: '1', replay },
      elapsed: () => this.#ms,
      gained: () => tenants.gained(),
      lost: (slots) => tenants.lost(slots),
      release: (slot) => tenants.release(slot),
    })
    const tenants: OpenTenants<Opened> = new OpenTenants<Opened>({
      tenants: () => this.#storage.tenants(),
      locate: (tenant) => placement.of(tenant),
      open: async (tenant, term, lost) => {
        const store = around(this.#storage.tenant(tenant))
        const fence = await takeFence(store, 'owner', { holder: id, term })
        return { store: fenceStore(store, fence, lost), term }
      },
      close: async ({ store, term }) => void (await store.log('closed').append([{ id, term }])),
      logger: silent,
    })
    const host: ModelHost = { id, placement, tenants, frozen: undefined, isDead: false }
    this.#hosts.set(number, host)
    this.look(number)
  }

  placementOf(number: number): Placement {
    const host = this.#hosts.get(number)
    if (host === undefined) throw new Error(`host ${number} has not joined`)
    return host.placement
  }

  look(number: number): void {
    const host = this.#hosts.get(number)
    if (host === undefined || host.isDead) return
    void host.placement.look().catch(() => undefined)
    void host.tenants.complete()
  }

  /** What the host takes for its tenant's next entry; it may be refused, and it may come very late. */
  write(number: number, tenant: string): void {
    const host = this.#hosts.get(number)
    if (host !== undefined && !host.isDead) void this.#write(host, tenant)
  }

  async writeAnywhere(tenant: string): Promise<boolean> {
    const places = [...this.#hosts.values()].filter(({ isDead, frozen }) => !isDead && frozen === undefined)
    const here = places.filter(({ placement }) => placement.of(tenant).kind === 'here')
    if (here.length !== 1) return false
    return here[0] !== undefined && (await this.#write(here[0], tenant))
  }

  async #write({ id, tenants }: ModelHost, tenant: string): Promise<boolean> {
    const n = (this.#writes += 1)
    try {
      const { store, term } = tenants.get(tenant) ?? (await tenants.opened(tenant))
      await store.log('written').append([{ id, term, n }])
    } catch {
      return false
    }
    this.#acknowledged.set(tenant, [...(this.#acknowledged.get(tenant) ?? []), n])
    return true
  }

  crash(number: number): void {
    const host = this.#hosts.get(number)
    if (host === undefined) return
    host.isDead = true
    host.frozen = undefined
  }

  freeze(number: number): void {
    const host = this.#hosts.get(number)
    if (host === undefined || host.isDead || host.frozen !== undefined) return
    let wake = (): void => undefined
    const until = new Promise<void>((resolve) => (wake = resolve))
    host.frozen = { until, wake }
  }

  wake(number: number): void {
    const host = this.#hosts.get(number)
    const frozen = host?.frozen
    if (host !== undefined) host.frozen = undefined
    frozen?.wake()
  }

  /** The store takes the host for gone, or no longer. */
  miss(number: number): void {
    if (!this.#missed.delete(number)) this.#missed.add(number)
  }

  #among(): ReadonlySet<string> | undefined {
    const there = [...this.#hosts].filter(([number, { isDead }]) => !isDead && !this.#missed.has(number))
    return this.isTelling ? new Set(there.map(([, { id }]) => id)) : undefined
  }

  wakeAll(): void {
    this.#missed.clear()
    for (const number of this.#hosts.keys()) this.wake(number)
  }

  drain(number: number): void {
    this.#hosts.get(number)?.placement.drain()
  }

  pass(ms: number): void {
    this.#ms += ms
  }

  /** Until whoever says nothing from now on is gone by the clock of the store. */
  async passUntilGone(): Promise<void> {
    const hosts = await this.store.collection(HOST_RECORDS).find({})
    const now = this.#ms + this.#offset
    this.pass(Math.max(now, ...hosts.map(({ value }) => value.seen)) - now + TTL_MS + 1)
  }

  setClock(by: number): void {
    this.#offset += by
  }

  async lookOne(number: number): Promise<void> {
    this.look(number)
    await this.settle()
  }

  async lookAll(times: number): Promise<void> {
    for (let time = 0; time < times; time += 1) {
      for (const number of this.#hosts.keys()) await this.lookOne(number)
    }
  }

  idsOfLive(): ReadonlySet<string> {
    return new Set([...this.#hosts.values()].filter(({ isDead }) => !isDead).map(({ id }) => id))
  }

  acknowledged(tenant: string): readonly number[] {
    return this.#acknowledged.get(tenant) ?? []
  }

  async written(tenant: string): Promise<readonly { id: string; term: number; n: number }[]> {
    const entries = await this.#storage.tenant(tenant).log('written').read(0, 10_000)
    return entries.map(({ body }) => body as { id: string; term: number; n: number })
  }

  async closed(tenant: string): Promise<readonly unknown[]> {
    return (await this.#storage.tenant(tenant).log('closed').read(0)).map(({ body }) => body)
  }

  /** Resolves when all that can go on has gone on: everything here is a chain of promises. */
  async settle(): Promise<void> {
    for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve))
  }
}

/** The same store, for a host that may stand still before a question is asked, and before its answer is heard. */
function halting(store: Store, isAwake: () => Promise<void>): Store {
  const halted = <A extends unknown[], R>(work: (...given: A) => Promise<R>) => {
    return async (...given: A): Promise<R> => {
      await isAwake()
      const result = await work(...given)
      await isAwake()
      return result
    }
  }
  const wrap = <T extends object>(inner: T): T =>
    new Proxy(inner, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name)
        if (typeof member !== 'function') return member
        const bound = member.bind(target) as (...given: unknown[]) => unknown
        if (name === 'collection' || name === 'log') return (given: never) => wrap(bound(given) as object)
        if (['putting', 'deleting', 'expecting', 'appending'].includes(String(name))) return bound
        return halted(bound as (...given: unknown[]) => Promise<unknown>)
      },
    })
  return wrap(store)
}
