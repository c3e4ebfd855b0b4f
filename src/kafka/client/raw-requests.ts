/** Requests of Kafka's protocol that the client does not make, or makes one partition at a time. */
import {
  type API,
  type Base,
  type Connection,
  kGetApi,
  kGetConnection,
  type fetchV17,
  type offsetFetchV9,
} from '@platformatic/kafka'

type Client = Pick<Base, typeof kGetApi | typeof kGetConnection>
type Arguments = readonly unknown[]

export interface Place {
  readonly host: string
  readonly port: number
}

/** Sends one request to a broker, in the highest version that both know. */
export async function request<Response>(
  client: Client,
  broker: Place,
  name: string,
  ...args: Arguments
): Promise<Response> {
  const api = await new Promise<API<unknown[], Response>>((resolve, reject) =>
    client[kGetApi]<unknown[], Response>(name, (error, found) =>
      error === null && found !== undefined ? resolve(found) : reject(error ?? new Error(`${name} is not supported`)),
    ),
  )
  const connection = await new Promise<Connection>((resolve, reject) =>
    client[kGetConnection](broker, (error, found) =>
      error === null && found !== undefined ? resolve(found) : reject(error ?? new Error('the connection is missing')),
    ),
  )
  return api.async(connection, ...args)
}

export interface Wanted {
  readonly partition: number
  readonly from: number
}

const MAX_BYTES = 8 * 1024 * 1024
const PARTITION_BYTES = 1024 * 1024
const READ_COMMITTED = 1
const NO_SESSION = [0, -1] as const

/** Fetches committed records. The client's own fetch returns aborted ones in some cases. */
export function fetchRecords(
  client: Client,
  broker: Place,
  topicId: string,
  wanted: readonly Wanted[],
  waitMs: number,
): Promise<fetchV17.FetchResponse> {
  const partitions = wanted.map(({ partition, from }) => {
    const epochs = { currentLeaderEpoch: -1, lastFetchedEpoch: -1 }
    return { partition, fetchOffset: BigInt(from), partitionMaxBytes: PARTITION_BYTES, ...epochs }
  })
  const topics = [{ topicId, partitions }]
  return request(client, broker, 'Fetch', waitMs, 1, MAX_BYTES, READ_COMMITTED, ...NO_SESSION, topics, [], '')
}

/** Returns committed offsets; rejects with UNSTABLE_OFFSET_COMMIT while a transaction over one of them is open. */
export async function stableOffsets(
  client: Client,
  coordinator: Place,
  groupId: string,
  topic: string,
  partitions: readonly number[],
): Promise<ReadonlyMap<number, number>> {
  const topics = [{ name: topic, partitionIndexes: [...partitions] }]
  const groups = [{ groupId, memberId: null, memberEpoch: -1, topics }]
  const response = await request<offsetFetchV9.OffsetFetchResponse>(client, coordinator, 'OffsetFetch', groups, true)
  const found = new Map<number, number>()
  for (const group of response.groups)
    for (const one of group.topics)
      for (const { partitionIndex, committedOffset } of one.partitions)
        if (committedOffset >= 0n) found.set(partitionIndex, Number(committedOffset))
  return found
}

export interface OffsetCommit {
  readonly transactionalId: string
  readonly groupId: string
  readonly producerId: bigint
  readonly producerEpoch: number
  readonly generation: number
  readonly memberId: string
}

/** Adds the offsets of all partitions to a transaction, in one request. */
export function commitInTransaction(
  client: Client,
  coordinator: Place,
  { transactionalId, groupId, producerId, producerEpoch, generation, memberId }: OffsetCommit,
  topic: string,
  offsets: ReadonlyMap<number, number>,
): Promise<unknown> {
  const partitions = [...offsets].map(([partitionIndex, offset]) => {
    return { partitionIndex, committedOffset: BigInt(offset), committedLeaderEpoch: -1, committedMetadata: '' }
  })
  const by = [transactionalId, groupId, producerId, producerEpoch, generation, memberId, null] as const
  return request(client, coordinator, 'TxnOffsetCommit', ...by, [{ name: topic, partitions }])
}
