/**
 * Tests the registry's versions in the models service: which are loaded, which passed their check, and which one a name
 * refers to.
 */
import { describe, expect, it } from 'vitest'
import { AppError } from '../../../src/kernel/errors.ts'
import type { ModelRelease } from '../../../src/services/models/contract.ts'
import { LoadedModels } from '../../../src/services/models/loaded-models.ts'
import { Models } from '../../../src/services/models/service.ts'
import { openMemory } from '../../../src/storage/memory/open-memory.ts'
import { refusal, TEST_SEAL, TestDriver } from './test-driver.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const release = (version: string, content = version, more: Partial<ModelRelease> = {}): ModelRelease => ({
  name: 'm',
  version,
  framework: 'xgboost',
  description: `the ${version}`,
  user: 'users/1',
  files: new Map([
    ['model.json', bytes('{}')],
    ['model.bst', bytes(content)],
    ['lib/notes.txt', bytes('left out')],
  ]),
  whileThere: () => Promise.resolve([]),
  ...more,
})

let ids = 0
function started(driver = new TestDriver()) {
  const service = new Models({
    tenant: 'acme',
    store: openMemory().tenant('acme'),
    loaded: new LoadedModels([driver]),
    now: () => 1_000,
    newId: () => `id${ids++}`,
    seal: TEST_SEAL,
  })
  return { driver, releases: service.releases, api: service.as({ tenant: 'acme', user: 'users/2' }) }
}

describe('a release', () => {
  it('is served under its name once it is deployed', async () => {
    const { releases, api } = started()
    await releases.deploy(release('1.0.0'))
    expect(await api.get('m')).toMatchObject({
      ready: true,
      semantic_version: '1.0.0',
      description: 'the 1.0.0',
      createdBy: 'users/1',
    })
    expect(await api.predict('m', { instances: [1] })).toEqual({ predictions: [1] })
    // this host cannot know whether the model is protected
    await expect(api.content('m')).rejects.toMatchObject({ code: 'CLOSED' })
  })

  it('does not replace the served release until it is served itself', async () => {
    const { releases, api } = started()
    await releases.deploy(release('1.0.0'))
    await releases.deploy(release('1.1.0'))
    expect(await releases.served('m')).toBe('1.0.0')
    await releases.serve(release('1.1.0'))
    expect(await api.get('m')).toMatchObject({ semantic_version: '1.1.0', version: '2' })
    await releases.withdraw('m', '1.0.0')
    expect(await releases.served('m')).toBe('1.1.0')
    await releases.withdraw('m', '1.1.0')
    await expect(api.get('m')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  it('is checked with its example, and not kept in memory for that', async () => {
    const { driver, releases } = started()
    await releases.deploy(release('1.0.0'))
    await releases.deploy(release('1.1.0'))
    const asked: unknown[] = []
    driver.call_ = ({ instances }) => {
      asked.push(...instances)
      return Promise.resolve(instances)
    }
    await releases.check(release('1.1.0'))
    expect(asked).toEqual([[0, 0]])
    const before = driver.opened
    await releases.check(release('1.1.0'))
    expect(driver.opened).toBe(before + 1)
    await releases.check(release('1.0.0'))
    expect(driver.opened).toBe(before + 1)
  })

  it.each<[string, AppError, boolean]>([
    ['a problem of the example', new AppError('VALIDATION', 'heat must be above 0'), true],
    ['that it failed', new AppError('MODEL_FAILED', 'division by zero'), false],
  ])('that responds with %s', async (_title, error, hasAnswered) => {
    const { driver, releases } = started()
    await releases.deploy(release('1.0.0'))
    driver.call_ = () => Promise.reject(error)
    const checked = releases.check(release('1.0.0'))
    if (hasAnswered) await checked
    else await expect(checked).rejects.toBe(error)
  })

  it('that cannot be loaded fails its check, for any error code', async () => {
    const { driver, releases, api } = started()
    driver.open_ = () => Promise.reject(new AppError('VALIDATION', 'it is no booster'))
    await expect(releases.deploy(release('1.0.0'))).rejects.toMatchObject({
      code: 'MODEL_FAILED',
      message: 'it is no booster',
    })
    await expect(releases.check(release('1.0.0'))).rejects.toMatchObject({ message: 'it is no booster' })
    expect(await api.get('m')).toMatchObject({ ready: false, failure: 'it is no booster' })
    driver.open_ = () => Promise.resolve()
    await releases.deploy(release('1.0.0'))
    expect(await api.get('m')).toMatchObject({ ready: true, version: '1' })
  })

  it('does not replace a model on another server', async () => {
    const { releases, api } = started()
    await api.create({ name: 'm', remote: { url: 'http://models.example', protocol: 'v2' } })
    const message = '/models/m is a model on another server; delete that model first'
    for (const asked of [releases.deploy(release('1.0.0')), releases.serve(release('1.0.0'))])
      await expect(asked).rejects.toMatchObject({ code: 'VALIDATION', message })
    expect(await api.get('m')).toMatchObject({ version: '1', framework: 'custom' })
  })

  it('without the file of its framework is rejected before anything is stored', async () => {
    const { releases, api } = started()
    const files = new Map([['model.joblib', bytes('x')]])
    await expect(releases.deploy(release('1.0.0', '', { files }))).rejects.toMatchObject(
      refusal('VALIDATION', /model\.bst is missing/),
    )
    expect(await api.list()).toEqual([])
  })
})
