/**
 * Applies posts from the log to series after they are acknowledged; reads wait for posts acknowledged before them.
 *
 * PROJECTOR-1 acknowledged posts that are not applied yet are bounded: beyond the bound, acknowledgements wait for room
 * PROJECTOR-2 every log entry reaches series: after a gap, a failed append or an entry from another host, entries are
 *   read from the log again, so posts that wait here are never the only source
 * PROJECTOR-3 an attempt is made for each batch, for each reader, and by each sweep
 * PROJECTOR-4 an entry that itself cannot be written is skipped and reported, and does not block later entries
 * PROJECTOR-5 if series and log differ in age when they are opened, they are reconciled and the difference is reported
 */
import { AppError, isRefusal, messageOf } from '#kernel'
import { LOG_NAME } from '#log'
import type { Log, LogEntry, Series } from '#storage'
import { machineTimers } from '#platform'
import { isFull, nothing, projectEntry, projectPost, type Projected } from './log-entry.ts'
import type { PublishRequest } from './publish-request.ts'

export interface Logged {
  readonly posts: readonly PublishRequest[]
  readonly first: number
  last: number
  readonly size: number
}

/** Limits how far series may lag behind acknowledged posts. */
export interface LagLimits {
  readonly posts: number
  readonly characters: number
  /** ms before posts are applied if no reader waits; each batch rewrites the pages that it touches */
  readonly restMs: number
}

export interface ProjectorDependencies {
  readonly log: Log
  readonly series: Pick<Series, 'append' | 'applied'>
  readonly limits: LagLimits
  readonly report: (text: string) => void
  readonly recovered: (projected: Projected) => Promise<void> | void
}

interface Reader {
  readonly upTo: number
  /** number of the first attempt that includes all posts the reader waits for */
  readonly attempt: number
  resolve(): void
  reject(error: unknown): void
}

/** share of the limits at which a batch starts immediately; a much larger batch would delay later posts */
const ENOUGH = 1 / 8
const PAGE = 500

export class SeriesProjector {
  readonly #dependencies: ProjectorDependencies
  /** the last log position that is in series; undefined until series have been asked */
  #stored: number | undefined
  #waiting: Logged[] = []
  #acknowledged = 0
  #applied = 0
  #posts = 0
  #characters = 0
  #isRunning = false
  #attempts = 0
  #readers: Reader[] = []
  #failure: AppError | undefined
  #endRest: (() => void) | undefined

  constructor(dependencies: ProjectorDependencies) {
    this.#dependencies = dependencies
  }

  get failure(): AppError | undefined {
    return this.#failure
  }

  get isFull(): boolean {
    const { posts, characters } = this.#dependencies.limits
    return this.#posts >= posts || this.#characters >= characters
  }

  async open(): Promise<void> {
    const { log, series, report } = this.#dependencies
    const { first, last } = await log.bounds()
    const at = await series.applied(LOG_NAME)
    if (at > last) {
      await series.append({ applies: { log: LOG_NAME, position: last, rewinds: true } })
      report(
        `the log ends at entry ${last}, but series contain entries up to ${at}: the log is older, for example from a ` +
          `backup. Series continue from entry ${last}; they keep later entries, which rules will not receive`,
      )
    } else if (at < first - 1) {
      report(
        `series contain entries up to ${at}, but the log begins at ${first}: series are older, for example from ` +
          `a backup. The entries in between are missing in series`,
      )
    }
    await this.#catchUp(last)
  }

  add(logged: Logged): void {
    this.#count([logged], 1)
    this.#waiting.push(logged)
    this.#acknowledged = logged.last
    if (this.#isEnough) this.#endRest?.()
    this.tryAgain()
  }

  /** Skips entries without samples or messages, in the same commit as the next batch. */
  pass(first: number, last: number): void {
    const newest = this.#waiting.at(-1)
    if (newest?.last === first - 1) newest.last = last
    else this.#waiting.push({ posts: [], first, last, size: 0 })
  }

  /** Returns the last log position that is in series. `atRest`: includes skipped entries. */
  async reached(atRest: boolean): Promise<number> {
    const newest = this.#waiting.at(-1)
    if (atRest && newest !== undefined && this.#posts === 0) {
      this.#acknowledged = newest.last
      await this.idle()
    }
    return this.#stored ?? 0
  }

  /** Resolves when all acknowledged posts can be read; returns undefined if they already can. Rejects with `STORE`. */
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

  /** Resolves when the queue has room again, or series cannot be written. */
  async room(): Promise<void> {
    while (this.isFull && this.#failure === undefined) await this.idle()
  }

  async idle(): Promise<void> {
    await this.caughtUp()?.catch(() => undefined)
  }

  /** Applies waiting posts until none are left. Never rejects. */
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

  /** Settles waiting readers. A reader that arrived during a failed attempt waits for another attempt. */
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
    const { posts, characters } = this.#dependencies.limits
    return this.#posts >= posts * ENOUGH || this.#characters >= characters * ENOUGH
  }

  async #rest(): Promise<void> {
    const { restMs } = this.#dependencies.limits
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
    // posts acknowledged in the same turn join the batch
    await machineTimers.breathe()
  }

