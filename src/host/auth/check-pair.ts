/** Checks key and secret for connections that are not HTTP. */
import { AppError } from '../../kernel/errors.ts'
import type { Caller } from '../../kernel/caller.ts'
import type { ApiKeys } from './api-keys.ts'
import { REMEMBERED_MS, RememberedChecks } from './remembered-checks.ts'
import { WrongAttempts } from './wrong-attempts.ts'

export type CheckPair = (key: string, secret: string, address: string) => Promise<Caller | undefined>

/** Checks key pairs for connections that are not HTTP. */
export function checkPairs(keyPairs: ApiKeys, now: () => number): CheckPair {
  const remembered = new RememberedChecks(now)
  const wrong = new WrongAttempts(now)
  return async (key, secret, address) => {
    const text = JSON.stringify([key, secret])
    const known = remembered.get(text)
    if (known !== undefined) return { tenant: known.tenant, user: known.user }
    const wait = wrong.wait(address, key)
    if (wait > 0) throw new AppError('RATE_LIMITED', `Too many wrong credentials; try again in ${wait} s`)
    try {
      const caller = await remembered.check(text, async () => {
        const found = await keyPairs.check(key, secret)
        if (found === undefined) throw new AppError('UNAUTHORIZED', 'The API key or its secret is wrong')
        return { ...found, until: now() + REMEMBERED_MS }
      })
      return { tenant: caller.tenant, user: caller.user }
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'UNAUTHORIZED') throw error
      wrong.count(address, key)
      return undefined
    }
  }
}
