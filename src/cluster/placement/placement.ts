/**
 * Places tenants on the hosts of a cluster. Every host polls the store: it writes its heartbeat, takes slots whose
 * owner is gone, and releases slots that another host should own. Hosts decide independently: the slot table changes
 * with optimistic locking, and the fences of tenants decide whether an owner may still write (storage/fence-store.ts).
 * A wrong guess about liveness therefore only costs time.
 *
 * PLACEMENT-1 a slot has one owner, whose term is higher than that of all previous owners
 * PLACEMENT-2 a slot whose owner is gone, or has released it, gets another owner after `TTL_MS` and two polls; where
 *   the store reports presence, after two polls
 * PLACEMENT-3 a slot is released before it is given away
 * PLACEMENT-4 a host that could not poll for `TTL_MS` no longer regards any slot as its own
 * PLACEMENT-5 slots never belong to hosts with different replay numbers, nor to a host with a lower number than before
 */
import { AppError } from '#kernel'
import type { Presence, Store, Stored } from '#storage'
import { HOST_RECORDS, SLOT_TABLE, SLOT_TABLES, type HostRecord, type SlotTable } from './cluster-records.ts'
import type { Program } from './replay-number.ts'
import { assignSlots, slotOf, SLOTS } from './slots.ts'

/** Time in ms, by the store's clock, after which a silent host counts as gone */
export const TTL_MS = 2_500
/** Interval between heartbeats, in ms */
const BEAT_MS = 500
/** Time in ms after which the record of a gone host is removed */
const FORGET_MS = 60_000
const MAX_HOSTS = 1_000

/** Where a tenant is, and the term of its slot; a higher term is newer. */
export type TenantLocation =
  | { readonly kind: 'here'; readonly term: number }
  | { readonly kind: 'elsewhere'; readonly term: number; readonly url: string; readonly mqtt?: number | undefined }
  /** The owner is gone, or is releasing the slot */
  | { readonly kind: 'unowned'; readonly term: number }

export interface PlacementOptions {
  readonly store: Store
  /** Unique id of this run of the host */
  readonly id: string
  readonly url: string
  readonly mqtt?: number | undefined
  readonly contents?: string | undefined
  readonly program: Program
  /** Reports which announced hosts are alive, faster than `TTL_MS`, if the store supports it */
  readonly presence?: Pick<Presence, 'among'> | undefined
  /** Returns monotonic ms */
  readonly elapsed: () => number
  /** Called when this host owns further slots. Must not wait. */
  readonly gained: (slots: readonly number[]) => void
  /** Called when other hosts own the slots, so that writes to them fail. Must not wait. */
  readonly lost: (slots: readonly number[]) => void
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
  #lookedAt = Number.NEGATIVE_INFINITY
  /** Hosts absent at the last poll, despite a heartbeat within `TTL_MS` */
  #missed: ReadonlySet<string> = new Set()
  readonly #releasing = new Map<number, boolean>()
  #assigned: { readonly key: string; readonly slots: readonly string[] } | undefined
  #wasSlower = false
  #isDraining = false
  #hasLeft = false
  #looking: Promise<void> = Promise.resolve()

  constructor(options: PlacementOptions) {
    this.#options = options
  }

  of(tenant: string): TenantLocation {
    const slot = slotOf(tenant)
    const owner = this.#table.owners[slot] ?? ''
    const term = this.#table.terms[slot] ?? 0
    const { id, elapsed } = this.#options
    if (owner !== id) {
      const host = this.#hosts.get(owner)
      return host === undefined
        ? { kind: 'unowned', term }
        : { kind: 'elsewhere', term, url: host.url, mqtt: host.mqtt }
    }
    if (this.#releasing.has(slot) || elapsed() - this.#lookedAt > TTL_MS) return { kind: 'unowned', term }
    return { kind: 'here', term }
  }

  get owned(): number {
    const { id } = this.#options
    return this.#table.owners.reduce((count, owner) => count + Number(owner === id), 0)
  }

  #takes({ isDraining, replay }: HostRecord): boolean {
    return !isDraining && replay === this.#options.program.replay
  }

