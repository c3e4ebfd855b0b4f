import { describe, expect, it } from 'vitest'
import { AppError } from '../../../src/kernel/errors.ts'
import { ALL_RIGHTS } from '../../../src/kernel/rights.ts'
import { RememberedChecks } from '../../../src/host/auth/remembered-checks.ts'

const caller = { tenant: 't', user: 'k', rights: ALL_RIGHTS, until: 100 }

describe('checks of credentials', () => {
  it('are remembered until they expire', async () => {
    let now = 0
    const checks = new RememberedChecks(() => now)
    expect(checks.get('k:s')).toBeUndefined()
    await checks.check('k:s', async () => caller)
    expect(checks.get('k:s')).toEqual(caller)
    expect(checks.get('k:other')).toBeUndefined()
    now = 100
    expect(checks.get('k:s')).toBeUndefined()
  })

  it('are made once for concurrent requests', async () => {
    const checks = new RememberedChecks(() => 0)
    let made = 0
    const find = async () => {
      made++
      await new Promise((resolve) => setImmediate(resolve))
      return caller
    }
    const found = await Promise.all([1, 2, 3].map(() => checks.check('k:s', find)))
    expect(found).toEqual([caller, caller, caller])
    expect(made).toBe(1)
  })

  it('that found no key are repeated once for all later requests: the key may have been created since', async () => {
    const checks = new RememberedChecks(() => 0)
    let isMade = false
    let made = 0
    const find = async () => {
      made++
      const found = isMade
      await new Promise((resolve) => setImmediate(resolve))
      if (!found) throw new AppError('UNAUTHORIZED', 'wrong')
      return caller
    }
    const first = checks.check('k:s', find).catch((error: unknown) => error)
    isMade = true
    const found = await Promise.all([1, 2, 3].map(() => checks.check('k:s', find)))
    expect(await first).toMatchObject({ code: 'UNAUTHORIZED' })
    expect([found, made]).toEqual([[caller, caller, caller], 2])
  })

  it('that failed are made again', async () => {
    const checks = new RememberedChecks(() => 0)
    await expect(checks.check('k:s', () => Promise.reject(new Error('wrong')))).rejects.toThrow('wrong')
    expect(checks.get('k:s')).toBeUndefined()
    expect(await checks.check('k:s', async () => caller)).toEqual(caller)
  })
})
