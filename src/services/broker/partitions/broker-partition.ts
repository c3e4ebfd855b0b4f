/** The broker of one partition of a tenant: what it asks of those of the others, and what it answers. */
import { partitionOf, type Partition } from '../../../partitions/partition.ts'
import type { BrokerQuestion, FollowedPart, FollowedStream, StreamApi, Subscription } from '../contract.ts'
import type { Post } from '../posting/arrival.ts'
import { MergedReader } from './merged-reader.ts'

/** One of several partitions of each tenant that the broker has. */
export interface BrokerPartition extends Partition {
  /** Asks the broker of another partition: what `answer` of its service does. Rejects as that does; `FENCED` when no host has it. */
  ask(tenant: string, partition: number, question: BrokerQuestion): Promise<unknown>
  /** What `follow` of its service gives there; rejects with `FENCED` when no host has it. */
  follow(tenant: string, partition: number, asked: FollowedStream, signal: AbortSignal): AsyncIterable<FollowedPart>
}

export interface SplitPost {
  readonly own: Post
  readonly others: readonly (readonly [partition: number, post: Post])[]
}

/**
 * A post by the partitions of its resources, each in the order of the post. What goes into series alone is not split: it
 * wakes nobody, and any partition can write it; commands are those of the first.
 */
export function splitPost(post: Post, { number, count }: Partition): SplitPost {
  const isWhole =
    post.channel === 'commands' || post.arrivals.every(({ resource }) => partitionOf(resource, count) === number)
  if (isWhole) return { own: post, others: [] }
  const byPartition = new Map<number, Post['arrivals'][number][]>()
  for (const { resource, message, text } of post.arrivals) {
    const at = partitionOf(resource, count)
    const known = byPartition.get(at)
    const arrival = { resource, message, text }
    if (known === undefined) byPartition.set(at, [arrival])
    else known.push(arrival)
  }
  const own = byPartition.get(number) ?? []
  byPartition.delete(number)
  const isEmpty = own.length === 0
  return {
    own: { ...post, arrivals: own, ...(isEmpty && { store: false, forward: false }) },
    others: [...byPartition].map(([at, arrivals]) => [at, { ...post, arrivals }]),
  }
}

/** Whether series have something of resources of other partitions by it. */
export function isOfOthers({ arrivals, bulk, store }: Post, { number, count }: Partition): boolean {
  const isForeign = (resource: string): boolean => partitionOf(resource, count) !== number
  return (
    store && (arrivals.some(({ resource }) => isForeign(resource)) || [...(bulk?.seen.keys() ?? [])].some(isForeign))
  )
}

/** Streams of a tenant with several partitions: of a resource from the partition that has it, of all from all of them. */
export function streamsOfAll(tenant: string, streams: StreamApi, partition: BrokerPartition): StreamApi {
  const { number, count } = partition
  const at = (other: number, asked: FollowedStream) => (signal: AbortSignal) =>
    partition.follow(tenant, other, asked, signal)
  const isBack = ({ after, since }: Subscription): boolean => after !== undefined || since !== undefined
  const ended = (reader: MergedReader, { signal }: Subscription): MergedReader => {
    const end = (): void => void reader.return()
    if (signal.aborted) end()
    else signal.addEventListener('abort', end, { once: true })
    return reader
  }
  return {
    subscribe(resource, channel, options) {
      // commands are those of the first partition
      const home = channel === 'commands' ? 0 : partitionOf(resource, count)
      if (home === number) return streams.subscribe(resource, channel, options)
      const others = [at(home, { channel, resource })]
      return ended(new MergedReader({ others, isBack: isBack(options) }), options)
    },
    firehose(options) {
      const { signal, most, overflow } = options
      const own = streams.firehose({ signal, ...(most !== undefined && { most }), ...(overflow && { overflow }) })
      const others = Array.from({ length: count }, (_, other) => other)
        .filter((other) => other !== number)
        .map((other) => at(other, { channel: 'events' }))
      return ended(new MergedReader({ own, others, isBack: isBack(options) }), options)
    },
  }
}

/** What another partition is told of this one's. */
export async function* followed(
  streams: StreamApi,
  { resource, channel }: FollowedStream,
  signal: AbortSignal,
): AsyncGenerator<FollowedPart> {
  const reader =
    resource === undefined ? streams.firehose({ signal }) : streams.subscribe(resource, channel, { signal })
  yield { here: true }
  for await (const { topic, value } of reader) {
    const dropped = reader.takeDropped()
    if (dropped > 0) yield { dropped }
    yield { resource: topic, message: value }
  }
}
