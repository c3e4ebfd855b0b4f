/**
 * Which host of a cluster has which tenants. Every host looks at the store again and again: it says that it is there,
 * takes slots whose owner is gone, and gives those away that another should have. Nobody decides for the others: the
 * table of slots changes by comparing versions, and whether an owner may still write is up to the fences of its tenants
 * (storage/fence-store.ts). A wrong guess about who is alive therefore costs time and nothing else.
 *
 * PLACEMENT-1 a slot has one owner, whose term is higher than that of all before
 * PLACEMENT-2 a slot whose owner is gone, or has let go, is another's after `TTL_MS` and two looks; after two looks
 *   where the store tells who is there
 * PLACEMENT-3 what is given away was let go of before
 * PLACEMENT-4 a host that could not look for `TTL_MS` takes nothing for its own any more
 * PLACEMENT-5 slots are never at hosts of two replay numbers, nor at one of a lower number than before
 */
import { AppError } from '#kernel'
import type { Presence, Store, Stored } from '#storage'
import { HOST_RECORDS, SLOT_TABLE, SLOT_TABLES, type HostRecord, type SlotTable } from './cluster-records.ts'
import type { Program } from './replay-number.ts'
import { assignSlots, slotOf, SLOTS } from './slots.ts'

/** ms by the clock of the store after which a host that said nothing counts as gone */
export const TTL_MS = 2_500
/** ms between two times at which a host says that it is there */
const BEAT_MS = 500
/** ms after which the record of a host that is gone is removed */
const FORGET_MS = 60_000
const MAX_HOSTS = 1_000

/** Where a tenant is, and the term of its slot: who knows a higher one knows better. */
export type Place =
  | { readonly kind: 'here'; readonly term: number }
  | { readonly kind: 'elsewhere'; readonly term: number; readonly url: string; readonly mqtt?: number | undefined }
  /** its owner is gone, or is letting go: soon it is somebody's */
  | { readonly kind: 'nobody'; readonly term: number }

export interface PlacementOptions {
  /** the store of all hosts */
  readonly store: Store
  /** of this life of the host; no other ever has it */
  readonly id: string
  readonly url: string
  /** its port for MQTT */
  readonly mqtt?: number | undefined
  /** where it keeps contents of objects */
  readonly contents?: string | undefined
  readonly program: Program
  /** who is there, as far as the store can tell before `TTL_MS` is over: hosts have announced their ids */
  readonly presence?: Pick<Presence, 'among'> | undefined
  /** ms since some moment; never goes back */
  readonly elapsed: () => number
  /** From here on the slots are this host's. Must not wait. */
  readonly gained: (slots: readonly number[]) => void
  /** Another has them: nothing of them can be written any more. Must not wait. */
  readonly lost: (slots: readonly number[]) => void
  /** Finishes whatever is under way in the slot; when it resolves, the slot is given away. */
  readonly release: (slot: number) => Promise<void>
}

const NO_TABLE: SlotTable = {
  owners: Array.from({ length: SLOTS }, () => ''),
  terms: Array.from({ length: SLOTS }, () => 0),
}

export class Placement {
  readonly #options: PlacementOptions
  #hosts: ReadonlyMap<string, HostRecord> = new Map()
  #table: SlotTable = NO_TABLE
  /** `elapsed` when the last look began that came to its end */
  #lookedAt = Number.NEGATIVE_INFINITY
  /** hosts that were not there at the last look, though they said so less than `TTL_MS` ago */
  #missed: ReadonlySet<string> = new Set()
  /** slots that are being let go of; true: nothing of them is left */
  readonly #releasing = new Map<number, boolean>()
  /** by the hosts that take slots */
  #assigned: { readonly key: string; readonly slots: readonly string[] } | undefined
  /** another changed the table at the same time */
  #wasSlower = false
  #isDraining = false
  #hasLeft = false
  #looking: Promise<void> = Promise.resolve()

  constructor(options: PlacementOptions) {
    this.#options = options
  }

  of(tenant: string): Place {
    const slot = slotOf(tenant)
    const owner = this.#table.owners[slot] ?? ''
    const term = this.#table.terms[slot] ?? 0
    const { id, elapsed } = this.#options
    if (owner !== id) {
      const host = this.#hosts.get(owner)
      return host === undefined ? { kind: 'nobody', term } : { kind: 'elsewhere', term, url: host.url, mqtt: host.mqtt }
    }
    if (this.#releasing.has(slot) || elapsed() - this.#lookedAt > TTL_MS) return { kind: 'nobody', term }
    return { kind: 'here', term }
  }

  /** Slots of this host. */
  get owned(): number {
    const { id } = this.#options
    return this.#table.owners.reduce((count, owner) => count + Number(owner === id), 0)
  }

  #takes({ isDraining, replay }: HostRecord): boolean {
    return !isDraining && replay === this.#options.program.replay
  }

