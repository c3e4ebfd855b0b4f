/** Defines the partitions of a tenant: a message is in its resource's, a task in the one in its id. */
import { hashText } from '#kernel'

export const MAX_PARTITIONS = 64

export interface Partition {
  readonly number: number
  readonly count: number
}

export function partitionOf(resource: string, count: number): number {
  return count === 1 ? 0 : hashText(resource) % count
}

/** Returns the partition in a task's id, which stays the same even if the number of partitions changes. */
export function partitionOfTask(id: string, count: number): number {
  const [, number] = /-p([1-9]\d?)$/.exec(id) ?? []
  return number !== undefined && Number(number) < count ? Number(number) : 0
}

/** Returns the id of a task, or of a rehearsal, in a partition; `id` must not have a partition suffix. */
export function taskIdIn(id: string, number: number): string {
  return number === 0 ? id : `${id}-p${number}`
}

export function taskIdsLike(number: number): string {
  return `*-p${number}`
}

/** The tenant's name, and the number unless it is the first. Tenant names contain no slash. */
export function partitionName(tenant: string, number: number): string {
  return number === 0 ? tenant : `${tenant}/${number}`
}

export function readPartitionName(name: string): { readonly tenant: string; readonly number: number } {
  const slash = name.lastIndexOf('/')
  return slash < 0
    ? { tenant: name, number: 0 }
    : { tenant: name.slice(0, slash), number: Number(name.slice(slash + 1)) }
}
