/**
 * Simulates a storage medium that outlives the host and behaves like disks and databases. It is slow, refuses, is
 * unavailable or full for a while, and when the machine dies keeps some of the pending writes, or all without
 * confirming them. It wraps the in-memory medium and keeps the promises of the storage contract.
 */
import { AppError } from '../../../src/kernel/errors.ts'
import { JsonText } from '../../../src/kernel/json.ts'
import type {
  Blobs,
  Collection,
  Committed,
  Document,
  Expectation,
  Log,
  Series,
  Storage,
  Store,
  Write,
} from '../../../src/storage/contract.ts'
import { isInput, LOG_NAME } from '../../../src/log/message-entry.ts'
import { MemoryDisk } from '../../../src/storage/memory/memory-disk.ts'
import { SeriesData } from '../../../src/storage/memory/series-data.ts'
import { openMemory } from '../../../src/storage/memory/open-memory.ts'
import type { Chance } from './chance.ts'
import { LogWatch, readBody } from './log-watch.ts'
import type { VirtualLoop } from './virtual-loop.ts'

/** Trouble for a while: refuses everything, does not respond until it is over, or has no room for writes. */
export type Trouble = 'away' | 'stuck' | 'full'

/** Behavior without trouble. */
export interface Manners {
  /** maximum ms of a write */
  readonly writeMs: number
  /** maximum ms of a read */
  readonly readMs: number
  /** share of writes that are refused */
  readonly refused: number
  /** share of reads that are refused; absent: none */
  readonly unread?: number
  /** maximum ms until the result of a read arrives, while the data may change; absent: `readMs` */
  readonly lateMs?: number
}

export const CALM: Manners = { writeMs: 0, readMs: 0, refused: 0 }

/** Counts of what happened to the medium. */
export interface MediumCounts {
  commits: number
  refusedWrites: number
  refusedReads: number
  /** writes pending when the machine died: kept, and lost */
  keptUnanswered: number
  lost: number
  /** series writes that a power cut undid */
  lostSeries: number
}

/** A write that is not finished. */
interface Pending {
  /** performs the write, whatever else happens */
  apply(): Promise<unknown>
}

interface SeriesWrite {
  readonly tenant: string
  /** ms since the beginning of the run */
  readonly at: number
  /** no power cut undoes this write or the ones before it */
  readonly synced: boolean
  write(series: Series): Promise<unknown>
}

/** Writes that must keep their order. */
interface Lane {
  /** settles when the last write is finished or refused */
  readonly done: Promise<void>
  /** settles when the caller has been notified */
  readonly answered: Promise<void>
  readonly open: Pending[]
}

const NOTHING = Promise.resolve()

export class Medium {
  readonly #disk = new MemoryDisk()
  readonly #loop: VirtualLoop
  readonly #chance: Chance
  readonly #met: (tenant: string) => void
  readonly #watch: LogWatch
  readonly counts: MediumCounts = {
    commits: 0,
    refusedWrites: 0,
    refusedReads: 0,
    keptUnanswered: 0,
    lost: 0,
    lostSeries: 0,
  }
  manners: Manners = CALM
  #trouble: Trouble | undefined
  /** callbacks waiting for the end of the trouble */
  #held: (() => void)[] = []
  /** write lanes of the running machine, by file and tenant */
  readonly #lanes = new Map<string, Lane>()
  /** all series writes, in order */
  readonly #seriesWrites: SeriesWrite[] = []
  #inner: Storage | undefined
  /** number of the current machine; calls of earlier machines never return */
  #life = 0

  /** `met`: called when an input of a tenant's rules first meets trouble. `found`: called when a log is invalid. */
  constructor(
    loop: VirtualLoop,
    chance: Chance,
    { met, found }: { met: (tenant: string) => void; found: (text: string) => void },
  ) {
    this.#loop = loop
    this.#chance = chance
    this.#met = met
    this.#watch = new LogWatch(found)
  }

  get trouble(): Trouble | undefined {
    return this.#trouble
  }