  /** Whether this host has slots that somebody else would take. */
  get isTaken(): boolean {
    const { id } = this.#options
    return this.owned > 0 && [...this.#hosts].some(([other, host]) => other !== id && this.#takes(host))
  }

  /** Whether another look should come soon: a host seems to be gone, or another host was faster. */
  get isUnsure(): boolean {
    return this.#wasSlower || [...this.#missed].some((id) => this.#hosts.has(id))
  }

  /** The host that comes after this one, as all that are there know them; undefined: this one is alone. */
  get neighbour(): string | undefined {
    const ids = [...this.#hosts.keys()].sort()
    const next = ids[ids.indexOf(this.#options.id) + 1] ?? ids[0]
    return next === this.#options.id ? undefined : next
  }

  /** addresses of all hosts that are there */
  get urls(): ReadonlySet<string> {
    return new Set([...this.#hosts.values()].map(({ url }) => url))
  }

  /** Looks once, after looks that are under way. Rejects when the store does not answer; the next look makes up for it. */
  look(): Promise<void> {
    const looking = this.#looking.then(() => (this.#hasLeft ? undefined : this.#look()))
    this.#looking = looking.catch(() => undefined)
    return looking
  }

  /** From the next look on slots are given away, as far as somebody is there to take them, and none is taken. */
  drain(): void {
    this.#isDraining = true
  }

  /** Says goodbye: what this host still has is nobody's. Nothing of it may be open any more. */
  async leave(): Promise<void> {
    this.#hasLeft = true
    await this.#looking
    const { store, id } = this.#options
    for (let races = 0; races < MAX_HOSTS; races += 1) {
      const stored = await store.collection(SLOT_TABLES).get(SLOT_TABLE)
      const hosts = store.collection(HOST_RECORDS)
      const goodbye = hosts.deleting(id)
      if (stored?.value.owners.includes(id) !== true) return void (await store.commit([goodbye]))
      const owners = stored.value.owners.map((owner) => (owner === id ? '' : owner))
      const table = store.collection(SLOT_TABLES).putting(SLOT_TABLE, { ...stored.value, owners }, stored.version)
      if (await hasCommitted(store.commit([goodbye, table]))) return
    }
  }

  async #look(): Promise<void> {
    const { store, elapsed, presence } = this.#options
    const began = elapsed()
    // the table first: whoever has a slot in it had written its record before
    const [{ ms }, stored] = await Promise.all([store.now(), store.collection(SLOT_TABLES).get(SLOT_TABLE)])
    const hosts = await store.collection(HOST_RECORDS).find({ limit: MAX_HOSTS })
    const known = new Map(hosts.map((host) => [host.id, host.value]))
    const own = hosts.find((host) => host.id === this.#options.id)
    const beating = this.#beat(ms, known, own)
    const live = [...known].filter(([id, host]) => this.#isLive(id, host, ms))
    const [there] = await Promise.all([presence?.among(live.map(([id]) => id)), beating])
    const missed = new Set(live.flatMap(([id]) => (there?.has(id) === false && id !== this.#options.id ? [id] : [])))
    // one that came back a moment later is not gone
    this.#hosts = new Map(live.filter(([id]) => !missed.has(id) || !this.#missed.has(id)))
    this.#missed = missed
    const table = stored?.value ?? NO_TABLE
    this.#adopt(this.#isSuperseded(table) ? this.#withoutOwn(table) : table)
    const next = this.#mayTake(table) ? this.#plan() : undefined
    if (next !== undefined) {
      const put = store.collection(SLOT_TABLES).put(SLOT_TABLE, next, stored?.version ?? 'absent')
      // another was faster: the next look sees what is left to do
      this.#wasSlower = !(await hasCommitted(put))
      if (!this.#wasSlower) this.#adopt(next)
    } else this.#wasSlower = false
    this.#lookedAt = began
    await this.#forget(hosts, ms)
  }

  /** Somebody may tell this host to drain after its record was read: that is not overwritten, and seen by the next look. */
  async #beat(ms: number, known: Map<string, HostRecord>, own: Stored<HostRecord> | undefined): Promise<void> {
    const { store, id, url, mqtt, contents, program } = this.#options
    this.#isDraining ||= own?.value.isDraining === true
    const isDraining = this.#isDraining
    const isFresh = own !== undefined && own.value.isDraining === isDraining && ms - own.value.seen < BEAT_MS
    if (isFresh && ms >= own.value.seen) return
    const record = {
      url,
      ...(mqtt !== undefined && { mqtt }),
      ...(contents !== undefined && { contents }),
      ...program,
      seen: ms,
      joined: own?.value.joined ?? ms,
      isDraining,
    }
    known.set(id, record)
    await hasCommitted(store.collection(HOST_RECORDS).put(id, record, own?.version ?? 'absent'))
  }

  /** Hosts with a higher replay number have slots, or had them last. */
  #isSuperseded({ replay = 0 }: SlotTable): boolean {
    return replay > this.#options.program.replay
  }

  #withoutOwn(table: SlotTable): SlotTable {
    return { ...table, owners: table.owners.map((owner) => (owner === this.#options.id ? '' : owner)) }
  }

  /** Slots of hosts with a lower replay number are taken when the last of them is gone. */
  #mayTake(table: SlotTable): boolean {
    const { replay: before = this.#options.program.replay } = table
    if (before === this.#options.program.replay) return true
    return !this.#isSuperseded(table) && ![...this.#hosts.values()].some((host) => host.replay === before)
  }

  /** This host is there as long as it can look; the clock of the store may have been set back. */
  #isLive(id: string, { seen }: HostRecord, ms: number): boolean {
    return id === this.#options.id || Math.abs(ms - seen) <= TTL_MS
  }

  #adopt(table: SlotTable): void {
    const { id, gained, lost } = this.#options
    const before = this.#table
    const came: number[] = []
    const went: number[] = []
    for (const [slot, owner] of table.owners.entries()) {
      const wasOurs = before.owners[slot] === id
      const isSame = wasOurs && owner === id && before.terms[slot] === table.terms[slot]
      if (isSame) continue
      if (wasOurs && this.#releasing.get(slot) !== true) went.push(slot)
      if (wasOurs) this.#releasing.delete(slot)
      if (owner === id) came.push(slot)
    }
    this.#table = table
    if (went.length > 0) lost(went)
    if (came.length > 0) gained(came)
  }

  /** The table as it should be by what this host may decide; undefined: as it is. Begins to let go of what others should have. */
  #plan(): SlotTable | undefined {
    const { id, gained } = this.#options
    const owners = [...this.#table.owners]
    const terms = [...this.#table.terms]
    const again: number[] = []
    let isChanged = false
    const give = (slot: number, to: string): void => {
      owners[slot] = to
      terms[slot] = (terms[slot] ?? 0) + 1
      isChanged = true
    }
    for (const [slot, wanted] of this.#wanted().entries()) {
      const owner = owners[slot] ?? ''
      if (owner !== id) {
        const isHeld = this.#hosts.get(owner)?.replay === this.#options.program.replay
        if (wanted === id && !isHeld) give(slot, id)
      } else if (wanted === id) {
        // let go of for somebody who is gone by now
        if (this.#releasing.get(slot) === true) again.push(slot)
      } else if (this.#releasing.get(slot) === true) give(slot, wanted)
      else if (!this.#releasing.has(slot)) this.#release(slot)
    }
    for (const slot of again) this.#releasing.delete(slot)
    if (again.length > 0) gained(again)
    return isChanged ? { owners, terms, replay: this.#options.program.replay } : undefined
  }

  /** Who should have each slot. When nobody takes any, who has one keeps it. */
  #wanted(): readonly string[] {
    const takers = [...this.#hosts].flatMap(([id, host]) => (this.#takes(host) ? [id] : [])).sort()
    const key = takers.join(' ')
    if (this.#assigned?.key !== key) this.#assigned = { key, slots: assignSlots(takers) }
    const { slots } = this.#assigned
    return slots.length > 0 ? slots : this.#table.owners
  }

  #release(slot: number): void {
    this.#releasing.set(slot, false)
    const { terms } = this.#table
    void this.#options.release(slot).then(() => {
      // it may have been lost meanwhile, and even come back
      if (this.#releasing.has(slot) && this.#table.terms[slot] === terms[slot]) this.#releasing.set(slot, true)
    })
  }

  /** Hosts that ended without a word. */
  async #forget(hosts: readonly Stored<HostRecord>[], ms: number): Promise<void> {
    const records = this.#options.store.collection(HOST_RECORDS)
    for (const { id, version, value } of hosts) {
      if (id === this.#options.id || Math.abs(ms - value.seen) <= FORGET_MS) continue
      await hasCommitted(records.delete(id, version))
    }
  }
}

/** False when a version was not the one expected. */
async function hasCommitted(committing: Promise<unknown>): Promise<boolean> {
  try {
    await committing
    return true
  } catch (error) {
    if (error instanceof AppError && error.code === 'CONFLICT') return false
    throw error
  }
}
