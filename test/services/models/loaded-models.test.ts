/** Tests models of several tenants on one host. */
import { describe, expect, it } from 'vitest'
import { LoadedModels } from '../../../src/services/models/loaded-models.ts'
import { deferred } from '../../support/deferred.ts'
import { TestDriver } from './test-driver.ts'

function loadedBy(driver: TestDriver) {
  const loaded = new LoadedModels([driver])
  const use = (tenant: string, digest = 'd') => {
    const model = { tenant, name: 'm', framework: 'xgboost', digest, files: new Map() } as const
    return loaded.use(
      model,
      () => Promise.resolve(model),
      ({ warnings }) => Promise.resolve(warnings),
    )
  }
  return { loaded, use }
}

describe('the models of a closed tenant', () => {
  it('are unloaded, and those of other tenants stay', async () => {
    const driver = new TestDriver()
    const { loaded, use } = loadedBy(driver)
    await Promise.all([use('acme'), use('acme', 'e'), use('umbrella')])
    loaded.closeOf('acme')
    expect(loaded.size).toBe(1)
    await use('umbrella')
    expect(driver.opened).toBe(3)
  })

  it('reject their calls while they load, and are closed after that', async () => {
    const driver = new TestDriver()
    const loading = deferred()
    driver.open_ = () => loading.promise
    const { loaded, use } = loadedBy(driver)
    const used = use('acme')
    loaded.closeOf('acme')
    await expect(used).rejects.toMatchObject({ code: 'CLOSED' })
    expect([loaded.size, driver.closed]).toEqual([0, 0])
    loading.resolve()
    await expect.poll(() => driver.closed).toBe(1)
  })
})
