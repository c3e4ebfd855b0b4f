/**
 * The posts of one tenant: admitted, as far as there is room, on their way into the log, and acknowledged behind it, in its
 * order, past discovery and subscribers; series follow. What comes in one turn of the loop is handed on together, a window
 * at a time: a group of posts is one unit of the log, because promises and calls of the engine are then paid once for all
 * of them.
 *
 * INGEST-1 a post is acknowledged after its commit, never before
 * INGEST-2 subscribers hear of posts in the order in which they are acknowledged
 * INGEST-3 what waits is bounded: beyond it posts are refused, and nothing of them was done
 * INGEST-4 series are told of a post before its poster and its subscribers are
 * INGEST-6 what rules make of posts goes on behind what clients post: it has a small window of its own and takes no room
 *   of theirs, so that rules that set each other off keep no client waiting, nor any client the rules for ever
 * INGEST-5 a post is refused for its own sake alone: what a group is refused for is tried with each of its posts
 */
import { AppError } from '#kernel'
import type { Followed, TenantLog, UnitPlace } from '#log'
import type { Write } from '#storage'
import { machineTimers } from '#platform'
import type { Forwarding } from '../contract.ts'
import type { Post } from './arrival.ts'
import { entriesOf, forwarded } from './log-entry.ts'
import { groupsOf, type Grouped } from './post-group.ts'
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
  readonly log: TenantLog
  readonly projector: SeriesProjector
  readonly limits: IngestLimits
  /** absent: nothing listens */
  readonly engine: () => Forwarding | undefined
  /** before the answer, of posts that are durable; never rejects */
  readonly arrived: (posts: readonly Post[]) => Promise<void> | undefined
  /** told in the order of acknowledgement; `position`: of its entry; undefined: the log has no message of it */
  readonly told: (post: Post, position: number | undefined) => void
  /** after those were told: all of the log up to there was */
  readonly passed: (position: number) => void
}

/** Posts of clients, or of rules. */
interface Source {
  /** those of this turn, and those for which there is no room in the window */
  readonly gathered: Waiting[]
  /** those that may be on their way into the log at once */
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

interface Waiting extends Grouped {
  readonly source: Source
  resolve(): void
  reject(error: unknown): void
}

/** What the log has behind all that was acknowledged. */
interface Unit {
  /** undefined: nothing of it came here */
  readonly group: readonly Waiting[] | undefined
  readonly place: UnitPlace
  readonly ended: () => void
}

/** As many do not wait for the turn to end: the store works while the turn goes on. */
const ENOUGH = 32
/** Posts that are on their way into the log at once: those of other tenants come in between, whatever waits here. */
const WINDOW = 4_000
/** The same of rules: an arrival finds no more of theirs ahead of it. */
const DERIVED_WINDOW = 128

export class IngestQueue {
  readonly #dependencies: IngestQueueDependencies
  readonly #arrivals = newSource(WINDOW)
  /** what rules have posted */
  readonly #derived = newSource(DERIVED_WINDOW)
  /** groups on their way: each resolves when all of it is acknowledged or refused */
  readonly #underWay = new Set<Promise<void>>()
  #units: Unit[] = []
  #isAcknowledging = false
  #isWoken = false

  constructor(dependencies: IngestQueueDependencies) {
    this.#dependencies = dependencies
    dependencies.log.followOthers((place) => this.#follow({ group: undefined, place, ended: nothing }))
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
      source.gathered.push({ post, source, size, writes, resolve, reject })
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
    return this.#arrivals.gathered.length + this.#underWay.size === 0 ? undefined : this.#passed(this.#arrivals.came)
  }

  /** Resolves when nothing is on its way. */
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
    for (const group of groupsOf(gathered.splice(0, room))) {
      const ending = this.#commit(group).then(() => void this.#underWay.delete(ending))
      this.#underWay.add(ending)
    }
  }

  /** Resolves when each of the posts is acknowledged or refused. */
  #commit(group: readonly Waiting[]): Promise<void> {
    return new Promise((ended) => {
      let isFollowed = false
      const followed = (place: UnitPlace): void => {
        isFollowed = true
        this.#follow({ group, place, ended })
      }
      const failed = (error: unknown): void => {
        // it is in the log: what becomes of it there is not the poster's affair
        if (isFollowed) return
        if (group.length > 1 && isRefusal(error)) return void this.#commitEach(group, ended)
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

  async #commitEach(group: readonly Waiting[], ended: () => void): Promise<void> {
    for (const one of group) await this.#commit([one])
    ended()
  }

  /** Not async: what is called in one turn reaches engine and store in its order. */
  #write(group: readonly Waiting[], followed: Followed): Promise<unknown> {
    const { tenant, log, engine } = this.#dependencies
    // a group with writes has one post, and posts of one group are alike in whether tasks get them
    const [first] = group
    const writes = first?.writes ?? NO_WRITES
    const taking = first?.post.forward === true ? engine() : undefined
    if (taking !== undefined) {
      const posts = group.map(({ post }) => forwarded(post))
      return taking.receive(tenant, posts, writes, followed)
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
    const { projector, arrived, told, passed } = this.#dependencies
    if (projector.isFull) await projector.room()
    const waited = arrived(units.flatMap(({ group = [] }) => group.map(({ post }) => post)))
    if (waited !== undefined) await waited
    for (const { group, place } of units) {
      const logged = group === undefined ? undefined : loggedOf(group, place)
      if (logged !== undefined) projector.add(logged)
      else if (place.last > 0) projector.pass(place.first, place.last)
    }
    for (const { group = [], place, ended } of units) {
      for (const [i, { post, source, size, resolve }] of group.entries()) {
        leave(source, size)
        const isMessage = post.store && post.bulk === undefined
        told(post, isMessage ? place.last - group.length + 1 + i : undefined)
        resolve()
      }
      if (place.last > 0) passed(place.last)
      ended()
    }
    this.#goOn()
  }

  /** There may be room again. */
  #goOn(): void {
    // few of them are of this turn, and wait for the others of it
    if (this.#arrivals.gathered.length >= ENOUGH) this.#handOn()
    else if (this.#arrivals.gathered.length + this.#derived.gathered.length > 0) this.#wake()
  }
}

const NO_WRITES: readonly Write[] = []
const nothing = (): void => undefined

function leave(source: Source, size: number): void {
  source.posts--
  source.characters -= size
}

function sizeOf({ bulk, arrivals }: Post): number {
  if (bulk !== undefined) return bulk.size
  let size = 0
  for (const { text } of arrivals) size += text.length
  return size
}

/** Undefined when series get nothing of it. */
function loggedOf(group: readonly Waiting[], { first, last }: UnitPlace): Logged | undefined {
  const posts = group.flatMap(({ post }) => (post.store ? [post] : []))
  if (posts.length === 0 || last === 0) return undefined
  return { posts, first, last, size: group.reduce((sum, { size }) => sum + size, 0) }
}
