/** Caches checked credentials, so that a request costs a look-up instead of a hash. */
import { hash, randomBytes } from 'node:crypto'
import { AppError } from '#kernel'
import type { CheckedCaller } from './caller.ts'

const MOST = 10_000
const MAX_GOOD = 10_000
/** Maximum number of credentials cached verbatim, and their maximum length. Looking them up needs no digest. */
const MAX_AS_CAME = 1_000
const MAX_CHARACTERS = 2_048

/** Lifetime of a cached check, in ms */
export const REMEMBERED_MS = 60_000

/**
 * Caches checked credentials under a digest that is salted per process, so that timing does not reveal the credentials.
 * Frequent credentials are also cached verbatim and all dropped together after a minute: a look-up compares only
 * credentials with equal seeded hashes, so that its timing reveals nothing either.
 */
export class RememberedChecks {
  readonly #salt = randomBytes(16).toString('base64')
  readonly #callers = new Map<string, CheckedCaller>()
  readonly #asCame = new Map<string, CheckedCaller>()
  /** Time at which the verbatim entries are dropped, in epoch ms */
  #asCameUntil = Number.NEGATIVE_INFINITY
  readonly #good = new Set<string>()
  readonly #underWay = new Map<string, Promise<CheckedCaller>>()
  readonly #now: () => number

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
    if (this.#asCame.size >= MAX_AS_CAME) this.#asCame.clear()
    if (credentials.length <= MAX_CHARACTERS) this.#asCame.set(credentials, caller)
    return caller
  }

  /** Runs one check for concurrent callers; if it fails, callers that joined meanwhile share one more check. */
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
        // the failed check may have begun before the key was created
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
