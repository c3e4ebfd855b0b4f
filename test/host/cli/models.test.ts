/** `reflexarc models`: from a file of a library to a prediction, and what each command says when it cannot. */
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readConfig } from '../../../src/host/config.ts'
import { startHost, type RunningHost } from '../../../src/host/running-host.ts'
import { SERVICES } from '../../../src/host/service-table.ts'
import { root } from '../../support/repository.ts'
import { Workspace } from './run-cli.ts'

let host: RunningHost
const place = new Workspace({ 'broken.bst': 'no booster', 'model.bin': 'x' })
beforeAll(async () => {
  const given = { store: 'memory:', port: 0, key: 'k', secret: 'a-secret', empty: true, logLevel: 'silent' }
  host = await startHost(readConfig(given, {}, [...SERVICES.keys()]), { write: () => undefined }, { hashCost: 2 })
})
afterAll(async () => {
  place[Symbol.dispose]()
  await host.stop()
})

const BOOSTER = join(root, 'fixtures/models/machine-anomaly/model.bst')
const models = (...args: readonly string[]) =>
  place.cli(['models', ...args], {
    env: { REFLEXARC_URL: host.url, REFLEXARC_API_KEY: 'k', REFLEXARC_API_SECRET: 'a-secret' },
  })

describe('reflexarc models', () => {
  it('gives a model to a host, asks it, and lists it', async () => {
    expect(await models('list')).toMatchObject({ code: 0, stdout: 'no models\n' })
    const ready = 'is ready: xgboost 3.2.0, version'
    expect(await models('add', 'heat', BOOSTER)).toMatchObject({ code: 0, stdout: `heat ${ready} 1\n` })
    expect(await models('add', 'heat', BOOSTER)).toMatchObject({ code: 0, stdout: `heat ${ready} 2\n` })
    const { stdout } = await models('predict', 'heat', '[[92.5], [31]]')
    const [usual = 1, odd = 0] = stdout.trim().split('\n').map(Number)
    expect([usual < 0.3, odd > 0.98]).toEqual([true, true])
    expect(JSON.parse((await models('predict', 'heat', '{"inputs": [[31]]}')).stdout)).toHaveProperty('outputs')
    expect((await models('list')).stdout).toMatch(
      /^name +framework +version +status +changed\nheat +xgboost 3\.2\.0 +2 +ready/,
    )
    expect(JSON.parse((await models('list', '--json')).stdout)).toMatchObject({ name: 'heat', ready: true })
  })

  it.each<[string, readonly string[], RegExp]>([
    ['a model that cannot be loaded', ['add', 'bad', 'broken.bst'], /bad is not ready: the booster cannot be read/],
    ['no file', ['add', 'none', 'none.bst'], /none\.bst: there is no such file or folder/],
    ['a file of nobody knows what', ['add', 'what', 'model.bin'], /--framework: model\.bin does not say it/],
    ['no JSON', ['predict', 'heat', '[1'], /the instances are not JSON/],
    ['no model', ['predict', 'none', '[[1]]'], /Model does not exist/],
    ['a runtime that PyPI has not', ['runtime', 'add', 'pytorch', '--data', '.'], /make an environment of your own/],
    [
      'no Python',
      ['runtime', 'add', 'sklearn', '--data', '.', '--python', 'no-python'],
      /no-python could not be started/,
    ],
  ])('ends with 1 for %s', async (_title, args, message) => {
    const { code, stderr } = await models(...args)
    expect([code, stderr]).toEqual([1, expect.stringMatching(message)])
  })

  it('leaves nothing of a runtime that could not be made, and none is made twice', async () => {
    expect(existsSync(join(place.path, 'model-runtimes/sklearn'))).toBe(false)
    mkdirSync(join(place.path, 'model-runtimes/tensorflow'), { recursive: true })
    const { stderr } = await models('runtime', 'add', 'tensorflow', '--data', '.')
    expect(stderr).toMatch(/model-runtimes\/tensorflow is there already/)
  })
})
