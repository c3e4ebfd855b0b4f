/** Tests the models service over a driver that the tests control. */
import { describe, expect, it } from 'vitest'
import { AppError } from '../../../src/kernel/errors.ts'
import type { InternalFunctions } from '../../../src/services/functions/contract.ts'
import type { ModelsApi, InternalModels } from '../../../src/services/models/contract.ts'
import { GAVE_UP, type ModelDriver } from '../../../src/services/models/driver.ts'
import { LoadedModels } from '../../../src/services/models/loaded-models.ts'
import { Models } from '../../../src/services/models/service.ts'
import type { Storage } from '../../../src/storage/contract.ts'
import { openMemory } from '../../../src/storage/memory/open-memory.ts'
import { deferred } from '../../support/deferred.ts'
import { until } from '../../support/until.ts'
import { TEST_SEAL, TestDriver } from './test-driver.ts'
import { zipOf } from './zip.ts'

const file = zipOf({ 'model.bst': 'x' })
const UPLOAD = { name: 'm', framework: 'xgboost', file }

let ids = 0
const seal = TEST_SEAL
function serviceOf(driver: ModelDriver, storage: Storage = openMemory()): InternalModels {
  return new Models({
    tenant: 'acme',
    store: storage.tenant('acme'),
    loaded: new LoadedModels([driver]),
    now: () => 1_000,
    newId: () => `id${ids++}`,
    seal,
  })
}
const asked = (service: InternalModels): ModelsApi => service.as({ tenant: 'acme', user: 'users/1' })
const ready = (api: ModelsApi, name = 'm'): Promise<void> => until(async () => (await api.get(name)).ready)

/** Creates a model that is ready for predictions. */
async function loaded() {
  const driver = new TestDriver()
  const api = asked(serviceOf(driver))
  await api.create(UPLOAD)
  await ready(api)
  return { driver, api }
}