  async #next(): Promise<void> {
    const batch = this.#waiting
    const upTo = this.#acknowledged
    const hadFailed = this.#failure !== undefined
    this.#waiting = []
    try {
      if (hadFailed) await this.#catchUp(upTo)
      else if (batch.length > 0) await orRefused(this.#apply(batch), () => this.#catchUp(upTo))
      this.#failure = undefined
      this.#applied = upTo
      this.#release(batch, hadFailed)
    } catch (error) {
      const text = `Posts are stored, but cannot be read yet: ${messageOf(error)}`
      this.#failure = new AppError('STORE', text, { cause: error })
    }
  }

  #release(batch: readonly Logged[], hadFailed: boolean): void {
    if (hadFailed) {
      // this batch includes those of failed attempts, so only later posts still wait
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

  /** Applies a batch. After a rejection, the next attempt starts from the position that series have reached. */
  async #apply(batch: readonly Logged[]): Promise<void> {
    let projected = nothing()
    let position = 0
    const flush = async (): Promise<void> => {
      if (position === 0) return
      await this.#append(projected, position)
      projected = nothing()
      position = 0
    }
    for (const { posts, first, last } of batch) {
      if (first !== (position || (this.#stored ?? Number.NaN)) + 1) {
        await flush()
        await this.#catchUp(first - 1)
      } else if (isFull(projected)) await flush()
      // another host has already applied it
      if (last <= (this.#stored ?? 0)) continue
      for (const post of posts) projectPost(post, projected)
      position = last
    }
    await flush()
  }

  async #append(projected: Projected, position: number): Promise<void> {
    try {
      const applies = { log: LOG_NAME, position }
      await this.#dependencies.series.append({ ...projected, applies })
      this.#stored = position
    } catch (error) {
      this.#stored = undefined
      throw error
    }
  }

  async #catchUp(upTo: number): Promise<void> {
    if ((this.#stored ?? -1) >= upTo) return
    const { log, series } = this.#dependencies
    let at = await series.applied(LOG_NAME)
    while (at < upTo) {
      const entries = await log.read(at, Math.min(PAGE, upTo - at))
      // trimmed, because another host had already applied them
      if (entries.length === 0) break
      at = await this.#applyEntries(entries)
    }
    this.#stored = Math.max(at, upTo)
  }

  async #applyEntries(entries: readonly LogEntry[]): Promise<number> {
    let projected = nothing()
    let position = 0
    let from = 0
    for (const [i, entry] of entries.entries()) {
      if (isFull(projected)) {
        await this.#appendAgain(projected, entries.slice(from, i))
        projected = nothing()
        from = i
      }
      this.#read(entry, projected)
      position = entry.position
    }
    await this.#appendAgain(projected, entries.slice(from))
    return position
  }

  async #appendAgain(projected: Projected, entries: readonly LogEntry[]): Promise<void> {
    const position = entries.at(-1)?.position ?? 0
    await orRefused(this.#append(projected, position), () => this.#oneByOne(entries))
    await this.#dependencies.recovered(projected)
  }

  async #oneByOne(entries: readonly LogEntry[]): Promise<void> {
    for (const entry of entries) {
      const projected = nothing()
      this.#read(entry, projected)
      const { position } = entry
      await orRefused(this.#append(projected, position), async (reason) => {
        this.#skipped(position, reason)
        await this.#append(nothing(), position)
      })
    }
  }

  #skipped(position: number, reason: string): void {
    this.#dependencies.report(`entry ${position} of the log is skipped: ${reason}`)
  }

  #read({ position, body }: LogEntry, into: Projected): void {
    const before = { samples: into.samples.length, messages: into.messages.length }
    try {
      if (projectEntry(body, into)) return
      this.#skipped(position, 'the entry has an unknown format')
    } catch (error) {
      into.samples.length = before.samples
      into.messages.length = before.messages
      this.#skipped(position, messageOf(error))
    }
  }
}

/** Runs `work`. Calls `refused` with the reason if the store refuses it; throws any other error. */
async function orRefused(work: Promise<void>, refused: (reason: string) => Promise<void>): Promise<void> {
  try {
    await work
  } catch (error) {
    if (!isRefusal(error)) throw error
    await refused(messageOf(error))
  }
}
