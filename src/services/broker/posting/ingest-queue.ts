/**
 * The posts of one tenant from their arrival to their acknowledgement. What this queue is for: it admits posts as far as
 * there is room, hands those that come in one turn of the loop on together, a window of them at a time, and acknowledges
 * all in the order of arrival, past discovery and subscribers; series follow behind. It gathers no commits: a group of
 * posts is one unit of work for engine and store, because entries, promises and calls of the engine are then paid once
 * for all of them. Which units share a commit is the store's affair, and in which order tasks take them that of the
 * engine's input queue.
 *
 * INGEST-1 a post is acknowledged after its commit, never before
 * INGEST-2 subscribers hear of posts in the order in which they are acknowledged
 * INGEST-3 what waits is bounded: beyond it posts are refused, and nothing of them was done
 * INGEST-4 series are told of a post before its poster and its subscribers are
 * INGEST-6 what rules make of posts goes on behind what clients post: it has a small window of its own and takes no room
 *   of theirs, so that rules that set each other off keep no client waiting, nor any client the rules for ever
 * INGEST-5 a post is refused for its own sake alone: what a group is refused for is tried with each of its posts
 */
import { AppError, type Ended, type LogPlace, ReorderBuffer } from '#kernel'
import type { Store, Write } from '#storage'
import { machineTimers } from '#platform'
import type { ForwardedPost, Forwarding } from '../contract.ts'
import { readableMessageOf, routedText, type Post } from './arrival.ts'
import { LOG, PARTITION } from './log-entry.ts'
import { apart, groupsOf, type Group, type Grouped } from './post-group.ts'
import { isRefusal, type Logged } from './projection.ts'
import type { SeriesProjector } from './series-projector.ts'

/** posts and characters that wait in one tenant: of clients, and as many of rules */
export interface IngestLimits {
  /** default 50,000 */
  readonly posts: number
  /** characters of their messages; default 128 Mi */
  readonly characters: number
}

export interface IngestQueueDependencies {
  readonly tenant: string
  readonly store: Store
  readonly projector: SeriesProjector
  readonly limits: IngestLimits
  /** absent: nothing listens */
  readonly engine: () => Forwarding | undefined
  /** before the answer, of posts that are durable; never rejects */
  readonly arrived: (posts: readonly Post[]) => Promise<void> | undefined
  /** told in the order of acknowledgement; `before`: where the log has what is before its first message; undefined: it has not the post */
  readonly told: (post: Post, before: LogPlace | undefined) => void
}

/** Posts of clients, or of rules. */
interface Source {
  /** those of this turn, and those for which there is no room in the window */
  readonly gathered: Waiting[]
  /** those that may be with engine and store at once */
  readonly window: number
  /** those that came so far */
  came: number
  /** those that are not acknowledged, and characters of their messages */
  posts: number
  characters: number
}

function newSource(window: number): Source {
  return { gathered: [], window, came: 0, posts: 0, characters: 0 }
}

function endedOf({ came, posts }: Source): number {
  return came - posts
}

interface Waiting extends Grouped {
  readonly source: Source
  /** undefined: its commit is under way */
  outcome: Outcome | undefined
  resolve(): void
  reject(error: unknown): void
}

/** How a commit ended: positions of the first and the last entry, 0 without any. */
type Outcome = { readonly first: number; readonly last: number } | { readonly error: unknown }

interface Results {
  readonly results: readonly number[]
}

/** As many do not wait for the turn to end: the store works while the turn goes on. */
const ENOUGH = 32
/** Posts that are with engine and store at once: those of other tenants come in between, whatever waits here. */
const WINDOW = 4_000
/** The same of rules: an arrival finds no more of theirs ahead of it. */
const DERIVED_WINDOW = 128

export class IngestQueue {
  readonly #dependencies: IngestQueueDependencies
  readonly #arrivals = newSource(WINDOW)
  /** what rules have posted */
  readonly #derived = newSource(DERIVED_WINDOW)
  readonly #committing = new ReorderBuffer<Group<Waiting>, void>((ended) => this.#acknowledge(ended))
  #isWoken = false

