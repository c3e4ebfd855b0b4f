/**
 * Posts that came together and are of one kind share one unit of the log: what is paid for each commit and each call of
 * the engine is then paid once for all of them.
 *
 * POSTGROUP-1 a group is committed whole: a post that might be refused by itself, or brings writes of its own, has one
 *   to itself
 * POSTGROUP-2 a group is no larger than a single post may be
 */
import type { Write } from '#storage'
import type { PublishRequest } from './publish-request.ts'

/** A post on its way, as far as groups are concerned. */
export interface Grouped {
  readonly post: PublishRequest
  /** characters of its messages */
  readonly size: number
  /** to be committed with it */
  readonly writes: readonly Write[]
}

/** characters of one group */
const MAX_CHARACTERS = 65_536
/** posts of one group */
const MAX_POSTS = 512

/** In the order of the posts. */
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
