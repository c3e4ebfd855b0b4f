/**
 * Series follow the log, behind the answers to posts: what is acknowledged waits here, goes into series in batches, one
 * after the other, and whoever reads waits for what was acknowledged before.
 *
 * PROJECTOR-1 what is acknowledged and not applied is bounded: posts wait for room before more are acknowledged
 * PROJECTOR-2 what could not be applied is read from the log again by the next attempt: nothing depends on what waits here
 * PROJECTOR-3 an attempt is made for each batch that comes, for each reader, and by each sweep
 */
import { AppError, messageOf } from '#kernel'
import { machineTimers } from '#platform'
import { isRefusal, type Logged, type Projection } from './projection.ts'

/** posts and characters that may be acknowledged and not applied */
export interface LagLimits {
  readonly posts: number
  readonly characters: number
  /** ms until what came is applied, when nobody reads meanwhile: large batches cost less, each rewrites what it touches */
  readonly restMs: number
}

/** Somebody who waits for what was acknowledged before. */
interface Reader {
  readonly upTo: number
  /** the first attempt that has all of it */
  readonly attempt: number
  resolve(): void
  reject(error: unknown): void
}

/** that part of the limits is worth a batch at once: one that is much larger holds up the posts that come meanwhile */
const ENOUGH = 1 / 8

export class SeriesProjector {
  readonly #projection: Pick<Projection, 'apply' | 'applied' | 'follow'>
  readonly #limits: LagLimits
  #waiting: Logged[] = []
  /** the last position that is acknowledged, and the last one that series have of those */
  #acknowledged = 0
  #applied = 0
  #posts = 0
  #characters = 0
  #isRunning = false
  /** that were begun */
  #attempts = 0
  #readers: Reader[] = []
  #failure: AppError | undefined
  #endRest: (() => void) | undefined

  constructor(projection: Pick<Projection, 'apply' | 'applied' | 'follow'>, limits: LagLimits) {
    this.#projection = projection
    this.#limits = limits
  }

  /** Why series could not be written the last time; undefined while they can. */
  get failure(): AppError | undefined {
    return this.#failure
  }

  get isFull(): boolean {
    return this.#posts >= this.#limits.posts || this.#characters >= this.#limits.characters
  }

  add(logged: Logged): void {
    this.#count([logged], 1)
    this.#waiting.push(logged)
    this.#acknowledged = logged.last
    if (this.#isEnough) this.#endRest?.()
    this.tryAgain()
  }

  /** Entries of which series get nothing: they go along with the next batch. */
  pass(first: number, last: number): void {
    const newest = this.#waiting.at(-1)
    if (newest?.last === first - 1) newest.last = last
    else this.#waiting.push({ posts: [], first, last, size: 0 })
  }

  /** The last position that series have. `atRest`: of entries of which they get nothing, too. */
  async reached(atRest: boolean): Promise<number> {
    const newest = this.#waiting.at(-1)
    if (atRest && newest !== undefined && this.#posts === 0) {
      this.#acknowledged = newest.last
      await this.idle()
    }
    return this.#projection.applied
  }

  /** Undefined when everything that was acknowledged can be read; else resolves when it can. Rejects with `STORE`. */
  caughtUp(): Promise<void> | undefined {
    if (this.#applied >= this.#acknowledged) return undefined
    return new Promise((resolve, reject) => {
      this.#readers.push({ upTo: this.#acknowledged, attempt: this.#attempts + 1, resolve, reject })
      this.#endRest?.()
      this.tryAgain()
    })
  }

  tryAgain(): void {
    if (!this.#isRunning) void this.#run()
  }

  /** When there is room again, or series cannot be written. */
  async room(): Promise<void> {
    while (this.isFull && this.#failure === undefined) await this.idle()
  }

  /** What waits is applied, or refused, when it resolves. */
  async idle(): Promise<void> {
    await this.caughtUp()?.catch(() => undefined)
  }

  /** Never rejects. */
  async #run(): Promise<void> {
    this.#isRunning = true
    do {
      await this.#rest()
      this.#attempts++
      await this.#next()
      this.#answerReaders()
    } while (this.#readers.length > 0 || (this.#posts > 0 && this.#failure === undefined))
    this.#isRunning = false
  }

  /** Who came while an attempt was under way that failed has one of its own. */
  #answerReaders(): void {
    if (this.#readers.length === 0) return
    const readers = this.#readers
    this.#readers = []
    for (const reader of readers) {
      if (reader.upTo <= this.#applied) reader.resolve()
      else if (this.#failure !== undefined && reader.attempt <= this.#attempts) reader.reject(this.#failure)
      else this.#readers.push(reader)
    }
  }

  get #isEnough(): boolean {
    const { posts, characters } = this.#limits
    return this.#posts >= posts * ENOUGH || this.#characters >= characters * ENOUGH
  }

  async #rest(): Promise<void> {
    const { restMs } = this.#limits
    if (restMs > 0 && this.#readers.length === 0 && !this.#isEnough) {
      await new Promise<void>((resolve) => {
        const cancel = machineTimers.later(restMs, resolve)
        this.#endRest = () => {
          cancel()
          resolve()
        }
      })
      this.#endRest = undefined
    }
    // what is acknowledged in the same turn goes along
    await machineTimers.breathe()
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
      if (!isRefusal(error)) throw error
      // one of them is refused: from the log it is found and passed over
      await this.#projection.follow(upTo)
    }
  }

  #forget(batch: readonly Logged[], hadFailed: boolean): void {
    if (hadFailed) {
      // those of the attempts that failed are applied too; only what came meanwhile still waits
      this.#posts = 0
      this.#characters = 0
      this.#count(this.#waiting, 1)
    } else this.#count(batch, -1)
  }

  #count(logged: readonly Logged[], sign: 1 | -1): void {
    for (const { posts, size } of logged) {
      this.#posts += sign * posts.length
      this.#characters += sign * size
    }
  }
}