  /** Returns the paths of a tenant's blobs on the disk. */
  blobsOf(tenant: string): readonly string[] {
    return [...(this.#disk.objects.get(tenant)?.keys() ?? [])]
  }

  begin(trouble: Trouble): void {
    this.#trouble = trouble
  }

  end(): void {
    this.#trouble = undefined
    const held = this.#held
    this.#held = []
    for (const go of held) go()
  }

  /** Opens the storage for a machine that starts. Rejects while the medium is unavailable. */
  async open(): Promise<Storage> {
    const life = ++this.#life
    await this.#wait(life, this.manners.readMs)
    this.#refuseWhenAway()
    this.#inner = openMemory({ disk: this.#disk, clock: () => this.#loop.wall })
    return this.#storage(life, this.#inner)
  }

  /** Ends the machine; the first few of its pending writes are kept. */
  async crash(): Promise<void> {
    this.#life++
    this.#held = []
    const applied: Promise<unknown>[] = []
    for (const { open } of this.#lanes.values()) {
      const kept = this.#chance.between(0, open.length)
      for (const one of open.slice(0, kept)) applied.push(one.apply())
      this.counts.keptUnanswered += kept
      this.counts.lost += open.length - kept
    }
    this.#lanes.clear()
    await Promise.all(applied)
    await this.#inner?.close()
    this.#inner = undefined
  }

  /** Called after a crash by power cut: resets the series file to an earlier time. */
  async loseSeriesSince(at: number): Promise<void> {
    const tenants = new Set(this.#seriesWrites.map((one) => one.tenant))
    for (const tenant of tenants) Object.assign(this.#disk.tenant(tenant), { series: new SeriesData() })
    const storage = openMemory({ disk: this.#disk, clock: () => this.#loop.wall })
    const synced = this.#seriesWrites.findLastIndex((one) => one.synced)
    const first = this.#seriesWrites.findIndex((one, place) => place > synced && one.at > at)
    if (first >= 0) this.counts.lostSeries += this.#seriesWrites.splice(first).length
    for (const { tenant, write } of this.#seriesWrites) await write(storage.tenant(tenant).series)
    await storage.close()
  }

  #refuseWhenAway(): void {
    if (this.#trouble === 'away') throw new AppError('UNAVAILABLE', 'the simulated store is away')
  }

  /** Never resolves for a machine that died. */
  async #wait(life: number, most: number): Promise<void> {
    if (life !== this.#life) return new Promise(() => undefined)
    if (this.#trouble === 'stuck') await new Promise<void>((resolve) => this.#held.push(resolve))
    if (most <= 0) return
    const kind = this.#chance.below(4)
    if (kind === 0) return
    await new Promise<void>((resolve) => {
      if (kind === 1) this.#loop.turn(resolve)
      else this.#loop.after(this.#chance.between(1, most), resolve)
    })
  }

  async #read<T>(life: number, read: () => Promise<T>): Promise<T> {
    await this.#wait(life, this.manners.readMs)
    this.#refuseWhenAway()
    const { unread = 0, readMs, lateMs = readMs } = this.manners
    if (unread > 0 && this.#chance.is(unread)) {
      this.counts.refusedReads++
      throw new AppError('UNAVAILABLE', 'the simulated store cannot read it')
    }
    const answer = await read()
    await this.#wait(life, lateMs)
    return answer
  }

  /** Performs and confirms writes in the order of the calls; several may be performed before the first is confirmed. */
  #write<T>(life: number, lane: string, write: () => Promise<T>): Promise<T> {
    if (life !== this.#life) return new Promise(() => undefined)
    const before = this.#lanes.get(lane) ?? { done: NOTHING, answered: NOTHING, open: [] }
    const one: Pending = { apply: () => write().catch(() => undefined) }
    before.open.push(one)
    const done = before.done.then(async () => {
      await this.#wait(life, this.manners.writeMs)
      before.open.splice(before.open.indexOf(one), 1)
      const refusal = this.#refusal()
      if (refusal !== undefined) throw refusal
      this.counts.commits++
      return write()
    })
    const isDone = done.then(
      () => undefined,
      () => undefined,
    )
    const answered = Promise.all([isDone, before.answered]).then(() => this.#wait(life, this.manners.writeMs))
    this.#lanes.set(lane, { done: isDone, answered, open: before.open })
    return answered.then(() => done)
  }

  #refusal(): AppError | undefined {
    const isFull = this.#trouble === 'full'
    if (!isFull && this.#trouble !== 'away' && !this.#chance.is(this.manners.refused)) return undefined
    this.counts.refusedWrites++
    return new AppError('UNAVAILABLE', isFull ? 'the simulated disk is full' : 'the simulated store is away')
  }

  #storage(life: number, inner: Storage): Storage {
    this.#lanes.clear()
    return {
      tenant: (id) => this.#store(life, id, inner.tenant(id)),
      tenants: () => this.#read(life, () => inner.tenants()),
      close: async () => {
        if (life !== this.#life) return
        await Promise.all([...this.#lanes.values()].map(({ answered }) => answered))
        await inner.close()
      },
      stats: () => ({
        ...inner.stats(),
        queued: [...this.#lanes.values()].reduce((sum, { open }) => sum + open.length, 0),
      }),
    }
  }

  #store(life: number, tenant: string, inner: Store): Store {
    const commit = (writes: readonly Write[]): Promise<Committed> => {
      const copies = writes.map(copied)
      const isTroubled = this.#trouble !== undefined && life === this.#life
      if (
        isTroubled &&
        copies.some(
          (one) => one.kind === 'append' && one.log === LOG_NAME && one.bodies.some((body) => isInput(readBody(body))),
        )
      ) {
        this.#met(tenant)
      }
      return this.#write(life, tenant, async () => {
        const committed = await inner.commit(copies)
        this.#watch.wrote(tenant, copies)
        return committed
      })
    }
    return {
      collection: (spec) => this.#collection(life, inner.collection(spec), commit),
      log: (name) => this.#log(life, tenant, inner, inner.log(name), commit),
      series: this.#series(life, tenant, inner.series),
      blobs: this.#blobs(life, tenant, inner.blobs),
      commit,
      now: () => this.#read(life, () => inner.now()),
    }
  }

  #collection<D extends Document>(
    life: number,
    inner: Collection<D>,
    commit: (writes: readonly Write[]) => Promise<Committed>,
  ): Collection<D> {
    const firstOf = async (write: Write): Promise<number> => (await commit([write])).results[0] ?? 0
    return {
      spec: inner.spec,
      get: (id) => this.#read(life, () => inner.get(id)),
      getMany: (ids) => this.#read(life, () => inner.getMany(ids)),
      find: (query) => this.#read(life, () => inner.find(query)),
      ids: (query) => this.#read(life, () => inner.ids(query)),
      count: (where) => this.#read(life, () => inner.count(where)),
      countBy: (field, where) => this.#read(life, () => inner.countBy(field, where)),
      put: (id: string, value: D, expect?: Expectation) => firstOf(inner.putting(id, value, expect)),
      delete: async (id: string, expect?: Expectation) => (await firstOf(inner.deleting(id, expect))) === 1,
      putting: (id, value, expect) => inner.putting(id, value, expect),
      deleting: (id, expect) => inner.deleting(id, expect),
      expecting: (id, version) => inner.expecting(id, version),
    }
  }

  #log(
    life: number,
    tenant: string,
    store: Store,
    inner: Log,
    commit: (writes: readonly Write[]) => Promise<Committed>,
  ): Log {
    return {
      name: inner.name,
      append: async (bodies) => (await commit([inner.appending(bodies)])).results[0] ?? 0,
      appending: (bodies) => inner.appending(bodies),
      read: (after, limit) => this.#read(life, () => inner.read(after, limit)),
      bounds: () => this.#read(life, () => inner.bounds()),
      trim: (upTo) =>
        this.#write(life, tenant, async () => {
          if (inner.name === LOG_NAME) await this.#watch.trims(tenant, store, upTo)
          return inner.trim(upTo)
        }),
    }
  }

  /** Reads contents completely before the write begins: a content that breaks off was never written. */
  #blobs(life: number, tenant: string, inner: Blobs): Blobs {
    const lane = `${tenant} blobs`
    return {
      put: async (path, content, options) => {
        const pieces: Uint8Array[] = []
        if (content instanceof Uint8Array) pieces.push(content)
        else for await (const piece of content) pieces.push(new Uint8Array(piece))
        return this.#write(life, lane, () => inner.put(path, Buffer.concat(pieces), options))
      },
      info: (path) => this.#read(life, () => inner.info(path)),
      get: (path, range) => this.#read(life, () => inner.get(path, range)),
      copy: (source, target) => this.#write(life, lane, () => inner.copy(source, target)),
      list: (query) => this.#read(life, () => inner.list(query)),
      delete: (path) => this.#write(life, lane, () => inner.delete(path)),
    }
  }

  /** Series have a separate file, so their writes have a separate order. */
  #series(life: number, tenant: string, inner: Series): Series {
    const lane = `${tenant} series`
    const written = <T>(write: (series: Series) => Promise<T>, synced = false): Promise<T> =>
      this.#write(life, lane, () => {
        this.#seriesWrites.push({ tenant, at: this.#loop.elapsed, synced, write })
        return write(inner)
      })
    return {
      append: (batch) => {
        const copy = copyOf(batch)
        return written((series) => series.append(copy), batch.synced)
      },
      remove: (what) => written((series) => series.remove(what), what.synced),
      expire: (now) => written((series) => series.expire(now)),
      applied: (log) => this.#read(life, () => inner.applied(log)),
      range: (query) => this.#read(life, () => inner.range(query)),
      columns: (query) => this.#read(life, () => inner.columns(query)),
      buckets: (query) => this.#read(life, () => inner.buckets(query)),
      latest: (resource, metric) => this.#read(life, () => inner.latest(resource, metric)),
      messages: (query) => this.#read(life, () => inner.messages(query)),
      names: (query) => this.#read(life, () => inner.names(query)),
    }
  }
}

/** Copies a write on entry, so that later changes of its values have no effect. */
function copied(write: Write): Write {
  if (write.kind === 'append') return { ...write, bodies: copyOf(write.bodies) }
  if (write.kind === 'put') return { ...write, value: copyOf(write.value) }
  return write
}

/** Copies plain JSON as it would return from its text: without undefined members or minus zero. */
function copyOf<T>(value: T): T {
  if (typeof value === 'number') return (value + 0) as T
  if (typeof value !== 'object' || value === null) return value
  // JSON texts are immutable
  if (value instanceof JsonText) return value
  if (Array.isArray(value)) return value.map((item: unknown) => copyOf(item)) as T
  const copy: Record<string, unknown> = {}
  for (const [key, item] of Object.entries(value)) if (item !== undefined) copy[key] = copyOf(item as unknown)
  return copy as T
}
