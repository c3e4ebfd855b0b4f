/** Tests when an attempt of an import or export is the last one. */
import { describe, expect, it } from 'vitest'
import { AppError } from '../../../../src/kernel/errors.ts'
import type { JobContext } from '../../../../src/jobs/contract.ts'
import { ATTEMPTS, attempted } from '../../../../src/services/objects/etl/transfer.ts'

const away = new AppError('UNAVAILABLE', 'away')
const other = new Error('no room for it')

async function outcomeOf(reason: Error, attemptsMade: number, isFinal: boolean): Promise<readonly unknown[]> {
  const failed: string[] = []
  const context = { job: { attemptsMade }, signal: new AbortController().signal } as unknown as JobContext
  const attempt = attempted(context, () => Promise.reject(reason), {
    isFinal: () => isFinal,
    fail: async (said) => void failed.push(said),
  })
  return [await attempt.catch((thrown: unknown) => thrown), failed]
}

describe('a failed attempt', () => {
  it.each<[string, Error, number, boolean, readonly unknown[]]>([
    ['is followed by another one', other, 0, false, [other, []]],
    ['is the last of ten', other, ATTEMPTS - 1, false, [{ kind: 'completed' }, ['no room for it']]],
    ['is the only one if another cannot succeed', other, 0, true, [{ kind: 'completed' }, ['no room for it']]],
    ['counts while the store is unavailable', away, 0, false, [away, []]],
    ['is not the last when the store is unavailable', away, ATTEMPTS - 1, false, [away, []]],
  ])('%s', async (_fact, error, attemptsMade, isFinal, expected) => {
    expect(await outcomeOf(error, attemptsMade, isFinal)).toEqual(expected)
  })
})
