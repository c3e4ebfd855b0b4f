/**
 * A group over Kafka: the classic protocol, because a broker checks the generation of offsets in transactions only for
 * members of such groups, and a producer with a new id for each life of a member.
 */
import {
  Admin,
  type ClusterMetadata,
  Consumer,
  type fetchV17,
  ProduceAcks,
  Producer,
  murmur2,
  type listTransactionsV1,
} from '@platformatic/kafka'
import { AppError, type Logger } from '#kernel'
import { clientOptions, plainError, plainly } from '#services/connectors/kafka'
import { SINGLE, TOPICS, type TopicRole } from '../contract.ts'
import type { Assignment, Batch, NewRecord, Slice, TransactionalLog } from '../log.ts'
import { committedRecords } from './committed-records.ts'
import { assignPlaces, placed, ranked } from './group-places.ts'
import { fetchRecords, request, stableOffsets } from './raw-requests.ts'
import { type ToSend, Transactions } from './transactions.ts'

export interface KafkaLogOptions {
  readonly connection: Parameters<typeof clientOptions>[0]
  readonly prefix: string
  /** unique in the group */
  readonly name: string
  /** group of the members, without the prefix */
  readonly group: string
  /** the topic that the group reads */
  readonly input: TopicRole
  readonly sessionMs?: number
  readonly logger?: Logger | undefined
  /** Waits; resolves early when the log closes. */
  readonly pause: (ms: number) => Promise<void>
}

const SESSION_MS = 6_000
const UNSTABLE_MS = 50
const FOLLOW_MS = 500
const NAME_MS = 500
const READ_MS = 200
const EARLIEST = -2n

interface Followed {
  readonly states: Map<string, string>
  next: number
}

export class KafkaLog implements TransactionalLog {
  readonly partitions: number
  readonly topicId: string
  readonly #options: KafkaLogOptions
  readonly #topics: ReadonlyMap<TopicRole, { readonly name: string; readonly id: string }>
  readonly #group: Consumer
  /** for long reads, which would delay the heartbeats of the group */
  readonly #reader: Admin
  readonly #admin: Admin
  readonly #appender: Producer
  readonly #transactions: Transactions
  #metadata: ClusterMetadata
  #assignment: Assignment & { readonly memberId: string } = { generation: -1, partitions: [], memberId: '' }
  #failure: Error | undefined
  #isClosed = false
  readonly #followed = new Map<number, Followed>()