  get isTaken(): boolean {
    const { id } = this.#options
    return this.owned > 0 && [...this.#hosts].some(([other, host]) => other !== id && this.#takes(host))
  }

  /** Whether to poll again soon: a host seems gone, or the last write conflicted. */
  get isUnsure(): boolean {
    return this.#wasSlower || [...this.#missed].some((id) => this.#hosts.has(id))
  }

  get neighbour(): string | undefined {
    const ids = [...this.#hosts.keys()].sort()
    const next = ids[ids.indexOf(this.#options.id) + 1] ?? ids[0]
    return next === this.#options.id ? undefined : next
  }

  get urls(): ReadonlySet<string> {
    return new Set([...this.#hosts.values()].map(({ url }) => url))
  }

  /** Polls once, after polls in flight. Rejects when the store does not respond; the next poll catches up. */
  look(): Promise<void> {
    const looking = this.#looking.then(() => (this.#hasLeft ? undefined : this.#look()))
    this.#looking = looking.catch(() => undefined)
    return looking
  }

  /** Makes this host release slots to live hosts and take none, beginning with the next poll. */
  drain(): void {
    this.#isDraining = true
  }

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
    // read the table first: its owners wrote their records before
    const [{ ms }, stored] = await Promise.all([store.now(), store.collection(SLOT_TABLES).get(SLOT_TABLE)])
    const hosts = await store.collection(HOST_RECORDS).find({ limit: MAX_HOSTS })
    const known = new Map(hosts.map((host) => [host.id, host.value]))
    const ownRecord = hosts.find((host) => host.id === this.#options.id)
    const beating = this.#beat(ms, known, ownRecord)
    const live = [...known].filter(([id, host]) => this.#isLive(id, host, ms))
    const [there] = await Promise.all([presence?.among(live.map(([id]) => id)), beating])
    const missed = new Set(live.flatMap(([id]) => (there?.has(id) === false && id !== this.#options.id ? [id] : [])))
    // a host absent only at one poll is not gone
    this.#hosts = new Map(live.filter(([id]) => !missed.has(id) || !this.#missed.has(id)))
    this.#missed = missed
    const table = stored?.value ?? NO_TABLE
    this.#adopt(this.#isSuperseded(table) ? this.#withoutOwnSlots(table) : table)
    const next = this.#mayTake(table) ? this.#plan() : undefined
    if (next !== undefined) {
      const put = store.collection(SLOT_TABLES).put(SLOT_TABLE, next, stored?.version ?? 'absent')
      // after a conflict, the next poll sees what remains to be done
      this.#wasSlower = !(await hasCommitted(put))
      if (!this.#wasSlower) this.#adopt(next)
    } else this.#wasSlower = false
    this.#lookedAt = began
    await this.#forget(hosts, ms)
  }

  /** A drain order that arrives after the record was read is not overwritten, and seen at the next poll. */
  async #beat(ms: number, known: Map<string, HostRecord>, ownRecord: Stored<HostRecord> | undefined): Promise<void> {
    const { store, id, url, mqtt, contents, program } = this.#options
    this.#isDraining ||= ownRecord?.value.isDraining === true
    const isDraining = this.#isDraining
    const isFresh =
      ownRecord !== undefined && ownRecord.value.isDraining === isDraining && ms - ownRecord.value.seen < BEAT_MS
    if (isFresh && ms >= ownRecord.value.seen) return
    const record = {
      url,
      ...(mqtt !== undefined && { mqtt }),
      ...(contents !== undefined && { contents }),
      ...program,
      seen: ms,
      joined: ownRecord?.value.joined ?? ms,
      isDraining,
    }
    known.set(id, record)
    await hasCommitted(store.collection(HOST_RECORDS).put(id, record, ownRecord?.version ?? 'absent'))
  }

  /** Whether hosts with a higher replay number own slots, or owned them last. */
  #isSuperseded({ replay = 0 }: SlotTable): boolean {
    return replay > this.#options.program.replay
  }

  #withoutOwnSlots(table: SlotTable): SlotTable {
    return { ...table, owners: table.owners.map((owner) => (owner === this.#options.id ? '' : owner)) }
  }

  /** Slots of hosts with a lower replay number are taken when the last such host is gone. */
  #mayTake(table: SlotTable): boolean {
    const { replay: before = this.#options.program.replay } = table
    if (before === this.#options.program.replay) return true
    return !this.#isSuperseded(table) && ![...this.#hosts.values()].some((host) => host.replay === before)
  }

  /** Whether a host is live. A host that polls is live itself, even if the clock of the store was set back. */
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

  /** Undefined for no change. Begins to release slots that others should own. */
  #plan(): SlotTable | undefined {
    const { id, gained } = this.#options
    const owners = [...this.#table.owners]
    const terms = [...this.#table.terms]
    const again: number[] = []
    let isChanged = false
    const assign = (slot: number, to: string): void => {
      owners[slot] = to
      terms[slot] = (terms[slot] ?? 0) + 1
      isChanged = true
    }
    for (const [slot, wanted] of this.#wanted().entries()) {
      const owner = owners[slot] ?? ''
      if (owner !== id) {
        const isHeld = this.#hosts.get(owner)?.replay === this.#options.program.replay
        if (wanted === id && !isHeld) assign(slot, id)
      } else if (wanted === id) {
        // the slot was released for a host that is now gone
        if (this.#releasing.get(slot) === true) again.push(slot)
      } else if (this.#releasing.get(slot) === true) assign(slot, wanted)
      else if (!this.#releasing.has(slot)) this.#release(slot)
    }
    for (const slot of again) this.#releasing.delete(slot)
    if (again.length > 0) gained(again)
    return isChanged ? { owners, terms, replay: this.#options.program.replay } : undefined
  }

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
      // the slot may have been lost and regained meanwhile
      if (this.#releasing.has(slot) && this.#table.terms[slot] === terms[slot]) this.#releasing.set(slot, true)
    })
  }

  async #forget(hosts: readonly Stored<HostRecord>[], ms: number): Promise<void> {
    const records = this.#options.store.collection(HOST_RECORDS)
    for (const { id, version, value } of hosts) {
      if (id === this.#options.id || Math.abs(ms - value.seen) <= FORGET_MS) continue
      await hasCommitted(records.delete(id, version))
    }
  }
}

async function hasCommitted(committing: Promise<unknown>): Promise<boolean> {
  try {
    await committing
    return true
  } catch (error) {
    if (error instanceof AppError && error.code === 'CONFLICT') return false
    throw error
  }
}
