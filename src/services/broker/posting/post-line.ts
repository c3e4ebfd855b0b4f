/**
 * The posts of one tenant on their way. Those that come in one turn of the loop are committed in groups, before it is
 * over when there are enough of them, and some commits are under way at once; what is durable goes on in the order of
 * arrival: past discovery, to subscribers, and is then acknowledged. Series follow behind.
 *
 * POSTLINE-1 a post is acknowledged after its commit, never before
 * POSTLINE-2 subscribers hear of posts in the order in which they are acknowledged
 * POSTLINE-3 what waits is bounded: beyond it posts are refused, and nothing of them was done
 * POSTLINE-4 series are told of a post before its poster and its subscribers are
 * POSTLINE-5 a post is refused for its own sake alone: what a group is refused for is tried with each of its posts
 */
import { AppError } from '../../../kernel/errors.ts'
import type { Store, Write } from '../../../storage/contract.ts'
import type { ForwardedPost, Forwarding } from '../contract.ts'
import { toldOf, type Post } from './arrival.ts'
import type { Follower } from './follower.ts'
import { LOG, PARTITION } from './log-entry.ts'
import { apart, groupsOf, type Group, type Grouped } from './post-group.ts'
import type { Logged } from './projection.ts'

/** values and characters of posts that wait, in one tenant */
export interface LineLimits {
  /** default 50,000 */
  readonly posts: number
  /** characters of their messages; default 128 Mi */
  readonly characters: number
}

export interface LineParts {
  readonly tenant: string
  readonly store: Store
  readonly follower: Follower
  readonly limits: LineLimits
  /** absent: nothing listens */
  readonly engine: () => Forwarding | undefined
  /** before the answer, of posts that are durable; never rejects */
  readonly arrived: (posts: readonly Post[]) => Promise<void> | undefined
  /** told in the order of acknowledgement */
  readonly told: (post: Post) => void
}

interface Ticket extends Grouped {
  outcome: Outcome | undefined
  resolve(): void
  reject(error: unknown): void
}

/** How a commit ended: positions of the first and the last entry, 0 without any. */
type Outcome = { readonly first: number; readonly last: number } | { readonly error: unknown }

interface Results {
  readonly results: readonly number[]
}

/** posts that are acknowledged at once */
const MAX_AT_ONCE = 2_000
/** As many do not wait for the turn to end: the store works while the turn goes on. */
const ENOUGH = 32
/** commits that are under way at once */
const MAX_COMMITS = 2

export class PostLine {
  readonly #parts: LineParts
  #line: Ticket[] = []
  /** whose commits have ended */
  #settled: Ticket[] = []
  #underWay = 0
  #characters = 0
  #commits = 0
  #isWoken = false
  /** when the commit that began last has ended, and all before it */
  #committed: Promise<void> = Promise.resolve()
  #isAcknowledging = false
  #acknowledging: Promise<void> | undefined
  /** posts that came so far, and those that were answered: they are in one order */
  #came = 0
  #answered = 0
  #awaited: { readonly upTo: number; readonly go: () => void }[] = []

  constructor(parts: LineParts) {
    this.#parts = parts
  }

  get size(): number {
    return this.#line.length + this.#underWay
  }

