import { describe, expect, it } from 'vitest'
import { RememberedChecks } from '../../../src/host/auth/remembered-checks.ts'

const caller = { tenant: 't', user: 'k', until: 100 }

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

  it('are made once for all who come meanwhile', async () => {
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

  it('that failed are made again', async () => {
    const checks = new RememberedChecks(() => 0)
    await expect(checks.check('k:s', () => Promise.reject(new Error('wrong')))).rejects.toThrow('wrong')
    expect(checks.get('k:s')).toBeUndefined()
    expect(await checks.check('k:s', async () => caller)).toEqual(caller)
  })
})
