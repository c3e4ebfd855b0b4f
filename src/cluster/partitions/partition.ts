/**
 * Partitions of a tenant: the parts that different hosts of a cluster may have at the same time. A message belongs to
 * the partition of its resource, and a task to the one that its id names, which is that of its resource when it is made.
 * A tenant that says nothing has one, with the names, logs and ids that it always had.
 */
import { hashText } from '#kernel'

export const MAX_PARTITIONS = 64

export interface Partition {
  /** from 0 */
  readonly number: number
  /** how many the tenant has */
  readonly count: number
}

/** The partition of a resource. */
export function partitionOf(resource: string, count: number): number {
  return count === 1 ? 0 : hashText(resource) % count
}

/** The partition that has a task: it stays there, however many partitions there are later. */
export function partitionOfTask(id: string, count: number): number {
  const [, number] = /-p([1-9]\d?)$/.exec(id) ?? []
  return number !== undefined && Number(number) < count ? Number(number) : 0
}

/** An id of a task that is to be in that partition; `id` ends in no partition. */
export function taskIdIn(id: string, number: number): string {
  return number === 0 ? id : `${id}-p${number}`
}

/** What `taskIdIn` puts behind the ids of a partition. */
export function taskIdsLike(number: number): string {
  return `*-p${number}`
}

/** What is owned by one host: a tenant, and beyond its first partition the tenant and the number. No tenant has a slash in its name. */
export function partitionName(tenant: string, number: number): string {
  return number === 0 ? tenant : `${tenant}/${number}`
}

export function readPartitionName(name: string): { readonly tenant: string; readonly number: number } {
  const slash = name.lastIndexOf('/')
  return slash < 0
    ? { tenant: name, number: 0 }
    : { tenant: name.slice(0, slash), number: Number(name.slice(slash + 1)) }
}