  /**
   * Resolves when the post is durable. `writes` are committed with it. `RATE_LIMITED` when too much waits, `STORE` when
   * series have not been written for too long; else as the commit does.
   */
  submit(post: Post, writes: readonly Write[] = NO_WRITES): Promise<void> {
    const size = sizeOf(post)
    const refusal = this.#refusal(post, size)
    if (refusal !== undefined) return Promise.reject(refusal)
    return new Promise((resolve, reject) => {
      this.#line.push({ post, size, writes, outcome: undefined, resolve, reject })
      this.#came++
      this.#characters += size
      if (this.#line.length >= ENOUGH) this.#begin()
      else this.#wake()
    })
  }

  /** Resolves when each post that has come so far was acknowledged or refused; undefined when that is so already. */
  passed(): Promise<void> | undefined {
    const upTo = this.#came
    if (this.#answered === upTo) return undefined
    return new Promise((go) => this.#awaited.push({ upTo, go }))
  }

  /** Resolves when nothing is on its way. */
  async idle(): Promise<void> {
    while (this.#line.length > 0 || this.#commits > 0 || this.#isAcknowledging) {
      this.#begin()
      await this.#committed
      await this.#acknowledging
    }
  }

  #refusal(post: Post, size: number): AppError | undefined {
    const { limits, follower } = this.#parts
    if (this.size >= limits.posts || this.#characters + size > limits.characters) {
      return new AppError('RATE_LIMITED', `${this.size} posts wait to be stored; go on in 1 s`)
    }
    if (!post.store || !follower.isFull || follower.failure === undefined) return undefined
    follower.tryAgain()
    return new AppError('STORE', `Nothing more is taken until series can be written: ${follower.failure.message}`)
  }

  /** Begins when what comes in with this turn of the loop has come. */
  #wake(): void {
    if (this.#isWoken || this.#commits >= MAX_COMMITS) return
    this.#isWoken = true
    setImmediate(() => {
      this.#isWoken = false
      this.#begin()
    })
  }

  #begin(): void {
    if (this.#line.length === 0 || this.#commits >= MAX_COMMITS) return
    const tickets = this.#line.splice(0, MAX_AT_ONCE)
    this.#commits++
    this.#underWay += tickets.length
    this.#committed = this.#commitAll(tickets, this.#committed)
  }

  /** Commits may end out of order; what follows is done in order. */
  async #commitAll(tickets: readonly Ticket[], before: Promise<void>): Promise<void> {
    // all groups begin at once, so that they share a commit of the medium
    await Promise.all(groupsOf(tickets).map((group) => this.#commit(group)))
    await before
    this.#commits--
    this.#settled.push(...tickets)
    if (!this.#isAcknowledging) this.#acknowledging = this.#acknowledgeAll()
    if (this.#line.length > 0) this.#wake()
  }

  /** Never rejects. */
  async #commit(group: Group<Ticket>): Promise<void> {
    const { posts, entries, places } = group
    if (posts.length > 1 && !this.#takesGroup(group)) {
      await Promise.all(apart(group).map((one) => this.#commit(one)))
      return
    }
    try {
      const before = ((await this.#write(group)).results.at(-1) ?? 0) - entries.length + 1
      for (const [i, ticket] of posts.entries()) {
        const place = places[i]
        ticket.outcome = place === undefined ? NOWHERE : { first: before + place[0], last: before + place[1] }
      }
    } catch (error) {
      if (posts.length > 1 && isRefusal(error)) {
        for (const one of apart(group)) await this.#commit(one)
      } else for (const ticket of posts) ticket.outcome = { error }
    }
  }

  #takesGroup(group: Group<Ticket>): boolean {
    const engine = this.#engineOf(group)
    return engine === undefined || engine.receiveAll !== undefined
  }

  /** Absent when tasks are not to get it: posts of one group are alike in that. */
  #engineOf({ posts: [first] }: Group<Ticket>): Forwarding | undefined {
    return first?.post.forward === true ? this.#parts.engine() : undefined
  }

  /** Not async: what is called in one turn reaches engine and store in its order. */
  #write(group: Group<Ticket>): Promise<Results> {
    const { tenant, store } = this.#parts
    const { posts, entries: bodies } = group
    const [first] = posts
    const own = first?.writes ?? NO_WRITES
    const log: readonly Write[] =
      bodies.length === 0 ? NO_WRITES : [{ kind: 'append', log: LOG, partition: PARTITION, bodies }]
    const writes = own.length === 0 ? log : [...own, ...log]
    const engine = this.#engineOf(group)
    if (engine === undefined || first === undefined) return writes.length === 0 ? NOTHING : store.commit(writes)
    if (posts.length > 1 && engine.receiveAll !== undefined) {
      return engine.receiveAll(tenant, posts.map(forwarded), writes)
    }
    const { messages, hops } = forwarded(first)
    return engine.receive(tenant, messages, hops === undefined ? { writes } : { writes, hops })
  }

  async #acknowledgeAll(): Promise<void> {
    this.#isAcknowledging = true
    while (this.#settled.length > 0) {
      if (this.#parts.follower.isFull) await this.#parts.follower.room()
      const tickets = this.#settled
      this.#settled = []
      const waited = this.#parts.arrived(durableOf(tickets))
      if (waited !== undefined) await waited
      this.#acknowledge(tickets)
    }
    this.#isAcknowledging = false
  }

  #acknowledge(tickets: readonly Ticket[]): void {
    this.#parts.follower.add(loggedOf(tickets))
    for (const { post, outcome, size, resolve, reject } of tickets) {
      this.#characters -= size
      this.#underWay--
      if (outcome === undefined || 'error' in outcome) reject(outcome?.error)
      else {
        this.#parts.told(post)
        resolve()
      }
    }
    this.#answered += tickets.length
    if (this.#awaited.length === 0) return
    const isOver = this.#awaited.filter(({ upTo }) => upTo <= this.#answered)
    this.#awaited = this.#awaited.filter(({ upTo }) => upTo > this.#answered)
    for (const { go } of isOver) go()
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
function loggedOf(tickets: readonly Ticket[]): readonly Logged[] {
  const logged: SharedEntries[] = []
  let newest: SharedEntries | undefined
  for (const { post, outcome, size } of tickets) {
    if (outcome === undefined || 'error' in outcome || outcome.last === 0) continue
    const { first, last } = outcome
    if (newest?.last === last) {
      newest.posts.push(post)
      newest.size += size
    } else logged.push((newest = { posts: [post], first, last, size }))
  }
  return logged
}

function durableOf(tickets: readonly Ticket[]): readonly Post[] {
  const posts: Post[] = []
  for (const { post, outcome } of tickets) if (outcome !== undefined && 'last' in outcome) posts.push(post)
  return posts
}

function forwarded({ post: { arrivals, hops } }: Ticket): ForwardedPost {
  const messages = arrivals.map(toldOf)
  return hops > 0 ? { messages, hops } : { messages }
}

/** Nothing was written, because of what was to be written. */
function isRefusal(error: unknown): boolean {
  return error instanceof AppError && error.status < 500
}
