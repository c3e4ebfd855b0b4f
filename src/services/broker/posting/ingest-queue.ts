/**
 * Queues posts until they are acknowledged, in log order; posts of one turn of the event loop are committed together.
 *
 * INGEST-1 a post is acknowledged only after its commit
 * INGEST-2 subscribers receive posts in the order in which they are acknowledged
 * INGEST-3 the queue is bounded: posts beyond the bound are rejected without effect
 * INGEST-4 a post is queued for series before its poster and its subscribers are notified
 * INGEST-5 a post is rejected only because of its own content: the halves of a rejected group are retried, unless its
 *   posts were submitted as one batch
 * INGEST-6 posts by rules have their own small window, behind posts by clients: rules that trigger each other do not
 *   delay clients, and clients do not delay rules forever
 */
import { AppError, isRefusal } from '#kernel'
import type { Followed, TenantLog, UnitSpan } from '#log'
import type { Write } from '#storage'
import { machineTimers } from '#platform'
import type { Forwarding } from '../contract.ts'
import type { PublishRequest } from './publish-request.ts'
import { entriesOf, forwarded } from './log-entry.ts'
import { groupsOf, type Grouped } from './post-group.ts'
import type { Logged, SeriesProjector } from './series-projector.ts'

/** Limits for unacknowledged posts: one set for clients, and an equal one for rules. */
export interface IngestLimits {
  /** default 50,000 */
  readonly posts: number
  /** characters of the messages in unacknowledged posts; default 128 Mi */
  readonly characters: number
}

export interface IngestQueueDependencies {
  readonly log: TenantLog
  readonly projector: SeriesProjector
  readonly limits: IngestLimits
  /** undefined: the host has no tasks */
  readonly engine: () => Forwarding | undefined
  /** called with durable posts before they are acknowledged; never rejects */
  readonly arrived: (posts: readonly PublishRequest[]) => Promise<void> | undefined
  /** in order of acknowledgement; `position` undefined: the messages are not in the log */
  readonly acknowledged: (post: PublishRequest, position: number | undefined) => void
  /** called afterwards, once all entries up to the position are acknowledged */
  readonly passed: (position: number) => void
}

interface Source {
  readonly gathered: Waiting[]
  /** maximum number of posts being written to the log at once */
  readonly window: number
  came: number
  posts: number
  characters: number
}

function newSource(window: number): Source {
  return { gathered: [], window, came: 0, posts: 0, characters: 0 }
}

interface Waiting extends Grouped {
  readonly source: Source
  resolve(): void
  reject(error: unknown): void
}

interface Unit {
  /** undefined: the unit did not come through this queue */
  readonly group: readonly Waiting[] | undefined
  readonly span: UnitSpan
  readonly ended: () => void
}

/** After this many posts, a commit starts before the turn ends, so that the store works in parallel. */
const ENOUGH = 32
/** Maximum number of posts being written at once, so that other tenants get their share of the store. */
const WINDOW = 4_000
/** The same limit for posts from rules; a post from a client may have to wait behind these. */
const DERIVED_WINDOW = 128

export class IngestQueue {
  readonly #dependencies: IngestQueueDependencies
  readonly #arrivals = newSource(WINDOW)
  readonly #derived = newSource(DERIVED_WINDOW)
  readonly #underWay = new Set<Promise<void>>()
  #units: Unit[] = []
  #isAcknowledging = false
  #isWoken = false

  constructor(dependencies: IngestQueueDependencies) {
    this.#dependencies = dependencies
    dependencies.log.followOthers((span) => this.#follow({ group: undefined, span, ended: nothing }))
  }

  get size(): number {
    return this.#arrivals.posts + this.#derived.posts
  }

  /** Rejects with `RATE_LIMITED` when the queue is full, and with `STORE` while series cannot be written. */
  submit(post: PublishRequest, writes: readonly Write[] = NO_WRITES): Promise<void> {
    const source = post.hops > 0 ? this.#derived : this.#arrivals
    const size = sizeOf(post)
    const refusal = this.#refusal(source, post, size)
    if (refusal !== undefined) return Promise.reject(refusal)
    return new Promise((resolve, reject) => {
      source.gathered.push({ post, source, size, writes, resolve, reject })
      source.came++
      source.posts++
      source.characters += size
      if (this.#arrivals.gathered.length >= ENOUGH) this.#handOn()
      else this.#wake()
    })
  }

  /** Commits posts of single messages, at least one, as one unit with the writes: all or nothing. */
  submitAll(posts: readonly PublishRequest[], writes: readonly Write[]): Promise<void> {
    const source = this.#arrivals
    const sizes = posts.map(sizeOf)
    const [post] = posts
    const refusal = post && this.#refusal(source, post, sizes.reduce(plus, 0))
    if (refusal !== undefined) return Promise.reject(refusal)
    return new Promise((resolve, reject) => {
      const batch = {}
      for (const [i, each] of posts.entries()) {
        const size = sizes[i] ?? 0
        source.gathered.push({ post: each, source, size, writes: i === 0 ? writes : NO_WRITES, batch, resolve, reject })
        source.came++
        source.posts++
        source.characters += size
      }
      this.#wake()
    })
  }

  /** Includes all earlier posts from clients, but not posts from rules that are still queued. */
  passed(): Promise<void> | undefined {
    return this.#arrivals.gathered.length + this.#underWay.size === 0 ? undefined : this.#passed(this.#arrivals.came)
  }

  async idle(): Promise<void> {
    while (this.size > 0) {
      this.#handOn()
      await Promise.all(this.#underWay)
    }
  }

  async #passed(arrivals: number): Promise<void> {
    for (let areAll = false; !areAll;) {
      this.#handOnOf(this.#arrivals)
      areAll = this.#arrivals.came - this.#arrivals.gathered.length >= arrivals
      await Promise.all(this.#underWay)
    }
  }

  #refusal({ posts, characters }: Source, post: PublishRequest, size: number): AppError | undefined {
    const { limits, projector } = this.#dependencies
    if (posts >= limits.posts || characters + size > limits.characters) {
      return new AppError('RATE_LIMITED', `The queue of posts is full (${posts} posts); retry in 1 s`)
    }
    if (!post.store || !projector.isFull || projector.failure === undefined) return undefined
    projector.tryAgain()
    return new AppError(
      'STORE',
      `Posts are rejected because series cannot be written: ${projector.failure.message}; retry later`,
    )
  }

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

  /** All at once, so that groups share a transaction; the rest follow when the window has room. */
  #handOnOf({ gathered, posts: all, window }: Source): void {
    let room = window - (all - gathered.length)
    if (gathered.length === 0 || room <= 0) return
    while (gathered[room]?.batch !== undefined && gathered[room]?.batch === gathered[room - 1]?.batch) room++
    for (const group of groupsOf(gathered.splice(0, room))) {
      const ending = this.#commit(group).then(() => void this.#underWay.delete(ending))
      this.#underWay.add(ending)
    }
  }

  #commit(group: readonly Waiting[]): Promise<void> {
    return new Promise((ended) => {
      let isFollowed = false
      const followed = (span: UnitSpan): void => {
        isFollowed = true
        this.#follow({ group, span, ended })
      }
      const failed = (error: unknown): void => {
        // the posts are in the log, so failures of tasks do not concern the poster
        if (isFollowed) return
        if (group.length > 1 && group[0]?.batch === undefined && isRefusal(error))
          return void this.#commitHalves(group, ended)
        for (const { source, size, reject } of group) {
          leave(source, size)
          reject(error)
        }
        ended()
        this.#goOn()
      }
      try {
        this.#write(group, followed).catch(failed)
      } catch (error) {
        failed(error)
      }
    })
  }

