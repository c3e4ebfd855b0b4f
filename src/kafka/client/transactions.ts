/**
 * Transactions by Kafka's own requests. Any failure ends the producer: the next transaction begins with a new epoch, which
 * makes the broker abort what was left open.
 */
import {
  type addPartitionsToTxnV5,
  type Admin,
  type ClusterMetadata,
  type findCoordinatorV6,
  type initProducerIdV5,
  type MessageRecord,
  NumericMap,
} from '@platformatic/kafka'
import { plainError } from '#services/connectors/kafka'
import { commitInTransaction, type Place, request } from './raw-requests.ts'

export interface TransactionOptions {
  readonly client: Admin
  readonly transactionalId: string
  readonly metadata: () => ClusterMetadata
  readonly pause: (ms: number) => Promise<void>
}

/** Offsets that a transaction commits for a member of a group. */
export interface MemberOffsets {
  readonly coordinator: Place
  readonly groupId: string
  readonly generation: number
  readonly memberId: string
  readonly topic: string
  readonly offsets: ReadonlyMap<number, number>
}

export type ToSend = MessageRecord & { readonly partition: number }

interface Identity {
  readonly producerId: bigint
  readonly producerEpoch: number
  readonly coordinator: Place
  readonly sequences: NumericMap
}

/** A broker aborts transactions that are open for longer. */
const TRANSACTION_MS = 10_000
const PRODUCE_MS = 10_000
const ALL = -1
const AGAIN_MS = 20
const MAX_AGAIN_MS = 10_000
/** The broker has not ended the last transaction yet, or its coordinator moves. */
const PASSING = /CONCURRENT_TRANSACTIONS|COORDINATOR_NOT_AVAILABLE|COORDINATOR_LOAD_IN_PROGRESS|NOT_COORDINATOR/
const TRANSACTION_COORDINATOR = 1

export class Transactions {
  readonly #options: TransactionOptions
  #identity: Identity | undefined

  constructor(options: TransactionOptions) {
    this.#options = options
  }

  /** Gets a new epoch, so that open transactions of earlier producers with this id are aborted. */
  async begin(): Promise<void> {
    await this.#begun()
  }

  /** Writes everything or nothing. Rejects when nothing was written, or when that is unknown. */
  async run(records: readonly ToSend[], member: MemberOffsets): Promise<void> {
    const identity = await this.#begun()
    const { client, transactionalId } = this.#options
    const { producerId, producerEpoch, coordinator } = identity
    const by = { transactionalId, producerId, producerEpoch }
    try {
      if (records.length > 0) {
        await this.#addPartitions(identity, records)
        await this.#produce(identity, records)
      }
      if (member.offsets.size > 0) {
        const { groupId, topic, offsets } = member
        await this.#again(() =>
          request(client, coordinator, 'AddOffsetsToTxn', transactionalId, producerId, producerEpoch, groupId),
        )
        await this.#again(() => commitInTransaction(client, member.coordinator, { ...member, ...by }, topic, offsets))
      }
      await this.#again(() => request(client, coordinator, 'EndTxn', transactionalId, producerId, producerEpoch, true))
    } catch (error) {
      this.#identity = undefined
      await request(client, coordinator, 'EndTxn', transactionalId, producerId, producerEpoch, false).catch(
        () => undefined,
      )
      throw plainError(error)
    }
  }

  async #begun(): Promise<Identity> {
    if (this.#identity !== undefined) return this.#identity
    const { client, transactionalId } = this.#options
    const coordinator = await this.#coordinator()
    const { producerId, producerEpoch } = await this.#again(() =>
      request<initProducerIdV5.InitProducerIdResponse>(
        client,
        coordinator,
        'InitProducerId',
        transactionalId,
        TRANSACTION_MS,
        -1n,
        -1,
      ),
    )
    return (this.#identity = { producerId, producerEpoch, coordinator, sequences: new NumericMap() })
  }

  async #coordinator(): Promise<Place> {
    const { client, transactionalId, metadata } = this.#options
    const [broker] = metadata().brokers.values()
    if (broker === undefined) throw new Error('no broker is known')
    const { coordinators } = await this.#again(() =>
      request<findCoordinatorV6.FindCoordinatorResponse>(client, broker, 'FindCoordinator', TRANSACTION_COORDINATOR, [
        transactionalId,
      ]),
    )
    const [found] = coordinators
    if (found === undefined) throw new Error('the coordinator of transactions is unknown')
    return found
  }

  async #addPartitions(
    { producerId, producerEpoch, coordinator }: Identity,
    records: readonly ToSend[],
  ): Promise<void> {
    const { client, transactionalId } = this.#options
    const topics = new Map<string, Set<number>>()
    for (const { topic, partition } of records) {
      const partitions = topics.get(topic)
      if (partitions === undefined) topics.set(topic, new Set([partition]))
      else partitions.add(partition)
    }
    const list = [...topics].map(([name, partitions]) => ({ name, partitions: [...partitions] }))
    const wanted = { transactionalId, producerId, producerEpoch, topics: list, verifyOnly: false }
    await this.#again(async () => {
      const response = await request<addPartitionsToTxnV5.AddPartitionsToTxnResponse>(
        client,
        coordinator,
        'AddPartitionsToTxn',
        [wanted],
      )
      requireAdded(response)
    })
  }

  async #produce({ producerId, producerEpoch, sequences }: Identity, records: readonly ToSend[]): Promise<void> {
    const { client, transactionalId, metadata } = this.#options
    const { topics, brokers } = metadata()
    const byLeader = new Map<number, ToSend[]>()
    const first = new NumericMap()
    for (const record of records) {
      const { topic, partition } = record
      const place = `${topic}:${partition}`
      const sequence = sequences.postIncrement(place, 1, 0)
      if (!first.has(place)) first.set(place, sequence)
      const leader = topics.get(topic)?.partitions[partition]?.leader ?? -1
      const list = byLeader.get(leader)
      if (list === undefined) byLeader.set(leader, [record])
      else list.push(record)
    }
    const by = { transactionalId, producerId, producerEpoch, sequences: first }
    await Promise.all(
      [...byLeader].map(([leader, list]) => {
        const broker = brokers.get(leader)
        if (broker === undefined) throw new Error(`broker ${leader} is unknown`)
        return request(client, broker, 'Produce', ALL, PRODUCE_MS, list, by)
      }),
    )
  }

  /** Repeats a request that met a passing state of the coordinator. */
  async #again<T>(work: () => Promise<T>): Promise<T> {
    for (let waited = 0; ; waited += AGAIN_MS) {
      try {
        return await work()
      } catch (error) {
        const plain = plainError(error)
        if (!PASSING.test(plain.message) || waited > MAX_AGAIN_MS) throw plain
        await this.#options.pause(AGAIN_MS)
      }
    }
  }
}

const CONCURRENT = 51

/** The client does not look at the results of partitions. */
function requireAdded({ resultsByTransaction }: addPartitionsToTxnV5.AddPartitionsToTxnResponse): void {
  for (const { topicResults } of resultsByTransaction)
    for (const { resultsByPartition } of topicResults)
      for (const { partitionErrorCode: code } of resultsByPartition)
        if (code !== 0)
          throw new Error(code === CONCURRENT ? 'CONCURRENT_TRANSACTIONS' : `a partition was not added: error ${code}`)
}
