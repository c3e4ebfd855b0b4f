/**
 * Posts that came together and are of one kind share entries of the log and one commit: what is paid for each entry and
 * each commit is then paid once for all of them.
 *
 * POSTGROUP-1 a group is committed whole: a post that might be refused by itself, or brings writes of its own, has one
 *   to itself
 * POSTGROUP-2 an entry is no larger than the entry of a single post may be, and neither is what series get of it at
 *   once
 */
import type { Json } from '#kernel'
import type { Write } from '#storage'
import type { Post } from './arrival.ts'
import { entriesOf, sharedEntries } from './log-entry.ts'

/** A post on its way, as far as groups are concerned. */
export interface Grouped {
  readonly post: Post
  /** characters of its messages */
  readonly size: number
  /** to be committed with it */
  readonly writes: readonly Write[]
}

export interface Group<T extends Grouped> {
  readonly posts: readonly T[]
  /** of the log */
  readonly entries: readonly Json[]
  /** by the place of the post: the first and the last of its entries, by their places; undefined: it has none */
  readonly places: readonly (readonly [first: number, last: number] | undefined)[]
}

/** characters of one group */
const MAX_CHARACTERS = 65_536
/** posts of one group */
const MAX_POSTS = 512

/** In the order of the posts. */
export function groupsOf<T extends Grouped>(posts: readonly T[]): readonly Group<T>[] {
  const groups: Group<T>[] = []
  let shared: T[] = []
  let size = 0
  const end = (): void => {
    const [only] = shared
    if (only !== undefined) groups.push(shared.length === 1 ? alone(only) : together(shared))
    shared = []
    size = 0
  }
  for (const one of posts) {
    if (!mayShare(one)) {
      end()
      groups.push(alone(one))
      continue
    }
    const fits = size + one.size <= MAX_CHARACTERS && shared.length < MAX_POSTS
    if (!fits || shared[0]?.post.forward !== one.post.forward) end()
    shared.push(one)
    size += one.size
  }
  end()
  return groups
}

/** Each of the posts as a group of its own. */
export function apart<T extends Grouped>({ posts }: Group<T>): readonly Group<T>[] {
  return posts.map(alone)
}

function mayShare({ post, writes }: Grouped): boolean {
  return writes.length === 0 && post.channel === 'events' && post.arrivals.length === 1
}

function alone<T extends Grouped>(one: T): Group<T> {
  const entries = one.post.store ? entriesOf(one.post) : []
  return { posts: [one], entries, places: [entries.length === 0 ? undefined : [0, entries.length - 1]] }
}

function together<T extends Grouped>(posts: readonly T[]): Group<T> {
  const stored = posts.filter(({ post }) => post.store)
  const { entries, places } = sharedEntries(stored.map(({ post }) => post))
  let next = 0
  return {
    posts,
    entries,
    places: posts.map(({ post }) => {
      const place = post.store ? places[next++] : undefined
      return place === undefined ? undefined : [place, place]
    }),
  }
}
