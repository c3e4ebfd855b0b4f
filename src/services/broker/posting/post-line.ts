/**
 * The posts of one tenant on their way, in the order in which they came. Commits go on side by side, as storage and
 * engine group them; what is durable goes on in the order of arrival: into series, past discovery, to subscribers, and
 * is then acknowledged.
 *
 * L1  a post is acknowledged after its commit and after its series, never before
 * L2  subscribers hear of posts in the order in which they are acknowledged
 * L3  what waits is bounded: beyond it posts are refused, and nothing of them was done
 */
import { AppError, messageOf } from '../../../kernel/errors.ts'
import type { Store, Write } from '../../../storage/contract.ts'
import type { Forwarding } from '../contract.ts'
import { toldOf, type Post } from './arrival.ts'
import { entriesOf, LOG, PARTITION } from './log-entry.ts'
import type { Logged, Projection } from './projection.ts'

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
  readonly projection: Projection
  readonly limits: LineLimits
  /** absent: nothing listens */
  readonly engine: () => Forwarding | undefined
  /** before the answer, of posts that are durable and readable */
  readonly arrived: (posts: readonly Post[]) => Promise<void> | undefined
  /** told in the order of acknowledgement */
  readonly told: (post: Post) => void
}

interface Ticket {
  readonly post: Post
  readonly size: number
  readonly commit: Promise<Committed>
  state: 'waiting' | 'settled'
  resolve(): void
  reject(error: unknown): void
}

/** How a commit ended. */
type Committed = { readonly first: number; readonly last: number } | { readonly error: unknown } | undefined

/** posts that go into series at once */
const MOST_AT_ONCE = 2_000

export class PostLine {
  readonly #parts: LineParts
  #line: Ticket[] = []
  #underWay = 0
  #characters = 0
  #running: Promise<void> | undefined
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
   * Resolves when the post is durable and can be read. `writes` are committed with it. `RATE_LIMITED` when too much
   * waits; else as the commit does.
   */
  submit(post: Post, writes: readonly Write[] = []): Promise<void> {
    const size = post.bulk?.size ?? post.arrivals.reduce((sum, { text }) => sum + text.length, 0)
    const { posts, characters } = this.#parts.limits
    if (this.size >= posts || this.#characters + size > characters) {
      return Promise.reject(new AppError('RATE_LIMITED', `${this.size} posts wait to be stored; go on in 1 s`))
    }
    return new Promise((resolve, reject) => {
      const commit = this.#commit(post, writes)
      const ticket: Ticket = { post, size, commit, state: 'waiting', resolve, reject }
      const settle = (): void => void (ticket.state = 'settled')
      void commit.then(settle)
      this.#line.push(ticket)
      this.#came++
      this.#characters += size
      this.#running ??= this.#run()
    })
  }

  /** Resolves when each post that has come so far is readable, or was refused. */
  passed(): Promise<void> {
    const upTo = this.#came
    if (this.#answered === upTo) return Promise.resolve()
    return new Promise((go) => this.#awaited.push({ upTo, go }))
  }

  /** Resolves when nothing is on its way. */
  async idle(): Promise<void> {
    while (this.#running !== undefined) await this.#running
  }

  /** Begins at once, so that commits have the order of the calls. Never rejects. */
  async #commit(post: Post, writes: readonly Write[]): Promise<Committed> {
    try {
      const entries = post.store ? entriesOf(post) : []
      const log: Write[] =
        entries.length === 0 ? [] : [{ kind: 'append', log: LOG, partition: PARTITION, bodies: entries }]
      const results = await this.#write(post, [...writes, ...log])
      if (entries.length === 0) return undefined
      const last = results.at(-1) ?? 0
      return { first: last - entries.length + 1, last }
    } catch (error) {
      return { error }
    }
  }

  async #write(post: Post, writes: readonly Write[]): Promise<readonly number[]> {
    const { tenant, store, engine: engineNow } = this.#parts
    const engine = post.forward ? engineNow() : undefined
    if (engine !== undefined) {
      const { hops } = post
      const messages = post.arrivals.map(toldOf)
      return (await engine.receive(tenant, messages, { writes, ...(hops > 0 && { hops }) })).results
    }
    return writes.length === 0 ? [] : (await store.commit(writes)).results
  }

  async #run(): Promise<void> {
    for (let [head] = this.#line; head !== undefined; [head] = this.#line) {
      await head.commit
      // what was committed with it settles in this turn
      await nextTurn()
      await this.#pass(this.#settled())
    }
    this.#running = undefined
  }

  #settled(): readonly Ticket[] {
    const waiting = this.#line.findIndex(({ state }) => state === 'waiting')
    const count = Math.min(waiting < 0 ? this.#line.length : waiting, MOST_AT_ONCE)
    const settled = this.#line.slice(0, count)
    this.#line = this.#line.slice(count)
    this.#underWay = count
    return settled
  }

  async #pass(tickets: readonly Ticket[]): Promise<void> {
    const committed = await Promise.all(tickets.map(({ commit }) => commit))
    const logged: Logged[] = []
    const passing: Post[] = []
    for (const [i, { post }] of tickets.entries()) {
      const result = committed[i]
      if (result !== undefined && 'error' in result) continue
      passing.push(post)
      if (result !== undefined) logged.push({ post, ...result })
    }
    let failed: { readonly error: unknown } | undefined
    try {
      if (logged.length > 0) await this.#parts.projection.apply(logged)
      await this.#parts.arrived(passing)
    } catch (error) {
      failed = {
        error: new AppError('STORE', `The message is kept, but not readable yet: ${messageOf(error)}`, {
          cause: error,
        }),
      }
    }
    for (const [i, { post, size, resolve, reject }] of tickets.entries()) {
      const result = committed[i]
      this.#characters -= size
      this.#underWay--
      if (result !== undefined && 'error' in result) reject(result.error)
      else if (failed !== undefined && post.store) reject(failed.error)
      else {
        this.#parts.told(post)
        resolve()
      }
    }
    this.#answered += tickets.length
    const isOver = this.#awaited.filter(({ upTo }) => upTo <= this.#answered)
    if (isOver.length === 0) return
    this.#awaited = this.#awaited.filter(({ upTo }) => upTo > this.#answered)
    for (const { go } of isOver) go()
  }
}

/** When everything that came in with this turn of the loop has had its turn. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
