/**
 * Groups posts of one turn with the same `store` and `forward` into one unit of the log.
 *
 * POSTGROUP-1 a group is committed as a whole. Posts with writes, which the store may reject, are grouped only with
 *   each other, so that retrying such a group does not delay other posts
 * POSTGROUP-2 a group is not larger than a single post may be
 */
import type { Write } from '#storage'
import type { PublishRequest } from './publish-request.ts'

export interface Grouped {
  readonly post: PublishRequest
  readonly size: number
  readonly writes: readonly Write[]
}

const MAX_CHARACTERS = 65_536
const MAX_POSTS = 512

export function groupsOf<T extends Grouped>(posts: readonly T[]): readonly (readonly T[])[] {
  const groups: T[][] = []
  let shared: T[] | undefined
  let size = 0
  for (const one of posts) {
    const first = shared?.[0]
    const isAlike = first !== undefined && kindOf(first) === kindOf(one)
    if (
      shared === undefined ||
      !mayShare(one) ||
      !isAlike ||
      size + one.size > MAX_CHARACTERS ||
      shared.length >= MAX_POSTS
    ) {
      const group = [one]
      groups.push(group)
      shared = mayShare(one) ? group : undefined
      size = one.size
    } else {
      shared.push(one)
      size += one.size
    }
  }
  return groups
}

function mayShare({ post }: Grouped): boolean {
  return post.channel === 'events' && post.arrivals.length === 1
}

function kindOf({ post: { forward, store }, writes }: Grouped): string {
  return `${forward} ${store} ${writes.length > 0}`
}
