/** The broker of one partition of a tenant: what it asks of those of the others, and what it answers. */
import type { LogPlace } from '#kernel'
import { type Partition, partitionOf } from '#cluster'
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
  for (const { told: _told, ...arrival } of post.arrivals) {
    const at = partitionOf(arrival.resource, count)
    const known = byPartition.get(at)
    if (known === undefined) byPartition.set(at, [arrival])
    else known.push(arrival)
  }
  const own = byPartition.get(number) ?? []
  byPartition.delete(number)
  const isEmpty = own.length === 0
  return {
    own: { ...post, arrivals: own, ...(isEmpty && { store: false, forward: false }) },
    others: [...byPartition].map(([at, arrivals]) => [at, { ...post, arrivals, ...uncounted(post) }]),
  }
}

/** What is odd is counted once, where the post came; what rules read of it depends on it everywhere. */
function uncounted({ oddities }: Post): Pick<Post, 'oddities'> {
  return oddities === undefined ? {} : { oddities: { ...oddities, isCounted: true } }
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
  const merged = (numbers: readonly number[], asked: FollowedStream, options: Subscription): MergedReader => {
    const { signal, after, since, ...own } = options
    const places = numbers.map((one) => placeIn(since, one))
    const parts = numbers.map((one, at) => (ending: AbortSignal) => {
      const place = places[at]
      const from = { ...asked, ...(place !== undefined && { since: place }) }
      return one === number ? followed(streams, from, ending, own) : partition.follow(tenant, one, from, ending)
    })
    const isBack = after !== undefined || since !== undefined
    const reader = new MergedReader({ parts, isGap: isBack && places.includes(undefined) })
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
      return merged([home], { channel, resource }, options)
    },
    firehose(options) {
      return merged([...Array(count).keys()], { channel: 'events' }, options)
    },
  }
}

/** Of what was seen last in all partitions, what was in this one. */
function placeIn(seen: LogPlace | undefined, partition: number): LogPlace | undefined {
  if (seen === undefined) return undefined
  const { others = [], ...first } = seen
  return [first, ...others].find((one) => (one.partition ?? 0) === partition)
}

/** What a partition tells one that merges. `options`: of the reader there. */
export async function* followed(
  streams: StreamApi,
  { resource, channel, since }: FollowedStream,
  signal: AbortSignal,
  options: Pick<Subscription, 'most' | 'overflow'> = {},
): AsyncGenerator<FollowedPart> {
  const asked = { ...options, signal, ...(since !== undefined && { since }) }
  const reader = resource === undefined ? streams.firehose(asked) : streams.subscribe(resource, channel, asked)
  const joined = reader.passed?.place
  await reader.ready
  const { missed } = reader
  const place = since === undefined || missed ? (joined ?? reader.passed?.place) : since
  yield { here: true, ...(place !== undefined && { place }), ...(missed && { missed }) }
  for await (const told of reader) {
    const dropped = reader.takeDropped()
    if (dropped > 0) yield { dropped }
    yield { resource: told.topic, message: told.value, ...(told.place !== undefined && { place: told.place }) }
  }
}