  constructor(dependencies: IngestQueueDependencies) {
    this.#dependencies = dependencies
  }

  /** posts that are not acknowledged */
  get size(): number {
    return this.#arrivals.posts + this.#derived.posts
  }

  /**
   * Resolves when the post is durable. `writes` are committed with it. `RATE_LIMITED` when too much waits, `STORE` when
   * series have not been written for too long; else as the commit does.
   */
  submit(post: Post, writes: readonly Write[] = NO_WRITES): Promise<void> {
    const source = post.hops > 0 ? this.#derived : this.#arrivals
    const size = sizeOf(post)
    const refusal = this.#refusal(source, post, size)
    if (refusal !== undefined) return Promise.reject(refusal)
    return new Promise((resolve, reject) => {
      source.gathered.push({ post, source, size, writes, outcome: undefined, resolve, reject })
      source.came++
      source.posts++
      source.characters += size
      if (this.#arrivals.gathered.length >= ENOUGH) this.#handOn()
      else this.#wake()
    })
  }

  /**
   * Resolves when each post that may be durable by now was acknowledged or refused, those of clients that have come so
   * far among them; undefined when that is so already. What rules posted and is not with the store yet, nobody has seen.
   */
  passed(): Promise<void> | undefined {
    const arrivals = this.#arrivals.came
    const derived = this.#derived.came - this.#derived.gathered.length
    return this.#havePassed(arrivals, derived) ? undefined : this.#passed(arrivals, derived)
  }

  /** Resolves when nothing is on its way. */
  async idle(): Promise<void> {
    while (this.size > 0) {
      this.#handOn()
      await this.#committing.passed()
    }
  }

  async #passed(arrivals: number, derived: number): Promise<void> {
    while (!this.#havePassed(arrivals, derived)) {
      this.#handOnOf(this.#arrivals)
      await this.#committing.passed()
    }
  }

  /** Those of one source are acknowledged in the order in which they came. */
  #havePassed(arrivals: number, derived: number): boolean {
    return endedOf(this.#arrivals) >= arrivals && endedOf(this.#derived) >= derived
  }

