/**
 * Reads topics of Kafka in a consumer group. The position of the host decides where each partition begins: it is
 * committed to the group before reading, unless the document names a group and a member elsewhere is ahead of it.
 */
import { Consumer, type Message, type MessagesStream, stringDeserializer } from '@platformatic/kafka'
import type { Json } from '#kernel'
import { machineTimers } from '#platform'
import type { SourceConnection, SourceOpening, SourceRecord } from '../port.ts'
import { clientOptions, type FoundTopic, findTopics, plainError, plainly } from './kafka-options.ts'

const MAX_RECORDS = 1_000
const FETCH_BYTES = 4 * 1024 * 1024
const FETCH_WAIT_MS = 500
const SESSION_MS = 10_000
const HEARTBEAT_MS = 2_000
/** Interval between commits to the group, which other readers of the group and tools see */
const COMMIT_MS = 1_000
/** Interval between looks for topics that were deleted or created again */
const LOOK_MS = 5_000

type Kafka = Consumer<string, Buffer, string, string>
type Received = Message<string, Buffer, string, string>

interface Place {
  readonly topic: string
  readonly partition: number
  readonly offset: bigint
}

export async function openKafkaSource(opening: SourceOpening): Promise<SourceConnection> {
  const { connection, clientId, document } = opening
  const options = clientOptions(connection, clientId)
  const topics = [...new Set(document.topics)]
  const found = await findTopics(opening, topics)
  const consumer: Kafka = new Consumer({
    ...options,
    groupId: document.group ?? clientId,
    groupInstanceId: clientId,
    groupProtocol: 'classic',
    sessionTimeout: SESSION_MS,
    rebalanceTimeout: 2 * SESSION_MS,
    heartbeatInterval: HEARTBEAT_MS,
    autocommit: false,
    maxBytes: FETCH_BYTES,
    maxWaitTime: FETCH_WAIT_MS,
    deserializers: { key: stringDeserializer, headerKey: stringDeserializer, headerValue: stringDeserializer },
  })
  // the client also emits what it rejects calls with
  consumer.on('error', () => undefined)
  try {
    consumer.topics.trackAll(...topics)
    await plainly(consumer.joinGroup({}))
    await plainly(beginAt(consumer, found, opening))
    const stream = await plainly(
      consumer.consume({ topics, mode: 'committed', fallbackMode: 'earliest', autocommit: false }),
    )
    return new KafkaSource(consumer, stream, found, opening)
  } catch (error) {
    await consumer.close(true).catch(() => undefined)
    throw error
  }
}

/** Commits to the group where each partition begins: the position, or the start of the document. */
async function beginAt(
  consumer: Kafka,
  found: ReadonlyMap<string, FoundTopic>,
  { document, position }: SourceOpening,
): Promise<void> {
  const all = [...found].map(([topic, { partitions }]) => {
    return { topic, partitions: Array.from({ length: partitions }, (_, at) => at) }
  })
  const committed = await consumer.listCommittedOffsets({ topics: all })
  const places: Place[] = []
  const unread = new Map<string, number[]>()
  for (const { topic, partitions } of all) {
    for (const partition of partitions) {
      const stored = position[keyOf(topic, found, partition)]
      const ofGroup = committed.get(topic)?.[partition] ?? -1n
      const offset = stored === undefined ? -1n : BigInt(stored as string)
      // a named group may have members elsewhere, which are ahead
      if (offset >= 0n && (document.group === undefined ? offset !== ofGroup : offset > ofGroup)) {
        places.push({ topic, partition, offset })
      } else if (ofGroup < 0n && offset < 0n) unread.set(topic, [...(unread.get(topic) ?? []), partition])
    }
  }
  if (unread.size > 0) places.push(...(await firstPlaces(consumer, unread, document.start ?? 'latest')))
  if (places.length > 0) await consumer.commit({ offsets: places.map((place) => ({ ...place, leaderEpoch: -1 })) })
}

const EARLIEST = -2n
const LATEST = -1n

async function firstPlaces(
  consumer: Kafka,
  unread: ReadonlyMap<string, number[]>,
  start: NonNullable<SourceOpening['document']['start']>,
): Promise<readonly Place[]> {
  const asked = { topics: [...unread.keys()], partitions: Object.fromEntries(unread) }
  const time = start === 'earliest' ? EARLIEST : start === 'latest' ? LATEST : BigInt(start.time)
  const offsets = await consumer.listOffsets({ ...asked, timestamp: time })
  const ends = time < 0n ? offsets : await consumer.listOffsets({ ...asked, timestamp: LATEST })
  return [...unread].flatMap(([topic, partitions]) =>
    partitions.map((partition) => {
      const offset = offsets.get(topic)?.[partition] ?? -1n
      // nothing is as young as that time
      return { topic, partition, offset: offset >= 0n ? offset : (ends.get(topic)?.[partition] ?? 0n) }
    }),
  )
}

