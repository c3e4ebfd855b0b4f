/**
 * Brings series up to the log.
 *
 * PROJECTION-1 what is in the log comes into series, whatever happens between: a gap, a failed append or another
 *   host's entry is read from the log again
 * PROJECTION-2 what cannot be written by itself is passed over and reported, so that what follows is not held up
 * PROJECTION-3 series and a log of different age are brought together when they are opened, and it is reported
 */
import { AppError, messageOf } from '#kernel'
import { LOG_NAME, PARTITION } from '#log'
import type { Log, LogEntry } from '#storage'
import type { Post } from './arrival.ts'
import { isFull, nothing, projectEntry, projectPost, type Projected, type SeriesOf } from './log-entry.ts'

/** A part of the log, and the posts that series get of it. */
export interface Logged {
  readonly posts: readonly Post[]
  readonly first: number
  last: number
  /** characters, about */
  readonly size: number
}

export interface ProjectionDependencies {
  readonly log: Log
  readonly series: SeriesOf
  /** told of what operators should know */
  readonly report: (text: string) => void
  /** told about resources of entries that were read again */
  readonly recovered: (projected: Projected) => Promise<void> | void
}

/** entries that are read from the log at once */
const PAGE = 500

export class Projection {
  readonly #dependencies: ProjectionDependencies
  /** the last position that series have; undefined: not known, ask */
  #applied: number | undefined

  constructor(dependencies: ProjectionDependencies) {
    this.#dependencies = dependencies
  }

  get applied(): number {
    return this.#applied ?? 0
  }

  /** Everything that the log has is in series when it resolves. */
  async open(): Promise<void> {
    const { log, series, report } = this.#dependencies
    const { first, last } = await log.bounds(PARTITION)
    const at = await series.applied(LOG_NAME, PARTITION)
    if (at > last) {
      await series.append({ applies: { log: LOG_NAME, partition: PARTITION, position: last, rewinds: true } })
      report(
        `the log ends at entry ${last}, series have up to ${at}: the log is older, as of a backup. Series go on ` +
          `from entry ${last}; what came after it is in series, and no rule will see it`,
      )
    } else if (at < first - 1) {
      report(
        `series have the log up to entry ${at}, and the log begins at ${first}: series are older, as of a ` +
          `backup. What came in between is in no series`,
      )
    }
    await this.#catchUp(last)
  }

  /** As `apply`, from the log alone. */
  async follow(upTo: number): Promise<void> {
    if (this.applied < upTo) await this.#catchUp(upTo)
  }

  /** When it rejects, the next call begins where series are. */
  async apply(logged: readonly Logged[]): Promise<void> {
    let projected = nothing()
    let position = 0
    const flush = async (): Promise<void> => {
      if (position === 0) return
      await this.#append(projected, position)
      projected = nothing()
      position = 0
    }
    for (const { posts, first, last } of logged) {
      if (first !== (position || (this.#applied ?? Number.NaN)) + 1) {
        await flush()
        await this.#catchUp(first - 1)
      } else if (isFull(projected)) await flush()
      // another host has seen to it
      if (last <= this.applied) continue
      for (const post of posts) projectPost(post, projected)
      position = last
    }
    await flush()
  }

  async #append(projected: Projected, position: number): Promise<void> {
    try {
      await this.#dependencies.series.append({
        ...projected,
        applies: { log: LOG_NAME, partition: PARTITION, position },
      })
      this.#applied = position
    } catch (error) {
      this.#applied = undefined
      throw error
    }
  }

  async #catchUp(upTo: number): Promise<void> {
    const { log, series } = this.#dependencies
    let at = await series.applied(LOG_NAME, PARTITION)
    while (at < upTo) {
      const entries = await log.read(PARTITION, at, Math.min(PAGE, upTo - at))
      // trimmed, because another host had applied them
      if (entries.length === 0) break
      at = await this.#applyEntries(entries)
    }
    this.#applied = Math.max(at, upTo)
  }

  async #applyEntries(entries: readonly LogEntry[]): Promise<number> {
    let projected = nothing()
    let position = 0
    for (const entry of entries) {
      if (isFull(projected)) {
        await this.#appendAgain(projected, position, entries)
        projected = nothing()
      }
      this.#read(entry, projected)
      position = entry.position
    }
    await this.#appendAgain(projected, position, entries)
    return position
  }

  async #appendAgain(projected: Projected, position: number, entries: readonly LogEntry[]): Promise<void> {
    await unlessRefused(this.#append(projected, position), () => this.#oneByOne(entries, position))
    await this.#dependencies.recovered(projected)
  }

  async #oneByOne(entries: readonly LogEntry[], upTo: number): Promise<void> {
    for (const entry of entries) {
      if (entry.position > upTo) return
      const projected = nothing()
      this.#read(entry, projected)
      await unlessRefused(this.#append(projected, entry.position), async (reason) => {
        this.#refused(entry.position, reason)
        await this.#append(nothing(), entry.position)
      })
    }
  }

  #refused(position: number, reason: string): void {
    this.#dependencies.report(`entry ${position} of the log is passed over: ${reason}`)
  }

  #read({ position, body }: LogEntry, into: Projected): void {
    const before = { samples: into.samples.length, messages: into.messages.length }
    try {
      if (projectEntry(body, into)) return
      this.#refused(position, 'the entry has another form')
    } catch (error) {
      into.samples.length = before.samples
      into.messages.length = before.messages
      this.#refused(position, messageOf(error))
    }
  }
}

/** What the caller is to blame for goes to `refused`, with its reason; anything else is thrown on. */
async function unlessRefused(work: Promise<void>, refused: (reason: string) => Promise<void> | void): Promise<void> {
  try {
    await work
  } catch (error) {
    if (!isRefusal(error)) throw error
    await refused(messageOf(error))
  }
}

/** Nothing was written, because of what was to be written. */
export function isRefusal(error: unknown): boolean {
  return error instanceof AppError && error.status < 500
}