  #refusal({ posts, characters }: Source, post: Post, size: number): AppError | undefined {
    const { limits, projector } = this.#dependencies
    if (posts >= limits.posts || characters + size > limits.characters) {
      return new AppError('RATE_LIMITED', `${posts} posts wait to be stored; go on in 1 s`)
    }
    if (!post.store || !projector.isFull || projector.failure === undefined) return undefined
    projector.tryAgain()
    return new AppError('STORE', `Nothing more is taken until series can be written: ${projector.failure.message}`)
  }

  /** What comes in with this turn of the loop goes on together. */
  #wake(): void {
    if (this.#isWoken) return
    this.#isWoken = true
    machineTimers.soon(() => {
      this.#isWoken = false
      this.#handOn()
    })
  }

  #handOn(): void {
    this.#handOnOf(this.#arrivals)
    this.#handOnOf(this.#derived)
  }

  /** All groups at once, so that they share a commit of the store. What finds no room goes on when there is some. */
  #handOnOf({ gathered, posts: all, window }: Source): void {
    const room = window - (all - gathered.length)
    if (gathered.length === 0 || room <= 0) return
    const posts = gathered.splice(0, room)
    for (const group of groupsOf(posts)) this.#committing.add(group, this.#commit(group))
  }

  /** Each post has its outcome when it resolves; it never rejects. */
  async #commit(group: Group<Waiting>): Promise<void> {
    const { posts, entries, places } = group
    try {
      const before = ((await this.#write(group)).results.at(-1) ?? 0) - entries.length + 1
      for (const [i, waiting] of posts.entries()) {
        const place = places[i]
        waiting.outcome = place === undefined ? NOWHERE : { first: before + place[0], last: before + place[1] }
      }
    } catch (error) {
      if (posts.length > 1 && isRefusal(error)) {
        for (const one of apart(group)) await this.#commit(one)
      } else for (const waiting of posts) waiting.outcome = { error }
    }
  }

  /** Not async: what is called in one turn reaches engine and store in its order. */
  #write({ posts, entries: bodies }: Group<Waiting>): Promise<Results> {
    const { tenant, store, engine } = this.#dependencies
    // a group with writes has one post, and posts of one group are alike in whether tasks get them
    const own = posts[0]?.writes ?? NO_WRITES
    const writes: readonly Write[] =
      bodies.length === 0 ? own : [...own, { kind: 'append', log: LOG, partition: PARTITION, bodies }]
    const taking = posts[0]?.post.forward === true ? engine() : undefined
    if (taking !== undefined) return taking.receive(tenant, posts.map(forwarded), writes)
    return writes.length === 0 ? NOTHING : store.commit(writes)
  }

  async #acknowledge(ended: readonly Ended<Group<Waiting>, void>[]): Promise<void> {
    const { projector, arrived, told } = this.#dependencies
    if (projector.isFull) await projector.room()
    const all = ended.flatMap(({ item }) => item.posts)
    const waited = arrived(durableOf(all))
    if (waited !== undefined) await waited
    projector.add(loggedOf(all))
    let [position, count] = [0, 0]
    for (const { post, source, outcome, size, resolve, reject } of all) {
      source.posts--
      source.characters -= size
      if (outcome === undefined || 'error' in outcome) reject(outcome?.error)
      else {
        // posts that share an entry are here one after the other
        if (outcome.first !== position && outcome.first > 0) [position, count] = [outcome.first, 0]
        told(post, outcome.first === 0 ? undefined : { position, count })
        if (outcome.first > 0) count += post.arrivals.length
        resolve()
      }
    }
    this.#committing.drop(ended.length)
    // few of them are of this turn, and wait for the others of it
    if (this.#arrivals.gathered.length >= ENOUGH) this.#handOn()
    else if (this.#arrivals.gathered.length + this.#derived.gathered.length > 0) this.#wake()
  }
}

const NO_WRITES: readonly Write[] = []
const NOWHERE: Outcome = { first: 0, last: 0 }
const NOTHING: Promise<Results> = Promise.resolve({ results: [] })

function sizeOf({ bulk, arrivals }: Post): number {
  if (bulk !== undefined) return bulk.size
  let size = 0
  for (const { text } of arrivals) size += text.length
  return size
}

interface SharedEntries extends Logged {
  readonly posts: Post[]
  size: number
}

/** Posts that share an entry are applied together. */
function loggedOf(all: readonly Waiting[]): readonly Logged[] {
  const logged: SharedEntries[] = []
  let newest: SharedEntries | undefined
  for (const { post, outcome, size } of all) {
    if (outcome === undefined || 'error' in outcome || outcome.last === 0) continue
    const { first, last } = outcome
    if (newest?.last === last) {
      newest.posts.push(post)
      newest.size += size
    } else logged.push((newest = { posts: [post], first, last, size }))
  }
  return logged
}

function durableOf(all: readonly Waiting[]): readonly Post[] {
  const posts: Post[] = []
  for (const { post, outcome } of all) if (outcome !== undefined && 'last' in outcome) posts.push(post)
  return posts
}

function forwarded({ post }: Waiting): ForwardedPost {
  const { arrivals, hops, root, oddities, identityIgnores } = post
  const messages = arrivals.map((arrival) => readableMessageOf(arrival, post))
  const places = arrivals.flatMap(({ isUnstamped }, place) => (isUnstamped === true ? [place] : []))
  const isCompared = places.length < arrivals.length && identityIgnores !== undefined
  const about = { ...(places.length > 0 && { unstamped: places }), ...(isCompared && { identityIgnores }) }
  if (hops > 0) return { messages, hops, ...(root !== undefined && { root }), ...about }
  const [only] = arrivals
  const isText = only !== undefined && arrivals.length === 1 && (oddities === undefined || oddities.unreadable === 0)
  return { messages, ...(isText && { text: routedText(only) }), ...about }
}
