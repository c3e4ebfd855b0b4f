/**
 * Groups posts of one turn with the same `store` and `forward` into one unit of the log.
 *
 * POSTGROUP-1 a group is committed as a whole. Posts with writes, which the store may reject, are grouped only with
 *   each other, so that retrying such a group does not delay other posts
 * POSTGROUP-2 a group is not larger than a single post may be, unless it is a batch
 */
import type { Write } from '#storage'
import type { PublishRequest } from './publish-request.ts'

export interface Grouped {
  readonly post: PublishRequest
  readonly size: number
  readonly writes: readonly Write[]
  /** the same object for all posts of one batch, which are one group */
  readonly batch?: object | undefined
}

const MAX_CHARACTERS = 65_536
const MAX_POSTS = 512

export function groupsOf<T extends Grouped>(posts: readonly T[]): readonly (readonly T[])[] {
  const groups: T[][] = []
  let shared: T[] | undefined
  let size = 0
  for (const one of posts) {
    const first = shared?.[0]
    const isAlike = first !== undefined && first.batch === one.batch && kindOf(first) === kindOf(one)
    const isSmall = size + one.size <= MAX_CHARACTERS && (shared?.length ?? 0) < MAX_POSTS
    if (shared !== undefined && isAlike && mayShare(one) && (isSmall || one.batch !== undefined)) {
      shared.push(one)
      size += one.size
    } else {
      const group = [one]
      groups.push(group)
      shared = mayShare(one) ? group : undefined
      size = one.size
    }
  }
  return groups
}

function mayShare({ post }: Grouped): boolean {
  return post.channel === 'events' && post.arrivals.length === 1
}

function kindOf({ post: { forward, store }, writes, batch }: Grouped): string {
  return `${forward} ${store} ${batch === undefined && writes.length > 0}`
}