/** A topic that is created again is another one, whose offsets begin again. */
function keyOf(topic: string, found: ReadonlyMap<string, FoundTopic>, partition: number): string {
  return `${topic}/${found.get(topic)?.id ?? ''}/${partition}`
}

class KafkaSource implements SourceConnection {
  readonly #consumer: Kafka
  readonly #stream: MessagesStream<string, Buffer, string, string>
  readonly #found: ReadonlyMap<string, FoundTopic>
  readonly #opening: SourceOpening
  /** by partition: the offset after the last returned record, since a rebalance may return records again */
  readonly #returned = new Map<string, bigint>()
  readonly #acknowledged = new Map<string, Place & { readonly leaderEpoch: number }>()
  readonly #timers: (() => void)[] = []
  #failure: Error | undefined
  #wake: () => void = () => undefined
  #closing: Promise<void> | undefined

  constructor(
    consumer: Kafka,
    stream: MessagesStream<string, Buffer, string, string>,
    found: ReadonlyMap<string, FoundTopic>,
    opening: SourceOpening,
  ) {
    this.#consumer = consumer
    this.#stream = stream
    this.#found = found
    this.#opening = opening
    const fail = (error: unknown): void => {
      this.#failure ??= plainError(error)
      this.#wake()
    }
    stream.on('error', fail)
    stream.on('close', () => fail(new Error('the connection to the broker has ended')))
    stream.on('readable', () => this.#wake())
    opening.signal.addEventListener('abort', () => this.#wake(), { once: true })
    this.#timers.push(
      machineTimers.every(COMMIT_MS, () => void this.#commit().catch(fail)),
      machineTimers.every(LOOK_MS, () => void this.#look().catch(fail)),
    )
  }

  async next(): Promise<readonly SourceRecord[] | undefined> {
    for (;;) {
      if (this.#opening.signal.aborted) return undefined
      if (this.#failure !== undefined) throw this.#failure
      const records: SourceRecord[] = []
      while (records.length < MAX_RECORDS) {
        const message = this.#stream.read() as Received | null
        if (message === null) break
        const record = this.#recordOf(message)
        if (record !== undefined) records.push(record)
      }
      if (records.length > 0) return records
      await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }

  async acknowledge(records: readonly SourceRecord[]): Promise<void> {
    for (const { place } of records) {
      if (place === undefined) continue
      const { topic, partition } = placeOf(place.partition)
      this.#acknowledged.set(place.partition, {
        topic,
        partition,
        offset: BigInt(place.next as string),
        leaderEpoch: -1,
      })
    }
  }

  async lag(): Promise<number | undefined> {
    const ends = await this.#consumer.listOffsets({ topics: [...this.#found.keys()], timestamp: LATEST })
    let lag = 0n
    for (const { topic, partitions } of this.#consumer.assignments ?? []) {
      for (const partition of partitions) {
        const end = ends.get(topic)?.[partition] ?? 0n
        const key = keyOf(topic, this.#found, partition)
        const read = this.#returned.get(key) ?? this.#stream.offsetsToFetch.get(`${topic}:${partition}`) ?? end
        if (end > read) lag += end - read
      }
    }
    return Number(lag)
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#close())
  }

  async #close(): Promise<void> {
    for (const cancel of this.#timers) cancel()
    await this.#commit().catch(() => undefined)
    await this.#consumer.close(true).catch(() => undefined)
  }

  #recordOf({ topic, partition, offset, key, value, headers, timestamp }: Received): SourceRecord | undefined {
    const at = keyOf(topic, this.#found, partition)
    if (offset < (this.#returned.get(at) ?? 0n)) return undefined
    this.#returned.set(at, offset + 1n)
    const next: Json = String(offset + 1n)
    return {
      id: `${topic}/${partition}/${offset}`,
      topic,
      key: key ?? undefined,
      payload: value ?? EMPTY,
      ...(headers.size > 0 && { headers: Object.fromEntries(headers) }),
      time: Number(timestamp),
      place: { partition: at, next },
    }
  }

  async #commit(): Promise<void> {
    if (this.#acknowledged.size === 0 || this.#failure !== undefined) return
    const offsets = [...this.#acknowledged.values()]
    this.#acknowledged.clear()
    await this.#consumer.commit({ offsets })
  }

  /** Rejects once a topic was deleted, or created again. */
  async #look(): Promise<void> {
    const { topics } = await this.#consumer.metadata({ topics: [...this.#found.keys()], forceUpdate: true })
    for (const [topic, { id }] of topics) {
      if (id !== this.#found.get(topic)?.id) throw new Error(`the topic ${topic} was created again`)
    }
  }
}

const EMPTY = Buffer.alloc(0)

function placeOf(key: string): { readonly topic: string; readonly partition: number } {
  const [topic = '', , partition = ''] = key.split('/')
  return { topic, partition: Number(partition) }
}
