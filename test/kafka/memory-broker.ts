/**
 * A broker in memory, as a model of Kafka: a group with generations, transactions that stay open, abort and time out,
 * members that are dead or frozen, and deliveries that repeat.
 */
import type { TopicRole } from '../../src/kafka/contract.ts'
import type { Assignment, Batch, LogRecord, NewRecord, Slice, TransactionalLog } from '../../src/kafka/log.ts'

interface Transaction {
  status: 'open' | 'committed' | 'aborted'
  readonly offsets: ReadonlyMap<number, number>
}

interface Stored extends LogRecord {
  readonly transaction: Transaction | undefined
}

/** What the next transaction of a member meets. */
export type Fault = 'refused' | 'aborted' | 'reply lost'

export class MemoryBroker {
  readonly partitions: number
  /** epoch ms */
  now = 1_700_000_000_000
  topicId = 'in-1'
  /** false: members that lost a partition may commit */
  isFencing = true
  /** true: offsets are committed before the rest of the transaction */
  commitsEarly = false
  generation = 0
  readonly #topics = new Map<TopicRole, Stored[][]>()
  readonly #begins = new Map<number, number>()
  readonly #members: MemoryLog[] = []
  readonly #committed = new Map<number, number>()
  readonly #open = new Set<Transaction>()
  #settled: (() => void)[] = []

  constructor(partitions: number) {
    this.partitions = partitions
  }

  join(): MemoryLog {
    const member = new MemoryLog(this)
    this.#members.push(member)
    this.rebalance()
    return member
  }

  /** The group no longer counts a member, because it left or its session expired. */
  expire(member: MemoryLog): void {
    const at = this.#members.indexOf(member)
    if (at !== -1) this.#members.splice(at, 1)
    this.rebalance()
  }

