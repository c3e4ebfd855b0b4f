/** The broker of one partition of a tenant: what it asks of those of the others, and what it answers. */
import { AppError } from '../../../kernel/errors.ts'
import { partitionOf, type Partition } from '../../../partitions/partition.ts'
import type { BrokerQuestion } from '../contract.ts'
import type { Post } from '../posting/arrival.ts'

/** One of several partitions of each tenant that the broker has. */
export interface BrokerPartition extends Partition {
  /** Asks the broker of another partition: what `answer` of its service does. Rejects as that does; `FENCED` when no host has it. */
  ask(tenant: string, partition: number, question: BrokerQuestion): Promise<unknown>
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

/** A stream hears what comes to one partition. */
export function requireOwnStream(resource: string, { number, count }: Partition): void {
  const at = partitionOf(resource, count)
  if (at === number) return
  throw new AppError('ELSEWHERE', `resource ${resource} is in partition ${at}: ask for its own path`)
}

export function streamOfAllRefused({ count }: Partition): AppError {
  return new AppError(
    'UNSUPPORTED',
    `the tenant has ${count} partitions, and a stream of all messages is that of one; read the streams of resources`,
  )
}
