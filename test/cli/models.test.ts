/** Tests `reflexarc models`: from a library's model file to a prediction, and the errors of each command. */
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { root } from '../support/repository.ts'
import { TestServer } from '../services/models/remote/test-server.ts'
import { Workspace } from './run-cli.ts'
import { listeningHost, type ListeningHost } from '../host/listening-host.ts'

let host: ListeningHost
let server: TestServer
const place = new Workspace({ 'broken.bst': 'no booster', 'model.bin': 'x' })
beforeAll(async () => {
  server = await TestServer.start()
  host = await listeningHost({ allowUrl: ['127.0.0.1'] })
})
afterAll(async () => {
  place[Symbol.dispose]()
  await host.stop()
  await server.stop()
})

const BOOSTER = join(root, 'fixtures/models/machine-anomaly/model.bst')
const models = (...args: readonly string[]) =>
  place.cli(['models', ...args], {
    env: { REFLEXARC_URL: host.url, REFLEXARC_API_KEY: 'k', REFLEXARC_API_SECRET: 'a-secret' },
  })

describe('reflexarc models', () => {
  it('uploads a model to a host, calls it, and lists it', async () => {
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

  it('says which server has a model, asks it, and lists it', async () => {
    const header = ['--header', 'Authorization: Bearer x']
    const where = ['--remote', server.url, '--protocol', 'v2', '--model', 'sum', ...header]
    expect(await models('add', 'adds', ...where)).toMatchObject({
      code: 0,
      stdout: `adds is ready: custom at ${server.url}, version 1\n`,
    })
    expect(await models('predict', 'adds', '[[1, 2], [3, 4]]')).toMatchObject({ code: 0, stdout: '3\n7\n' })
    expect(server.calls.at(-1)?.headers.authorization).toBe('Bearer x')
    expect((await models('list')).stdout).toMatch(/^adds +custom at http:\S+ +1 +ready/m)
    const { code, stderr } = await models('add', 'adds', '--remote', server.url, '--protocol', 'v1', '--model', 'none')
    expect([code, stderr]).toEqual([1, expect.stringMatching(/adds is not ready: model none is not ready on \S+/)])
  })

  it.each<[string, RegExp]>([
    ['add none', /pass either the path of a model, or --remote/],
    ['add none broken.bst --remote http://x --protocol v1', /pass either the path of a model, or/],
    ['add none --remote http://x', /--remote: requires --protocol v1 or --protocol v2/],
    ['add none broken.bst --protocol v1 --header a:b', /--protocol and --header: use only together with/],
    ['add none --remote http://x --protocol v1 --header secret', /write 'name: value'/],
    ['add bad broken.bst', /bad is not ready: the booster cannot be read/],
    ['add none none.bst', /none\.bst: file or folder not found/],
    ['add what model.bin', /--framework: missing, and the name of model\.bin/],
    ['predict heat [1', /the instances are not JSON/],
    ['predict none [[1]]', /Model does not exist/],
    ['runtime add pytorch --data .', /create an environment yourself/],
    ['runtime add sklearn --data . --python no-python', /no-python could not be started/],
  ])('%s ends with 1', async (args, message) => {
    const { code, stderr } = await models(...args.split(' '))
    expect([code, stderr]).toEqual([1, expect.stringMatching(message)])
  })

  it('leaves nothing of a runtime that could not be made, and none is made twice', async () => {
    expect(existsSync(join(place.path, 'model-runtimes/sklearn'))).toBe(false)
    mkdirSync(join(place.path, 'model-runtimes/tensorflow'), { recursive: true })
    const { stderr } = await models('runtime', 'add', 'tensorflow', '--data', '.')
    expect(stderr).toMatch(/model-runtimes\/tensorflow already exists/)
  })
})