  /** A member that was expired comes back. */
  rejoin(member: MemoryLog): void {
    if (!this.#members.includes(member)) this.#members.push(member)
    this.rebalance()
  }

  rebalance(shift = 0): void {
    this.generation++
    const members = this.#members
    for (const [i, member] of members.entries()) {
      const own = Array.from({ length: this.partitions }, (_, p) => p).filter((p) => (p + shift) % members.length === i)
      member.offer({ generation: this.generation, partitions: own })
    }
  }

  isMember(member: MemoryLog, { generation, offsets }: Slice): boolean {
    if (!this.isFencing) return true
    const { partitions } = member.offered
    return (
      this.#members.includes(member) &&
      generation === this.generation &&
      [...offsets.keys()].every((partition) => partitions.includes(partition))
    )
  }

  partitionOf(key: string): number {
    let hash = 7
    for (const char of key) hash = (hash * 31 + (char.codePointAt(0) ?? 0)) >>> 0
    return hash % this.partitions
  }

  append(records: readonly NewRecord[], transaction?: Transaction): void {
    for (const { topic, key, value, headers, partition } of records) {
      const at = topic === 'rules' ? 0 : (partition ?? this.partitionOf(key))
      const list = this.#list(topic, at)
      list.push({ offset: list.length, time: this.now, key, value, headers, transaction })
    }
  }

  begin(slice: Slice): Transaction {
    const transaction: Transaction = { status: 'open', offsets: slice.offsets }
    this.#open.add(transaction)
    this.append(slice.records, transaction)
    if (this.commitsEarly) this.#commitOffsets(transaction)
    return transaction
  }

  end(transaction: Transaction, status: 'committed' | 'aborted'): boolean {
    if (transaction.status !== 'open') return transaction.status === 'committed'
    transaction.status = status
    this.#open.delete(transaction)
    if (status === 'committed') this.#commitOffsets(transaction)
    const settled = this.#settled
    this.#settled = []
    for (const resolve of settled) resolve()
    return status === 'committed'
  }

  /** Transactions that are open for too long. */
  timeOut(): void {
    for (const transaction of this.#open) this.end(transaction, 'aborted')
  }

  #commitOffsets({ offsets }: Transaction): void {
    for (const [partition, offset] of offsets) this.#committed.set(partition, offset)
  }

  async committed(partition: number): Promise<number | undefined> {
    while ([...this.#open].some(({ offsets }) => offsets.has(partition)))
      await new Promise<void>((resolve) => this.#settled.push(resolve))
    return this.#committed.get(partition)
  }

  earliest(partition: number): number {
    return this.#begins.get(partition) ?? 0
  }

  /** Retention removes the records of `in` before an offset. */
  deleteBefore(partition: number, offset: number): void {
    this.#begins.set(partition, offset)
  }

  /** Reads committed records up to the first open transaction. */
  read(topic: TopicRole, partition: number, from: number): Batch {
    const list = this.#list(topic, partition)
    const open = list.findIndex(({ transaction }) => transaction?.status === 'open')
    const stable = open === -1 ? list.length : open
    const records = list.slice(from, stable).filter(({ transaction }) => transaction?.status !== 'aborted')
    return { partition, records, next: Math.max(from, stable), end: list.length }
  }

  /** Returns all committed records of a topic, by partition. */
  all(topic: TopicRole): readonly LogRecord[] {
    return (this.#topics.get(topic) ?? []).flatMap((_, partition) => this.read(topic, partition, 0).records)
  }

  #list(topic: TopicRole, partition: number): Stored[] {
    let lists = this.#topics.get(topic)
    if (lists === undefined) this.#topics.set(topic, (lists = []))
    while (lists.length <= partition) lists.push([])
    return lists[partition] as Stored[]
  }
}

export class MemoryLog implements TransactionalLog {
  readonly partitions: number
  readonly topicId: string
  offered: Assignment = { generation: -1, partitions: [] }
  /** a frozen member does not notice that the group changed */
  isFrozen = false
  fault: Fault | undefined
  /** number of records that the next read repeats */
  repeats = 0
  readonly #broker: MemoryBroker
  #seen: Assignment = { generation: -1, partitions: [] }
  #held: { readonly wait: Promise<void>; readonly release: () => void } | undefined

  constructor(broker: MemoryBroker) {
    this.#broker = broker
    this.partitions = broker.partitions
    this.topicId = broker.topicId
  }

  offer(assignment: Assignment): void {
    this.offered = assignment
  }

  get assignment(): Assignment {
    if (!this.isFrozen) this.#seen = this.offered
    return this.#seen
  }

  /** The next transaction stays open until `release`. */
  hold(): void {
    if (this.#held !== undefined) return
    let release = (): void => undefined
    const wait = new Promise<void>((resolve) => (release = resolve))
    this.#held = { wait, release }
  }

  release(): void {
    this.#held?.release()
    this.#held = undefined
  }

  partitionOf(key: string): number {
    return this.#broker.partitionOf(key)
  }

  committed(partition: number): Promise<number | undefined> {
    return this.#broker.committed(partition)
  }

  async earliest(partition: number): Promise<number> {
    return this.#broker.earliest(partition)
  }

  async fetch(positions: ReadonlyMap<number, number>): Promise<readonly Batch[]> {
    const back = this.repeats
    this.repeats = 0
    return [...positions].map(([partition, from]) => this.#broker.read('in', partition, Math.max(0, from - back)))
  }

  async transact(slice: Slice): Promise<void> {
    const { fault } = this
    this.fault = undefined
    if (fault === 'refused' || !this.#broker.isMember(this, slice)) throw new Error('the transaction was refused')
    const transaction = this.#broker.begin(slice)
    await this.#held?.wait
    const isCommitted = this.#broker.end(transaction, fault === 'aborted' ? 'aborted' : 'committed')
    if (!isCommitted) throw new Error('the transaction was aborted')
    if (fault === 'reply lost') throw new Error('the connection ended')
  }

  async states(partition: number): Promise<ReadonlyMap<string, string>> {
    const states = new Map<string, string>()
    for (const { key = '', value } of this.#broker.read('state', partition, 0).records) {
      if (value === null) states.delete(key)
      else states.set(key, value)
    }
    return states
  }

  async rules(from: number): Promise<Batch> {
    return this.#broker.read('rules', 0, from)
  }

  async append(records: readonly NewRecord[]): Promise<void> {
    this.#broker.append(records)
  }

  async close(): Promise<void> {
    this.#broker.expire(this)
  }
}
