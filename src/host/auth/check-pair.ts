/** Checks key pairs for all listeners, and slows down guessing. */
import { AppError } from '#kernel'
import type { ApiKeys, KeyCaller } from './api-keys.ts'
import type { CheckedCaller } from './caller.ts'
import { networkOf } from './hash-queue.ts'
import type { KeyChanges } from './key-changes.ts'
import { REMEMBERED_MS, RememberedChecks } from './remembered-checks.ts'
import { TokenBuckets } from '../rate-limit.ts'

/** Wrong attempts allowed at once, per key and network; afterwards one per second */
const WRONG_BURST = 20

class WrongAttempts {
  readonly #buckets: TokenBuckets

  constructor(now: () => number) {
    this.#buckets = new TokenBuckets({ perSecond: 1, burst: WRONG_BURST, mostKeys: 10_000, now })
  }

  /**
   * Counts an attempt as wrong before its check, so that parallel attempts gain nothing. Returns the seconds to wait.
   */
  begin(network: string, key: string): number {
    return this.#buckets.take(nameOf(network, key))
  }

  takeBack(network: string, key: string): void {
    this.#buckets.giveBack(nameOf(network, key))
  }
}

function nameOf(network: string, key: string): string {
  return `${network} ${key.slice(0, 64)}`
}

export type CheckPair = (key: string, secret: string, address: string) => Promise<CheckedCaller | undefined>

/** `now`: epoch ms. A check stays valid for a minute, unless a change of keys is announced. */
export function checkPairs(keyPairs: ApiKeys, now: () => number, changes: KeyChanges): CheckPair {
  const remembered = new RememberedChecks(now)
  const wrong = new WrongAttempts(now)

  const asChecked = (caller: KeyCaller, current: () => boolean): CheckedCaller => ({
    ...caller,
    until: Math.min(now() + REMEMBERED_MS, caller.ends ?? Infinity),
    isCurrent: current,
    again: () => findAgain(caller),
  })

  const find = async (key: string, secret: string, network: string, wasGood: boolean): Promise<CheckedCaller> => {
    const current = currentFromNow(changes)
    const caller = await keyPairs.check(key, secret, { network, wasGood })
    if (caller === undefined) throw new AppError('UNAUTHORIZED', 'The API key or its secret is wrong')
    return asChecked(caller, current)
  }

  /** Returns the current rights of the secret, which saves a hash. */
  const findAgain = async ({ user, secretId }: Pick<CheckedCaller, 'user' | 'secretId'>) => {
    if (secretId === undefined) return undefined
    const current = currentFromNow(changes)
    const caller = await keyPairs.again({ user, secretId })
    return caller && asChecked(caller, current)
  }

  const findOnTrial = async (key: string, secret: string, network: string): Promise<CheckedCaller> => {
    const wait = wrong.begin(network, key)
    if (wait > 0)
      throw new AppError('RATE_LIMITED', `Too many wrong credentials; try again in ${wait} s`, { cause: wait })
    try {
      const caller = await find(key, secret, network, false)
      wrong.takeBack(network, key)
      return caller
    } catch (error) {
      if (!isWrong(error)) wrong.takeBack(network, key)
      throw error
    }
  }

  return async (key, secret, address) => {
    const text = JSON.stringify([key, secret])
    const known = remembered.get(text)
    if (known !== undefined) return known
    const network = networkOf(address)
    try {
      // failed attempts by others do not delay valid credentials
      return await remembered.check(text, async (wasGood, before) => {
        const same = before && (await findAgain(before))
        return same ?? (wasGood ? find(key, secret, network, true) : findOnTrial(key, secret, network))
      })
    } catch (error) {
      if (isWrong(error)) return undefined
      throw error
    }
  }
}

/** Returns a test for whether results read after this call are still valid. */
function currentFromNow(changes: KeyChanges): () => boolean {
  const moment = changes.now()
  return () => changes.areNoneSince(moment)
}

function isWrong(error: unknown): boolean {
  return error instanceof AppError && error.code === 'UNAUTHORIZED'
}
