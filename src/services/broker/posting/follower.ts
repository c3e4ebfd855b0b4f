/**
 * Series follow the log, behind the answers to posts: what is durable waits here, goes into series in batches, one
 * after the other, and whoever reads waits for what was acknowledged before.
 *
 * F1  what is acknowledged and not applied is bounded: the line waits for room before it acknowledges more
 * F2  what could not be applied is read from the log again by the next attempt: nothing depends on what waits here
 * F3  an attempt is made for each batch that comes, for each reader, and by each sweep
 */
import { AppError, messageOf } from '../../../kernel/errors.ts'
import type { Logged, Projection } from './projection.ts'

/** posts and characters that may be acknowledged and not applied */
export interface LagLimits {
  readonly posts: number
  readonly characters: number
}

export class Follower {
  readonly #projection: Pick<Projection, 'apply' | 'follow'>
  readonly #limits: LagLimits
  #waiting: Logged[] = []
  /** the last position that is acknowledged, and the last one that series have of those */
  #acknowledged = 0
  #applied = 0
  #posts = 0
  #characters = 0
  #attempt: Promise<void> | undefined
  #failure: AppError | undefined

  constructor(projection: Pick<Projection, 'apply' | 'follow'>, limits: LagLimits) {
    this.#projection = projection
    this.#limits = limits
  }

  /** posts that were acknowledged, and cannot be read yet */
  get posts(): number {
    return this.#posts
  }

  /** characters of these */
  get characters(): number {
    return this.#characters
  }

  /** Why series could not be written the last time; undefined while they can. */
  get failure(): AppError | undefined {
    return this.#failure
  }

  get isFull(): boolean {
    return this.#posts >= this.#limits.posts || this.#characters >= this.#limits.characters
  }

  add(logged: readonly Logged[]): void {
    if (logged.length === 0) return
    for (const one of logged) {
      this.#waiting.push(one)
      this.#posts++
      this.#characters += one.size
      this.#acknowledged = Math.max(this.#acknowledged, one.last)
    }
    this.tryAgain()
  }

  /** Undefined when everything that was acknowledged can be read; else resolves when it can. Rejects with `STORE`. */
  caughtUp(): Promise<void> | undefined {
    return this.#applied >= this.#acknowledged ? undefined : this.#reach(this.#acknowledged)
  }

  tryAgain(): void {
    void this.#try()
  }

  /** When there is room again, or series cannot be written. */
  async room(): Promise<void> {
    while (this.isFull && this.#failure === undefined) await this.#try()
  }

  /** What waits is applied, or refused, when it resolves. */
  async idle(): Promise<void> {
    await this.caughtUp()?.catch(() => undefined)
  }

  async #reach(position: number): Promise<void> {
    // an attempt that began before does not have it all
    if (this.#attempt !== undefined) await this.#attempt
    while (this.#applied < position) {
      await this.#try()
      if (this.#applied < position && this.#failure !== undefined) throw this.#failure
    }
  }

  /** Never rejects. */
  #try(): Promise<void> {
    this.#attempt ??= this.#run()
    return this.#attempt
  }

  async #run(): Promise<void> {
    // what is acknowledged in the same turn goes along
    await nextTurn()
    do await this.#next()
    while (this.#waiting.length > 0 && this.#failure === undefined)
    this.#attempt = undefined
  }

  async #next(): Promise<void> {
    const batch = this.#waiting
    const upTo = this.#acknowledged
    const hadFailed = this.#failure !== undefined
    this.#waiting = []
    try {
      if (hadFailed) await this.#projection.follow(upTo)
      else if (batch.length > 0) await this.#apply(batch, upTo)
      this.#failure = undefined
      this.#applied = upTo
      this.#forget(batch, hadFailed)
    } catch (error) {
      const text = `What was posted is kept, but cannot be read yet: ${messageOf(error)}`
      this.#failure = new AppError('STORE', text, { cause: error })
    }
  }

  async #apply(batch: readonly Logged[], upTo: number): Promise<void> {
    try {
      await this.#projection.apply(batch)
    } catch (error) {
      if (!(error instanceof AppError) || error.status >= 500) throw error
      // one of them is refused: from the log it is found and passed over
      await this.#projection.follow(upTo)
    }
  }

  #forget(batch: readonly Logged[], hadFailed: boolean): void {
    if (hadFailed) {
      // those of the attempts that failed are applied too; only what came meanwhile still waits
      this.#posts = this.#waiting.length
      this.#characters = this.#waiting.reduce((sum, { size }) => sum + size, 0)
      return
    }
    this.#posts -= batch.length
    for (const { size } of batch) this.#characters -= size
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
