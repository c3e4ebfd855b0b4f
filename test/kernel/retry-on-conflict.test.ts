import { describe, expect, it } from 'vitest'
import { AppError } from '../../src/kernel/errors.ts'
import { retryOnConflict } from '../../src/kernel/retry-on-conflict.ts'
import { conflictError } from '../../src/storage/conflicts.ts'

const conflict = () => conflictError([{ index: 0, collection: 'things', id: 'a', expected: 5, actual: 6 }])

describe('a write', () => {
  it('is retried while the store reports a version conflict', async () => {
    let tries = 0
    const done = await retryOnConflict(() => (++tries < 3 ? Promise.reject(conflict()) : Promise.resolve('written')))
    expect([done, tries]).toEqual(['written', 3])
  })

  it('ends with a conflict error that does not mention versions of the store', async () => {
    const failed: unknown = await retryOnConflict(() => Promise.reject(conflict())).catch((error: unknown) => error)
    expect(failed).toMatchObject({
      code: 'CONFLICT',
      issues: [],
      message: expect.stringMatching(/retry the request$/) as string,
    })
  })

  it('is not retried after a conflict of a name or a state', async () => {
    let tries = 0
    const taken = new AppError('CONFLICT', 'the name is taken')
    await expect(retryOnConflict(() => (tries++, Promise.reject(taken)))).rejects.toBe(taken)
    expect(tries).toBe(1)
  })
})
