import { hash, randomBytes } from 'node:crypto'
import type { CheckedCaller } from './caller.ts'

const MOST = 10_000

/** ms that a check is remembered */
export const REMEMBERED_MS = 60_000

/**
 * Credentials that were checked a moment ago, so that a request pays for a lookup and not for the check. Only a digest
 * of them is kept, with a salt of this process: it is compared without telling anything about the credentials.
 */
export class RememberedChecks {
  readonly #salt = randomBytes(16).toString('base64')
  readonly #callers = new Map<string, CheckedCaller>()
  /** by digest: checks under way */
  readonly #underWay = new Map<string, Promise<CheckedCaller>>()
  readonly #now: () => number

  /** `now`: epoch ms */
  constructor(now: () => number) {
    this.#now = now
  }

  get(credentials: string): CheckedCaller | undefined {
    const digest = this.#digest(credentials)
    const caller = this.#callers.get(digest)
    if (caller === undefined || caller.until > this.#now()) return caller
    this.#callers.delete(digest)
    return undefined
  }

  /** Checks once for all who come with the same credentials meanwhile, and remembers whom it found. */
  async check(credentials: string, find: () => Promise<CheckedCaller>): Promise<CheckedCaller> {
    const digest = this.#digest(credentials)
    const known = this.#underWay.get(digest)
    if (known !== undefined) return known
    const checking = find()
    this.#underWay.set(digest, checking)
    try {
      const caller = await checking
      this.#remember(digest, caller)
      return caller
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
  }

  #digest(credentials: string): string {
    return hash('sha256', this.#salt + credentials, 'base64')
  }
}
