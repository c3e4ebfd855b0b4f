/**
 * Partitions of a tenant, which different hosts of a cluster may own at the same time. A message belongs to the
 * partition of its resource, a task to the one in its id: that of its resource at creation. By default a tenant has one
 * partition, with unchanged names, logs and ids.
 */
import { hashText } from '#kernel'

export const MAX_PARTITIONS = 64

export interface Partition {
  readonly number: number
  readonly count: number
}

export function partitionOf(resource: string, count: number): number {
  return count === 1 ? 0 : hashText(resource) % count
}

/** Partition in the id of a task; it stays, whatever the number of partitions later. */
export function partitionOfTask(id: string, count: number): number {
  const [, number] = /-p([1-9]\d?)$/.exec(id) ?? []
  return number !== undefined && Number(number) < count ? Number(number) : 0
}

/** Id of a task in that partition; `id` has no partition suffix. */
export function taskIdIn(id: string, number: number): string {
  return number === 0 ? id : `${id}-p${number}`
}

/** Pattern of ids from `taskIdIn`. */
export function taskIdsLike(number: number): string {
  return `*-p${number}`
}

/** Name of a unit of ownership: the tenant, with a number beyond its first partition. Tenant names have no slash. */
export function partitionName(tenant: string, number: number): string {
  return number === 0 ? tenant : `${tenant}/${number}`
}

export function readPartitionName(name: string): { readonly tenant: string; readonly number: number } {
  const slash = name.lastIndexOf('/')
  return slash < 0
    ? { tenant: name, number: 0 }
    : { tenant: name.slice(0, slash), number: Number(name.slice(slash + 1)) }
}
