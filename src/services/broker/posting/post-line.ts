/**
 * The posts of one tenant on their way, in the order in which they came. Commits go on side by side, as storage and
 * engine group them; what is durable goes on in the order of arrival: past discovery, to subscribers, and is then
 * acknowledged. Series follow behind.
 *
 * L1  a post is acknowledged after its commit, never before
 * L2  subscribers hear of posts in the order in which they are acknowledged
 * L3  what waits is bounded: beyond it posts are refused, and nothing of them was done
 * L4  series are told of a post before its poster and its subscribers are
 */
import { AppError } from '../../../kernel/errors.ts'
import type { Json } from '../../../kernel/json.ts'
import type { Store, Write } from '../../../storage/contract.ts'
import type { Forwarding } from '../contract.ts'
import { toldOf, type Post } from './arrival.ts'
import { entriesOf, LOG, PARTITION } from './log-entry.ts'
import type { Follower } from './follower.ts'
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

interface Ticket {
  readonly post: Post
  readonly size: number
  /** entries of the log */
  readonly entries: number
  outcome: Outcome | undefined
  resolve(): void
  reject(error: unknown): void
}

/** How a commit ended. `last`: position of the last entry. */
type Outcome = { readonly last: number } | { readonly error: unknown }

interface Results {
  readonly results: readonly number[]
}

/** posts that are acknowledged at once */
const MOST_AT_ONCE = 2_000

export class PostLine {
  readonly #parts: LineParts
  #line: Ticket[] = []
  #underWay = 0
  #characters = 0
  #running: Promise<void> | undefined
  /** when the commit of the first in the line has ended */
  #headSettled: (() => void) | undefined
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
      const entries = post.store ? entriesOf(post) : NO_ENTRIES
      const ticket: Ticket = { post, size, entries: entries.length, outcome: undefined, resolve, reject }
      this.#line.push(ticket)
      this.#came++
      this.#characters += size
      // begins at once, so that commits have the order of the calls
      this.#begin(post, writes, entries).then(
        ({ results }) => this.#settle(ticket, { last: results.at(-1) ?? 0 }),
        (error: unknown) => this.#settle(ticket, { error }),
      )
      this.#running ??= this.#run()
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
    while (this.#running !== undefined) await this.#running
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

  #begin(post: Post, writes: readonly Write[], entries: readonly Json[]): Promise<Results> {
    try {
      return this.#commit(post, writes, entries)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  #commit(post: Post, own: readonly Write[], bodies: readonly Json[]): Promise<Results> {
    const { tenant, store, engine: engineNow } = this.#parts
    const log: readonly Write[] =
      bodies.length === 0 ? NO_WRITES : [{ kind: 'append', log: LOG, partition: PARTITION, bodies }]
    const writes = own.length === 0 ? log : [...own, ...log]
    const engine = post.forward ? engineNow() : undefined
    if (engine !== undefined) {
      const { hops } = post
      return engine.receive(tenant, post.arrivals.map(toldOf), hops > 0 ? { writes, hops } : { writes })
    }
    return writes.length === 0 ? NOTHING : store.commit(writes)
  }

  #settle(ticket: Ticket, outcome: Outcome): void {
    ticket.outcome = outcome
    if (ticket !== this.#line[0]) return
    this.#headSettled?.()
    this.#headSettled = undefined
  }

  async #run(): Promise<void> {
    for (let [head] = this.#line; head !== undefined; [head] = this.#line) {
      if (head.outcome === undefined) await new Promise<void>((go) => (this.#headSettled = go))
      // what was committed with it settles in this turn
      await nextTurn()
      if (this.#parts.follower.isFull) await this.#parts.follower.room()
      const tickets = this.#takeSettled()
      const waited = this.#parts.arrived(durableOf(tickets))
      if (waited !== undefined) await waited
      this.#acknowledge(tickets)
    }
    this.#running = undefined
  }

  #takeSettled(): readonly Ticket[] {
    const waiting = this.#line.findIndex(({ outcome }) => outcome === undefined)
    const count = Math.min(waiting < 0 ? this.#line.length : waiting, MOST_AT_ONCE)
    const settled = this.#line.slice(0, count)
    this.#line = this.#line.slice(count)
    this.#underWay = count
    return settled
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
const NO_ENTRIES: readonly Json[] = []
const NOTHING: Promise<Results> = Promise.resolve({ results: [] })

function sizeOf({ bulk, arrivals }: Post): number {
  if (bulk !== undefined) return bulk.size
  let size = 0
  for (const { text } of arrivals) size += text.length
  return size
}

function durableOf(tickets: readonly Ticket[]): readonly Post[] {
  const posts: Post[] = []
  for (const { post, outcome } of tickets) if (outcome !== undefined && 'last' in outcome) posts.push(post)
  return posts
}

function loggedOf(tickets: readonly Ticket[]): readonly Logged[] {
  const logged: Logged[] = []
  for (const { post, outcome, entries, size } of tickets) {
    if (entries === 0 || outcome === undefined || 'error' in outcome) continue
    const { last } = outcome
    logged.push({ post, first: last - entries + 1, last, size })
  }
  return logged
}

/** When everything that came in with this turn of the loop has had its turn. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
