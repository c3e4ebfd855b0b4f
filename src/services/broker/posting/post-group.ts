/**
 * Posts of one turn that agree in `store` and `forward` share one unit of the log, which pays for a commit and a call
 * of the engine once.
 *
 * POSTGROUP-1 a group is committed whole: a post that may be rejected by itself, or has writes of its own, is not
 *   grouped
 * POSTGROUP-2 a group is not larger than a single post may be
 */
import type { Write } from '#storage'
import type { PublishRequest } from './publish-request.ts'

/** A post with its size and writes. */
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
    const { post } = one
    const first = shared?.[0]?.post
    const isAlike = first?.forward === post.forward && first.store === post.store
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

function mayShare({ post, writes }: Grouped): boolean {
  return writes.length === 0 && post.channel === 'events' && post.arrivals.length === 1
}