  async #commitHalves(group: readonly Waiting[], ended: () => void): Promise<void> {
    const middle = Math.ceil(group.length / 2)
    await this.#commit(group.slice(0, middle))
    await this.#commit(group.slice(middle))
    ended()
  }

  /** Must not be async: calls of one turn must reach the engine and the store in order. */
  #write(group: readonly Waiting[], followed: Followed): Promise<unknown> {
    const { log, engine } = this.#dependencies
    // all posts of a group have the same `forward`, and the first of a batch has its writes
    const [first] = group
    const writes = first?.writes.length === 0 ? NO_WRITES : group.flatMap((one) => one.writes)
    const taking = first?.post.forward === true ? engine() : undefined
    if (taking !== undefined) {
      const posts = group.map(({ post }) => forwarded(post))
      return taking.receive(posts, writes, followed)
    }
    const entries = group.flatMap(({ post }) => entriesOf(post)).map((body) => ({ body }))
    return log.add({ entries, writes, followed })
  }

  #follow(unit: Unit): void {
    this.#units.push(unit)
    if (!this.#isAcknowledging) void this.#acknowledgeAll()
  }

  async #acknowledgeAll(): Promise<void> {
    this.#isAcknowledging = true
    // units that are applied together are acknowledged together
    await Promise.resolve()
    while (this.#units.length > 0) {
      const units = this.#units
      this.#units = []
      await this.#acknowledge(units)
    }
    this.#isAcknowledging = false
  }

  async #acknowledge(units: readonly Unit[]): Promise<void> {
    const { projector, arrived, acknowledged, passed } = this.#dependencies
    if (projector.isFull) await projector.room()
    const waited = arrived(units.flatMap(({ group = [] }) => group.map(({ post }) => post)))
    if (waited !== undefined) await waited
    for (const { group, span } of units) {
      const logged = group === undefined ? undefined : loggedOf(group, span)
      if (logged !== undefined) projector.add(logged)
      else if (span.last > 0) projector.pass(span.first, span.last)
    }
    for (const { group = [], span, ended } of units) {
      for (const [i, { post, source, size, resolve }] of group.entries()) {
        leave(source, size)
        const isMessage = post.store && post.bulk === undefined
        acknowledged(post, isMessage ? span.last - group.length + 1 + i : undefined)
        resolve()
      }
      if (span.last > 0) passed(span.last)
      ended()
    }
    this.#goOn()
  }

  #goOn(): void {
    // a small number may all be from this turn, so wait for the rest of the turn
    if (this.#arrivals.gathered.length >= ENOUGH) this.#handOn()
    else if (this.#arrivals.gathered.length + this.#derived.gathered.length > 0) this.#wake()
  }
}

const NO_WRITES: readonly Write[] = []
const nothing = (): void => undefined
const plus = (a: number, b: number): number => a + b

function leave(source: Source, size: number): void {
  source.posts--
  source.characters -= size
}

function sizeOf({ bulk, arrivals }: PublishRequest): number {
  if (bulk !== undefined) return bulk.size
  let size = 0
  for (const { text } of arrivals) size += text.length
  return size
}

/** Returns undefined if the unit contains no samples or messages. */
function loggedOf(group: readonly Waiting[], { first, last }: UnitSpan): Logged | undefined {
  const posts = group.flatMap(({ post }) => (post.store ? [post] : []))
  if (posts.length === 0 || last === 0) return undefined
  return { posts, first, last, size: group.reduce((sum, { size }) => sum + size, 0) }
}