  private constructor(options: KafkaLogOptions, admin: Admin, metadata: ClusterMetadata) {
    const { prefix, name, group, input, connection, sessionMs = SESSION_MS } = options
    this.#options = options
    this.#admin = admin
    this.#metadata = metadata
    const base = baseOptions(options)
    this.#topics = topicsOf(options, metadata)
    const { id } = this.#topic(input)
    this.topicId = id
    this.partitions = metadata.topics.get(prefix + TOPICS.in)?.partitionsCount ?? 0
    this.#reader = new Admin(base)
    this.#appender = new Producer({ ...base, idempotent: true, acks: ProduceAcks.ALL })
    this.#transactions = this.#transactionsOf(`${prefix}${group}/${name}`)
    this.#group = new Consumer({
      ...clientOptions(connection, name),
      clientId: name,
      groupId: prefix + group,
      groupProtocol: 'classic',
      sessionTimeout: sessionMs,
      rebalanceTimeout: sessionMs,
      heartbeatInterval: Math.min(1_000, sessionMs / 4),
      autocommit: false,
      partitionAssigner: assignPlaces,
    })
    for (const client of [this.#reader, this.#appender, this.#group]) client.on('error', () => undefined)
    this.#group.on('consumer:group:join', () => this.#joined())
    this.#group.on('consumer:heartbeat:error', ({ error }) => this.#heartbeatFailed(error))
  }

  /** Connects and joins the group. `VALIDATION` for topics that are missing or do not fit together. */
  static async open(options: KafkaLogOptions): Promise<KafkaLog> {
    const admin = new Admin(baseOptions(options))
    admin.on('error', () => undefined)
    let log: KafkaLog | undefined
    try {
      const names = Object.values(TOPICS).map((suffix) => options.prefix + suffix)
      log = new KafkaLog(options, admin, await plainly(admin.metadata({ topics: names, forceUpdate: true })))
      await log.#requireOwnName()
      log.#group.topics.track(log.#topic(options.input).name)
      await plainly(log.#group.joinGroup({}))
      log.#joined()
      void log.#follow()
      return log
    } catch (error) {
      await (log === undefined ? admin.close().catch(() => undefined) : log.close())
      throw error
    }
  }

  get assignment(): Assignment {
    if (this.#failure !== undefined) throw this.#failure
    return this.#assignment
  }

  partitionOf(key: string): number {
    // as producers of Java do; the client's own partitioner keeps the sign
    return (murmur2(key) & 0x7fff_ffff) % this.partitions
  }

  async committed(partition: number): Promise<number | undefined> {
    const { prefix, group, input, pause } = this.#options
    for (let tries = 0; ; tries++) {
      try {
        const coordinator = await this.#coordinator()
        const { name } = this.#topic(input)
        const found = await stableOffsets(this.#admin, coordinator, prefix + group, name, [partition])
        return found.get(partition)
      } catch (error) {
        const plain = plainError(error)
        if (!plain.message.includes('UNSTABLE_OFFSET_COMMIT') || this.#isClosed) throw plain
        // a member that died in a transaction keeps it open until it times out
        if (tries === 2) await this.#fenceTheDead()
        await pause(UNSTABLE_MS)
      }
    }
  }

  async earliest(partition: number): Promise<number> {
    const { name } = this.#topic(this.#options.input)
    const offsets = await plainly(this.#offsets(name, partition, EARLIEST))
    return Number(offsets)
  }

  async fetch(positions: ReadonlyMap<number, number>, waitMs: number): Promise<readonly Batch[]> {
    return this.#read(this.#reader, this.#options.input, positions, waitMs)
  }

  async transact({ generation, offsets, records }: Slice): Promise<void> {
    const { memberId, generation: current } = this.#assignment
    if (generation !== current) throw new Error('the group has changed')
    const { prefix, group, input } = this.#options
    await this.#transactions.run(
      records.map((record) => this.#toSend(record)),
      {
        coordinator: await this.#coordinator(),
        groupId: prefix + group,
        generation,
        memberId,
        topic: this.#topic(input).name,
        offsets,
      },
    )
  }

  async states(partition: number): Promise<ReadonlyMap<string, string>> {
    const followed = this.#followed.get(partition) ?? { states: new Map<string, string>(), next: 0 }
    this.#followed.delete(partition)
    await this.#readToEnd('state', partition, followed)
    return followed.states
  }

  async rules(from: number): Promise<Pick<Batch, 'records' | 'next'>> {
    const records: Batch['records'][number][] = []
    let next = from
    for (;;) {
      const [batch] = await this.#read(this.#admin, 'rules', new Map([[0, next]]), 0)
      if (batch === undefined) return { records, next }
      records.push(...batch.records)
      const isOver = batch.next === next || batch.next >= batch.end
      next = batch.next
      if (isOver) return { records, next }
    }
  }

  async append(records: readonly NewRecord[]): Promise<void> {
    if (records.length === 0) return
    await plainly(this.#appender.send({ messages: records.map((record) => this.#toSend(record)) }))
  }

  /** Chooses the partitions that this member would own if their owner left. */
  follow(): void {
    void this.#choose().catch(() => undefined)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#followed.clear()
    await this.#group.close(true).catch(() => undefined)
    for (const client of [this.#appender, this.#reader, this.#admin]) await client.close().catch(() => undefined)
  }

  #joined(): void {
    const { generationId, memberId, assignments } = this.#group
    const { name } = this.#topic(this.#options.input)
    const partitions = assignments?.find(({ topic }) => topic === name)?.partitions ?? []
    if (generationId === this.#assignment.generation) return
    this.#assignment = {
      generation: generationId,
      memberId: memberId ?? '',
      partitions: partitions.toSorted((a, b) => a - b),
    }
  }

  #heartbeatFailed(error: Error): void {
    // the client rejoins by itself, except where another member has the same name
    if (plainError(error).message.includes('FENCED_INSTANCE_ID')) this.#failure = plainError(error)
  }

  #toSend({ topic, key, value, partition, headers }: NewRecord): ToSend {
    const at = SINGLE.has(topic) ? 0 : (partition ?? this.partitionOf(key))
    return {
      topic: this.#topic(topic).name,
      key: Buffer.from(key),
      // a tombstone has no value, for which the client's type has no form
      value: (value === null ? null : Buffer.from(value)) as Buffer,
      partition: at,
      ...(headers && {
        headers: new Map(Object.entries(headers).map(([name, text]) => [Buffer.from(name), Buffer.from(text)])),
      }),
    }
  }

  async #readToEnd(role: TopicRole, partition: number, into: Followed): Promise<void> {
    for (let end = Number.POSITIVE_INFINITY; into.next < end;) {
      const [batch] = await this.#read(this.#admin, role, new Map([[partition, into.next]]), READ_MS)
      if (batch === undefined || this.#isClosed) return
      // what follows was written later
      end = Math.min(end, batch.end)
      addTo(into, batch)
    }
  }

  async #read(
    client: Admin,
    role: TopicRole,
    positions: ReadonlyMap<number, number>,
    waitMs: number,
  ): Promise<readonly Batch[]> {
    if (this.#failure !== undefined) throw this.#failure
    const { name, id } = this.#topic(role)
    const byLeader = new Map<number, { partition: number; from: number }[]>()
    for (const [partition, from] of positions) {
      const leader = this.#metadata.topics.get(name)?.partitions[partition]?.leader ?? -1
      const list = byLeader.get(leader)
      if (list === undefined) byLeader.set(leader, [{ partition, from }])
      else list.push({ partition, from })
    }
    try {
      const responses = await Promise.all(
        [...byLeader].map(async ([leader, wanted]): Promise<fetchV17.FetchResponse> => {
          const broker = this.#metadata.brokers.get(leader)
          if (broker === undefined) throw new Error(`the leader of ${name} is unknown`)
          return fetchRecords(client, broker, id, wanted, waitMs)
        }),
      )
      return responses.flatMap(({ responses: topics }) =>
        topics.flatMap(({ partitions }) =>
          partitions.map((one) => committedRecords(one, positions.get(one.partitionIndex) ?? 0)),
        ),
      )
    } catch (error) {
      throw plainError(error)
    }
  }

  async #coordinator() {
    const id = await this.#group.findGroupCoordinator()
    const broker = this.#metadata.brokers.get(id)
    if (broker === undefined) throw new Error('the coordinator of the group is unknown')
    return broker
  }

  async #offsets(topic: string, partition: number, timestamp: bigint): Promise<bigint> {
    const partitions = { [topic]: [partition] }
    const offsets = await this.#group.listOffsets({ topics: [topic], partitions, timestamp })
    return offsets.get(topic)?.[partition] ?? 0n
  }

  /** Ends open transactions of members that the group no longer has, instead of waiting until they time out. */
  async #fenceTheDead(): Promise<void> {
    const { prefix, group, logger } = this.#options
    const own = `${prefix}${group}/`
    const alive = new Set(await this.#memberNames())
    for (const broker of this.#metadata.brokers.values()) {
      const list = await request<listTransactionsV1.ListTransactionsResponse>(
        this.#admin,
        broker,
        'ListTransactions',
        [],
        [],
        -1n,
        null,
      )
      for (const { transactionalId, transactionState } of list.transactionStates) {
        const name = transactionalId.slice(own.length)
        if (!transactionalId.startsWith(own) || transactionState.toUpperCase() !== 'ONGOING' || alive.has(name))
          continue
        logger?.warn(`worker ${name} left a transaction open, which is ended now`)
        // a new producer with the same id makes the broker abort what the old one left
        await this.#transactionsOf(transactionalId).begin()
      }
    }
  }

  #transactionsOf(transactionalId: string): Transactions {
    const { pause } = this.#options
    return new Transactions({ client: this.#admin, transactionalId, pause, metadata: () => this.#metadata })
  }

  /** Waits until the session of a dead member with this name has ended. `CONFLICT` if the member is alive. */
  async #requireOwnName(): Promise<void> {
    const { name, pause, sessionMs = SESSION_MS } = this.#options
    for (let waited = 0; ; waited += NAME_MS) {
      const names: readonly string[] = await this.#memberNames().catch(() => [])
      if (!names.includes(name)) return
      if (waited > 2 * sessionMs)
        throw new AppError(
          'CONFLICT',
          `another worker with the name ${name} is running; start this one with another --name`,
        )
      await pause(NAME_MS)
    }
  }

  async #memberNames(): Promise<readonly string[]> {
    const { prefix, group } = this.#options
    const groups = await this.#admin.describeGroups({ groups: [prefix + group] })
    return [...(groups.get(prefix + group)?.members.values() ?? [])].map(({ clientId }) => clientId)
  }

  async #choose(): Promise<void> {
    const { prefix, group, input } = this.#options
    if (input !== 'in') return
    const groups = await this.#admin.describeGroups({ groups: [prefix + group] })
    const ids = [...(groups.get(prefix + group)?.members.keys() ?? [])].toSorted()
    const { memberId, partitions } = this.#assignment
    const owners = placed(this.partitions, ids)
    const next = new Set<number>()
    for (const [partition, owner] of owners.entries())
      if (
        ranked(
          partition,
          ids.filter((id) => id !== owner),
        )[0] === memberId &&
        !partitions.includes(partition)
      )
        next.add(partition)
    for (const partition of this.#followed.keys()) if (!next.has(partition)) this.#followed.delete(partition)
    for (const partition of next)
      if (!this.#followed.has(partition)) this.#followed.set(partition, { states: new Map(), next: 0 })
  }

  /** Keeps the states of followed partitions at hand. */
  async #follow(): Promise<void> {
    while (!this.#isClosed) {
      await this.#options.pause(FOLLOW_MS)
      const positions = new Map([...this.#followed].map(([partition, { next }]) => [partition, next]))
      if (positions.size === 0) continue
      const batches = await this.#read(this.#admin, 'state', positions, 0).catch(() => [])
      for (const batch of batches) {
        const followed = this.#followed.get(batch.partition)
        if (followed !== undefined && followed.next === positions.get(batch.partition)) addTo(followed, batch)
      }
    }
  }

  #topic(role: TopicRole): { readonly name: string; readonly id: string } {
    const topic = this.#topics.get(role)
    if (topic === undefined)
      throw new AppError('NOT_FOUND', `the topic ${this.#options.prefix}${TOPICS[role]} is missing`)
    return topic
  }
}

function addTo(followed: Followed, { records, next }: Batch): void {
  for (const { key = '', value } of records) {
    if (value === null || value === '') followed.states.delete(key)
    else followed.states.set(key, value)
  }
  followed.next = next
}

function baseOptions({ connection, name }: KafkaLogOptions) {
  return { ...clientOptions(connection, name), retries: 3, retryDelay: 100 }
}

function topicsOf({ prefix }: KafkaLogOptions, { topics }: ClusterMetadata) {
  const count = topics.get(prefix + TOPICS.in)?.partitionsCount
  const problems: string[] = []
  const found = new Map<TopicRole, { readonly name: string; readonly id: string }>()
  for (const [role, suffix] of Object.entries(TOPICS) as [TopicRole, string][]) {
    const name = prefix + suffix
    const topic = topics.get(name)
    const wanted = SINGLE.has(role) ? 1 : count
    if (topic === undefined) problems.push(`the topic ${name} is missing`)
    else if (topic.partitionsCount !== wanted)
      problems.push(`the topic ${name} has ${topic.partitionsCount} partitions; create it with ${wanted}`)
    else found.set(role, { name, id: topic.id })
  }
  if (problems.length === 0) return found
  throw new AppError(
    'VALIDATION',
    `${problems.join('\n')}\ncreate missing topics with \`reflexarc worker --create-topics\``,
  )
}
