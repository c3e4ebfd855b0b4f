/** Credentials that were checked a moment ago, so that a request pays for a look-up and not for a hash. */
import { hash, randomBytes } from 'node:crypto'
import { AppError } from '#kernel'
import type { CheckedCaller } from './caller.ts'

const MOST = 10_000
/** Credentials of which it is remembered that they were good once. */
const MAX_GOOD = 10_000
/** Credentials that are remembered as they came, and characters of them: they cost no digest. */
const MAX_AS_CAME = 1_000
const MAX_CHARACTERS = 2_048

/** ms that a check is remembered */
export const REMEMBERED_MS = 60_000

/**
 * Credentials that were checked a moment ago, so that a request pays for a lookup and not for the check. They are kept by
 * a digest, with a salt of this process: it is compared without telling anything about the credentials. The few that
 * come again and again are kept as they came besides, until all of those are forgotten together: a look-up compares them
 * only with what has the very same hash, by a seed of this process, so that the time it takes tells nothing either.
 */
export class RememberedChecks {
  readonly #salt = randomBytes(16).toString('base64')
  readonly #callers = new Map<string, CheckedCaller>()
  /** by the credentials */
  readonly #asCame = new Map<string, CheckedCaller>()
  /** epoch ms at which these are forgotten */
  #asCameUntil = Number.NEGATIVE_INFINITY
  /** digests of those that were good when they were checked last, the longest unused first */
  readonly #good = new Set<string>()
  /** by digest: checks under way */
  readonly #underWay = new Map<string, Promise<CheckedCaller>>()
  readonly #now: () => number

  /** `now`: epoch ms */
  constructor(now: () => number) {
    this.#now = now
  }

  get(credentials: string): CheckedCaller | undefined {
    const now = this.#now()
    if (now >= this.#asCameUntil) {
      this.#asCame.clear()
      this.#asCameUntil = now + REMEMBERED_MS
    }
    const known = this.#asCame.get(credentials)
    if (known !== undefined && known.until > now && isCurrent(known)) return known
    return this.#byDigest(credentials)
  }

  #byDigest(credentials: string): CheckedCaller | undefined {
    const digest = this.#digest(credentials)
    const caller = this.#callers.get(digest)
    if (caller === undefined || caller.until <= this.#now()) {
      this.#callers.delete(digest)
      this.#asCame.delete(credentials)
      return undefined
    }
    if (!isCurrent(caller)) return undefined
    // those that are used find their way back
    if (this.#asCame.size >= MAX_AS_CAME) this.#asCame.clear()
    if (credentials.length <= MAX_CHARACTERS) this.#asCame.set(credentials, caller)
    return caller
  }

  /**
   * Checks once for all who come with the same credentials meanwhile, and remembers whom it found; where it found nobody,
   * once more for those who came while it looked. `find` is told whether they were good when they were checked last, however
   * long ago, and who it was, where that is remembered and may only have changed.
   */
  async check(
    credentials: string,
    find: (wasGood: boolean, before: CheckedCaller | undefined) => Promise<CheckedCaller>,
  ): Promise<CheckedCaller> {
    const digest = this.#digest(credentials)
    const known = this.#underWay.get(digest)
    if (known !== undefined) {
      try {
        return await known
      } catch (error) {
        if (!isUnauthorized(error)) throw error
        // it may have looked before the key was made; what is under way now has begun since
        const since = this.#underWay.get(digest)
        if (since !== undefined && since !== known) return since
      }
    }
    const before = this.#callers.get(digest)
    const isOutdated = before !== undefined && before.until <= this.#now()
    const checking = find(this.#good.has(digest), isOutdated ? undefined : before)
    this.#underWay.set(digest, checking)
    try {
      const caller = await checking
      this.#remember(digest, caller)
      return caller
    } catch (error) {
      if (isUnauthorized(error)) this.#good.delete(digest)
      throw error
    } finally {
      this.#underWay.delete(digest)
    }
  }

  #remember(digest: string, caller: CheckedCaller): void {
    for (const oldest of this.#callers.keys()) {
      if (this.#callers.size < MOST) break
      this.#callers.delete(oldest)
    }
    this.#callers.set(digest, caller)
    this.#good.delete(digest)
    for (const oldest of this.#good) {
      if (this.#good.size < MAX_GOOD) break
      this.#good.delete(oldest)
    }
    this.#good.add(digest)
  }

  #digest(credentials: string): string {
    return hash('sha256', this.#salt + credentials, 'base64')
  }
}

function isCurrent(caller: CheckedCaller): boolean {
  return caller.isCurrent?.() ?? true
}

function isUnauthorized(error: unknown): boolean {
  return error instanceof AppError && error.code === 'UNAUTHORIZED'
}
