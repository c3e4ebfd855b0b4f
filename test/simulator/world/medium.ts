/**
 * A medium that outlives the host and does what disks and databases do: it takes its time, refuses, is away for a while,
 * is full, and keeps of a machine that dies a part of what it was asked for, or all of it without an answer. Beneath it
 * is the medium in memory; what the contract of storage promises it keeps.
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

/** How a medium is for a while: refuses everything, answers nothing until it is over, or has no room for writes. */
export type Trouble = 'away' | 'stuck' | 'full'

/** How it behaves on an ordinary day. */
export interface Manners {
  /** ms that a write takes at most */
  readonly writeMs: number
  /** ms that a read takes at most */
  readonly readMs: number
  /** of writes, how many are refused */
  readonly refused: number
  /** of reads, how many are; absent: none */
  readonly unread?: number
  /** ms that what was read is on its way at most, while it may change; absent: `readMs` */
  readonly lateMs?: number
}

export const CALM: Manners = { writeMs: 0, readMs: 0, refused: 0 }

/** What can happen to it, counted. */
export interface MediumCounts {
  commits: number
  refusedWrites: number
  refusedReads: number
  /** writes that were on their way when the machine died: kept, and lost */
  keptUnanswered: number
  lost: number
  /** writes of series that a power cut took back */
  lostSeries: number
}

/** A write that is not done. */
interface Pending {
  /** does it for good, whatever else happens */
  apply(): Promise<unknown>
}

interface SeriesWrite {
  readonly tenant: string
  /** ms since the beginning of the run */
  readonly at: number
  /** no power cut takes it back, nor those before it */
  readonly synced: boolean
  write(series: Series): Promise<unknown>
}

/** Writes that follow each other. */
interface Lane {
  /** the last is done, or refused */
  readonly done: Promise<void>
  /** it was told so */
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
  /** those that wait for the end of the trouble */
  #held: (() => void)[] = []
  /** of the machine that is up: its writes, by file and tenant */
  readonly #lanes = new Map<string, Lane>()
  /** all that was done to series, in order */
  readonly #seriesWrites: SeriesWrite[] = []
  #inner: Storage | undefined
  /** counts the machines; one that died is not answered any more */
  #life = 0

  /** `met`: an input of the rules of a tenant has met trouble. `found`: a log is not as it must be. */
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

  /** Paths of the blobs that a tenant has, on the disk. */
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

  /** For a machine that starts. Rejects while it is away. */
  async open(): Promise<Storage> {
    const life = ++this.#life
    await this.#wait(life, this.manners.readMs)
    this.#refuseWhenAway()
    this.#inner = openMemory({ disk: this.#disk, clock: () => this.#loop.wall })
    return this.#storage(life, this.#inner)
  }

  /** The machine died: of what was on its way, the first so many are kept. */
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

  /** After a crash: the power was cut, and the file of series is what it was at that time. */
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

  /** Done in the order of the calls, and answered in it; several may be done before the first is answered. */
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
      append: async (partition, bodies) => (await commit([inner.appending(partition, bodies)])).results[0] ?? 0,
      appending: (partition, bodies) => inner.appending(partition, bodies),
      read: (partition, after, limit) => this.#read(life, () => inner.read(partition, after, limit)),
      bounds: (partition) => this.#read(life, () => inner.bounds(partition)),
      partitions: () => this.#read(life, () => inner.partitions()),
      trim: (partition, upTo) =>
        this.#write(life, tenant, async () => {
          if (inner.name === LOG_NAME) await this.#watch.trims(tenant, store, upTo)
          return inner.trim(partition, upTo)
        }),
    }
  }

  /** Contents come whole before they are on their way: what breaks off while it comes was never asked for. */
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

  /** A file of its own: its writes have an order of their own. */
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
      applied: (log, partition) => this.#read(life, () => inner.applied(log, partition)),
      range: (query) => this.#read(life, () => inner.range(query)),
      columns: (query) => this.#read(life, () => inner.columns(query)),
      buckets: (query) => this.#read(life, () => inner.buckets(query)),
      latest: (resource, metric) => this.#read(life, () => inner.latest(resource, metric)),
      messages: (query) => this.#read(life, () => inner.messages(query)),
    }
  }
}

/** Media copy on the way in: what changes afterwards is not written. */
function copied(write: Write): Write {
  if (write.kind === 'append') return { ...write, bodies: copyOf(write.bodies) }
  if (write.kind === 'put') return { ...write, value: copyOf(write.value) }
  return write
}

/** Of plain JSON, as it is when it comes back from its text: without members that are undefined, and without minus zero. */
function copyOf<T>(value: T): T {
  if (typeof value === 'number') return (value + 0) as T
  if (typeof value !== 'object' || value === null) return value
  // a text cannot be changed
  if (value instanceof JsonText) return value
  if (Array.isArray(value)) return value.map((item: unknown) => copyOf(item)) as T
  const copy: Record<string, unknown> = {}
  for (const [key, item] of Object.entries(value)) if (item !== undefined) copy[key] = copyOf(item as unknown)
  return copy as T
}
