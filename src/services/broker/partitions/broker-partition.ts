/** Splits posts by partition, and merges the streams of all partitions. */
import type { LogPosition } from '#kernel'
import { type Partition, partitionOf } from '#cluster'
import type { BrokerQuestion, FollowedPart, FollowedStream, StreamApi, Subscription } from '../contract.ts'
import type { PublishRequest } from '../posting/publish-request.ts'
import { MergedReader } from './merged-reader.ts'

export interface BrokerPartition extends Partition {
  /** Calls `answer` of another partition's broker. Rejects with `FENCED` when the partition has no host. */
  ask(partition: number, question: BrokerQuestion): Promise<unknown>
  follow(partition: number, request: FollowedStream, signal: AbortSignal): AsyncIterable<FollowedPart>
}

export interface SplitPost {
  readonly local: PublishRequest
  readonly others: readonly (readonly [partition: number, post: PublishRequest])[]
}

/** Keeps the order of the post; any partition can write a bulk, and commands belong to the first partition. */
export function splitPost(post: PublishRequest, { number, count }: Partition): SplitPost {
  const isWhole =
    post.channel === 'commands' || post.arrivals.every(({ resource }) => partitionOf(resource, count) === number)
  if (isWhole) return { local: post, others: [] }
  const byPartition = new Map<number, PublishRequest['arrivals'][number][]>()
  for (const { routed: _routed, ...incoming } of post.arrivals) {
    const at = partitionOf(incoming.resource, count)
    const known = byPartition.get(at)
    if (known === undefined) byPartition.set(at, [incoming])
    else known.push(incoming)
  }
  const local = byPartition.get(number) ?? []
  byPartition.delete(number)
  const isEmpty = local.length === 0
  return {
    local: { ...post, arrivals: local, ...(isEmpty && { store: false, forward: false }) },
    others: [...byPartition].map(([at, arrivals]) => [at, { ...post, arrivals, ...uncounted(post) }]),
  }
}

/** Oddities are counted only where the post arrived; other partitions need them for what rules read. */
function uncounted({ oddities }: PublishRequest): Pick<PublishRequest, 'oddities'> {
  return oddities === undefined ? {} : { oddities: { ...oddities, isCounted: true } }
}

export function isOfOthers({ arrivals, bulk, store }: PublishRequest, { number, count }: Partition): boolean {
  const isForeign = (resource: string): boolean => partitionOf(resource, count) !== number
  return (
    store && (arrivals.some(({ resource }) => isForeign(resource)) || [...(bulk?.seen.keys() ?? [])].some(isForeign))
  )
}

/** A stream of one resource comes from its partition; a stream of all resources merges every partition. */
export function streamsOfAll(streams: StreamApi, partition: BrokerPartition): StreamApi {
  const { number, count } = partition
  const merged = (numbers: readonly number[], request: FollowedStream, options: Subscription): MergedReader => {
    const { signal, after, since, ...rest } = options
    const positions = numbers.map((one) => positionIn(since, one))
    const parts = numbers.map((one, at) => (ending: AbortSignal) => {
      const position = positions[at]
      const from = { ...request, ...(position !== undefined && { since: position }) }
      return one === number ? followed(streams, from, ending, rest) : partition.follow(one, from, ending)
    })
    const isBack = after !== undefined || since !== undefined
    const reader = new MergedReader({ parts, isGap: isBack && positions.includes(undefined) })
    const end = (): void => void reader.return()
    if (signal.aborted) end()
    else signal.addEventListener('abort', end, { once: true })
    return reader
  }
  return {
    subscribe(resource, channel, options) {
      // commands belong to the first partition
      const home = channel === 'commands' ? 0 : partitionOf(resource, count)
      if (home === number) return streams.subscribe(resource, channel, options)
      return merged([home], { channel, resource }, options)
    },
    firehose(options) {
      return merged([...Array(count).keys()], { channel: 'events' }, options)
    },
  }
}

function positionIn(seen: LogPosition | undefined, partition: number): LogPosition | undefined {
  if (seen === undefined) return undefined
  const { others = [], ...first } = seen
  return [first, ...others].find((one) => (one.partition ?? 0) === partition)
}

export async function* followed(
  streams: StreamApi,
  { resource, channel, since }: FollowedStream,
  signal: AbortSignal,
  options: Pick<Subscription, 'most' | 'overflow'> = {},
): AsyncGenerator<FollowedPart> {
  const subscription = { ...options, signal, ...(since !== undefined && { since }) }
  const reader =
    resource === undefined ? streams.firehose(subscription) : streams.subscribe(resource, channel, subscription)
  const joined = reader.passed?.place
  await reader.ready
  const { missed } = reader
  const place = since === undefined || missed ? (joined ?? reader.passed?.place) : since
  yield { here: true, ...(place !== undefined && { place }), ...(missed && { missed }) }
  for await (const message of reader) {
    const dropped = reader.takeDropped()
    if (dropped > 0) yield { dropped }
    const { topic, value, place: at } = message
    yield { resource: topic, message: value, ...(at !== undefined && { place: at }) }
  }
}