describe('a model', () => {
  // Holds MODEL-1
  it('rejects calls until it is loaded', async () => {
    const driver = new TestDriver()
    const loaded = deferred<void>()
    driver.open_ = () => loaded.promise
    const api = asked(serviceOf(driver))
    expect(await api.create(UPLOAD)).toMatchObject({ ready: false, supported_endpoints: [], version: '1' })
    const early = api.predict('m', { instances: [1] })
    await expect(early).rejects.toMatchObject({ code: 'NOT_READY', message: 'Model not ready yet' })
    loaded.resolve()
    await ready(api)
    expect(await api.predict('m', { instances: [1, 2] })).toEqual({ predictions: [1, 2] })
    expect(driver.opened).toBe(1)
  })

  // Holds MODEL-2
  it('is unchanged after a rejected upload', async () => {
    const { api } = await loaded()
    const before = await api.get('m')
    for (const bad of [zipOf({ other: 'x' }), new Uint8Array()]) {
      await expect(api.replace('m', { ...UPLOAD, file: bad })).rejects.toMatchObject({ code: 'VALIDATION' })
    }
    await expect(api.create(UPLOAD)).rejects.toMatchObject({ code: 'CONFLICT' })
    expect(await api.get('m')).toEqual(before)
    expect(await api.predict('m', { instances: [1] })).toEqual({ predictions: [1] })
  })

  it('serves the last replacement, even if an earlier one finishes loading later', async () => {
    const driver = new TestDriver()
    const first = deferred<void>()
    driver.open_ = () => (driver.opened === 1 ? first.promise : Promise.resolve())
    const api = asked(serviceOf(driver))
    await api.create(UPLOAD)
    await api.replace('m', { ...UPLOAD, file: zipOf({ 'model.bst': 'y' }), description: 'new' })
    await ready(api)
    first.reject(new AppError('VALIDATION', 'the first one cannot be read'))
    expect(await api.get('m')).toMatchObject({ version: '2', description: 'new', ready: true })
    expect(await api.predict('m', { instances: [1] })).toEqual({ predictions: [1] })
  })

  it('that cannot be loaded reports why, and rejects calls', async () => {
    const driver = new TestDriver()
    driver.open_ = () => Promise.reject(new AppError('VALIDATION', 'it is no booster'))
    const api = asked(serviceOf(driver))
    await api.create(UPLOAD)
    await until(async () => (await api.get('m')).failure !== undefined)
    expect(await api.get('m')).toMatchObject({ ready: false, failure: 'it is no booster' })
    await expect(api.predict('m', { instances: [1] })).rejects.toMatchObject({ code: 'MODEL_FAILED' })
  })

  // Holds MODEL-5
  it('that its driver gave up has failed permanently, and others have not', async () => {
    const driver = new TestDriver()
    const api = asked(serviceOf(driver))
    for (const name of ['m', 'good']) await api.create({ ...UPLOAD, name, file: zipOf({ 'model.bst': name }) })
    for (const name of ['m', 'good']) await ready(api, name)
    driver.call_ = () => Promise.reject(new AppError('MODEL_FAILED', 'it ended its worker 3 times', { cause: GAVE_UP }))
    await expect(api.predict('m', { instances: [1] })).rejects.toMatchObject({ code: 'MODEL_FAILED' })
    driver.call_ = ({ instances }) => Promise.resolve(instances)
    const failed = api.predict('m', { instances: [1] })
    await expect(failed).rejects.toMatchObject({ message: 'the model cannot be used: it ended its worker 3 times' })
    expect(await api.predict('good', { instances: [1] })).toEqual({ predictions: [1] })
  })

  // Holds MODEL-3
  it('that returns fewer values than instances has failed', async () => {
    const { driver, api } = await loaded()
    driver.call_ = () => Promise.resolve([1])
    const short = api.predict('m', { instances: [1, 2] })
    await expect(short).rejects.toMatchObject({
      code: 'MODEL_FAILED',
      message: 'the model returned 1 values for 2 instances',
    })
  })

  it('can be described again, during and after loading, without a new version', async () => {
    const driver = new TestDriver()
    const loaded = deferred<void>()
    driver.open_ = () => loaded.promise
    let now = 1_000
    const parts = {
      tenant: 'acme',
      store: openMemory().tenant('acme'),
      loaded: new LoadedModels([driver]),
      now: () => now,
      newId: () => 'id',
      seal,
    }
    const service = new Models(parts)
    await asked(service).create(UPLOAD)
    now = 2_000
    const other = service.as({ tenant: 'acme', user: 'users/2' })
    const info = { description: 'new', version: '1', createdBy: 'users/1', updatedBy: 'users/2' }
    expect(await other.patch('m', { description: 'new' })).toMatchObject({ ...info, ready: false })
    // all change the record at the same time
    loaded.resolve()
    const newer = () => other.patch('m', { metadata: { description: 'newer' } })
    await Promise.all([newer(), newer(), ready(other)])
    expect(await other.get('m')).toMatchObject({
      ...info,
      description: 'newer',
      ready: true,
      updatedOn: '1970-01-01T00:00:02.000Z',
    })
    expect(driver.opened).toBe(1)
    await expect(other.patch('none', { description: '' })).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  it('is loaded again after a restart, at its first call', async () => {
    const storage = openMemory()
    const before = serviceOf(new TestDriver(), storage)
    await asked(before).create(UPLOAD)
    await ready(asked(before))
    const driver = new TestDriver()
    const service = serviceOf(driver, storage)
    await service.start()
    expect(driver.opened).toBe(0)
    expect(await asked(service).predict('m', { instances: [1] })).toEqual({ predictions: [1] })
  })
})

describe('a model without a driver on this host', () => {
  it('reports that on upload, and is ready once a driver exists, with its version', async () => {
    const rebuilt: unknown[] = []
    const version = {
      create: () => Promise.resolve({ entity: { version: '1.0.0' } }),
      get: () => Promise.resolve({ status: 'failed' }),
      rebuild: (...asked: readonly unknown[]) => Promise.resolve(void rebuilt.push(asked.slice(0, 2))),
    }
    const functions = { as: () => version, whileThere: () => Promise.resolve([]) }
    const driver = new TestDriver()
    driver.refusal = 'no Python with sklearn was found; make one'
    const parts = { now: () => 1_000, newId: () => `id${ids++}`, seal }
    const registry = () => functions as unknown as InternalFunctions
    const service = new Models({
      tenant: 'acme',
      store: openMemory().tenant('acme'),
      loaded: new LoadedModels([driver]),
      ...parts,
      registry,
    })
    const api = asked(service)
    const upload = { name: 'm', framework: 'sklearn', file: zipOf({ 'model.joblib': 'x' }) }
    const failure = `no driver of this host runs this model of sklearn: test: ${driver.refusal}`
    expect(await api.create(upload)).toMatchObject({ ready: false, failure })
    expect(await api.get('m')).toMatchObject({ ready: false, failure })
    await expect(api.predict('m', { instances: [1] })).rejects.toMatchObject({ code: 'UNSUPPORTED', message: failure })
    driver.refusal = undefined
    await ready(api)
    await until(() => Promise.resolve(rebuilt.length > 0))
    expect([rebuilt, driver.opened]).toEqual([[['m', '1.0.0']], 1])
    await service.stop()
  })

  it('is loaded by the next host that has a driver', async () => {
    const storage = openMemory()
    const driver = new TestDriver()
    driver.refusal = 'it has no Python'
    await asked(serviceOf(driver, storage)).create(UPLOAD)
    const next = serviceOf(new TestDriver(), storage)
    await next.start()
    await ready(asked(next))
    expect(await asked(next).predict('m', { instances: [1] })).toEqual({ predictions: [1] })
  })
})

describe('a request by column', () => {
  it('is answered by column', async () => {
    const { api } = await loaded()
    expect(await api.predict('m', { inputs: { a: [1, 2], b: [3, 4] } })).toEqual({ outputs: { a: [1, 2], b: [3, 4] } })
    expect(await api.predict('m', { inputs: [[1], [2]] })).toEqual({ outputs: [[1], [2]] })
  })
})
