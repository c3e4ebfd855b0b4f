/**
 * Tests models of other servers in the service: what their records contain, and what happens while a server is away.
 */
import { afterAll, describe, expect, it } from 'vitest'
import { Seal } from '../../../../src/platform/seal.ts'
import type { InternalFunctions } from '../../../../src/services/functions/contract.ts'
import type { ModelsApi, InternalModels, RemoteModel } from '../../../../src/services/models/contract.ts'
import { remoteDriver } from '../../../../src/services/models/remote/remote-driver.ts'
import { LoadedModels } from '../../../../src/services/models/loaded-models.ts'
import { Models } from '../../../../src/services/models/service.ts'
import type { Storage } from '../../../../src/storage/contract.ts'
import { openMemory } from '../../../../src/storage/memory/open-memory.ts'
import { until } from '../../../support/until.ts'
import { zipOf } from '../zip.ts'
import { REMOTE_OPTIONS, TestServer } from './test-server.ts'

const server = await TestServer.start()
afterAll(() => server.stop())

let ids = 0
function serviceOf(storage: Storage = openMemory(), key = 1, registry?: () => InternalFunctions): InternalModels {
  return new Models({
    tenant: 'acme',
    store: storage.tenant('acme'),
    loaded: new LoadedModels([remoteDriver(REMOTE_OPTIONS)]),
    now: () => 1_000,
    newId: () => `id${ids++}`,
    seal: new Seal(new Uint8Array(32).fill(key)),
    ...(registry && { registry }),
  })
}
const asked = (service: InternalModels, tenant = 'acme'): ModelsApi => service.as({ tenant, user: 'users/1' })
const settled = (api: ModelsApi, name = 'sum'): Promise<void> =>
  until(async () => {
    const { ready, failure } = await api.get(name)
    return ready || failure !== undefined
  })
const at = (given: Partial<RemoteModel> = {}): RemoteModel => ({ url: server.url, protocol: 'v2', ...given })

describe('a model of another server', () => {
  it('is called on its server, and has no content here', async () => {
    const api = asked(serviceOf())
    const made = await api.create({ name: 'sum', description: 'adds', remote: at() })
    const remote = { url: server.url, protocol: 'v2', model: 'sum', headers: {} }
    expect(made).toMatchObject({ framework: 'custom', description: 'adds', version: '1', ready: false, remote })
    await settled(api)
    expect(await api.get('sum')).toMatchObject({ ready: true, supported_endpoints: ['predict'] })
    expect(await api.predict('sum', { instances: [[1, 2]] })).toEqual({ predictions: [3] })
    expect(await api.predict('sum', { inputs: { x: [[1, 2]] } })).toEqual({ outputs: [3] })
    expect(await api.examples('sum')).toEqual([{ endpoint: 'predict', payload: { instances: [[0, 0]] } }])
    await expect(api.content('sum')).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(api.classify('sum', { examples: [{}] })).rejects.toMatchObject({ code: 'VALIDATION' })
    expect(await api.remove('sum')).toMatchObject({ name: 'sum' })
  })

  const otherHeaders = Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`H${i}`, '']))
  it.each<[string, object, RegExp]>([
    ['an address of another kind', { url: 'ftp://x' }, /\/remote\/url <- is "ftp:\/\/x"/],
    ['a password in the address', { url: 'http://me:secret@x' }, /\/remote\/url <- contains a user/],
    ['a query in the address', { url: 'http://x?a=1' }, /without a query/],
    ['the whole path', { url: 'http://x/v2/models/sum' }, /the part before \/v1 or \/v2/],
    ['a model that leads elsewhere', { model: '..' }, /\/remote\/model <- is "\.\."/],
    ['a version that leads elsewhere', { model: 'a/versions/..' }, /\/remote\/model <- is "a/],
    ['a model with a path', { model: 'a/b' }, /\/remote\/model <- is "a\/b"/],
    ['a header of the request itself', { headers: { Host: 'x' } }, /\/remote\/headers\/Host <- cannot be set/],
    ['a header of two lines', { headers: { A: 'x\r\nB: y' } }, /\/remote\/headers\/A <- is not one line/],
    ['a foreign sealed text', { headers: { A: 'enc:abc' } }, /is an encrypted text of another header/],
    ['too many headers', { headers: otherHeaders }, /has 21 headers/],
    ['several', { url: 1, protocol: 'v3' }, /\/remote\/url <- .*\/remote\/protocol <- "v3" is unknown/],
  ])('is rejected with %s', async (_title, given, message) => {
    const refused = asked(serviceOf()).create({ name: 'sum', remote: { ...at(), ...given } })
    const said = { code: 'VALIDATION', message: expect.stringMatching(message) as string }
    await expect(refused).rejects.toMatchObject(said)
    await expect(refused).rejects.not.toThrow('secret')
  })

  it('can be replaced by its own record with a change', async () => {
    const api = asked(serviceOf())
    await api.create({ name: 'sum', framework: ' Scikit-Learn', remote: at({ url: `${server.url}/` }) })
    await settled(api)
    const { remote = expect.fail(), ...read } = await api.get('sum')
    expect({ remote, read }).toMatchObject({ read: { framework: 'sklearn' }, remote: { url: server.url } })
    const replaced = await api.replace('sum', { ...read, remote, description: 'new' })
    expect(replaced).toMatchObject({ description: 'new', version: '2', framework: 'sklearn', remote })
  })

  it('accepts its longest header back as it was shown', async () => {
    const api = asked(serviceOf())
    const { remote } = await api.create({ name: 'sum', remote: at({ headers: { A: 'é'.repeat(8_000) } }) })
    expect((await api.replace('sum', { remote: remote ?? expect.fail() })).version).toBe('2')
    const refused = api.replace('sum', { remote: at({ headers: { A: 'x'.repeat(8_001) } }) })
    await expect(refused).rejects.toMatchObject({ code: 'VALIDATION' })
  })

  // Holds MODEL-7
  it('sends its headers, which are stored and shown sealed', async () => {
    const storage = openMemory()
    const api = asked(serviceOf(storage))
    await api.create({ name: 'sum', remote: at({ headers: { Authorization: 'Bearer secret' } }) })
    await settled(api)
    const shown = (await api.get('sum')).remote ?? expect.fail()
    expect(JSON.stringify(shown)).not.toContain('secret')
    expect(shown.headers?.['Authorization']).toMatch(/^enc:/)
    server.seen.length = 0
    await api.predict('sum', { instances: [[1, 2]] })
    expect(server.calls[0]?.headers.authorization).toBe('Bearer secret')
    // a sealed text can be sent back, even with other parts of the record changed
    await api.replace('sum', { remote: { ...shown, model: 'table' } })
    await settled(api)
    server.seen.length = 0
    await api.predict('sum', { instances: [[1, 2]] })
    expect(server.calls[0]).toMatchObject({
      path: '/v2/models/table/infer',
      headers: { authorization: 'Bearer secret' },
    })
    // but it is rejected with another server or another model
    const elsewhere = { ...shown, url: 'http://elsewhere.example' }
    await expect(api.replace('sum', { remote: elsewhere })).rejects.toMatchObject({ code: 'VALIDATION' })
    await expect(api.create({ name: 'other', remote: shown })).rejects.toMatchObject({ code: 'VALIDATION' })
    const otherKey = asked(serviceOf(storage, 2))
    await expect(otherKey.predict('sum', { instances: [[1, 2]] })).rejects.toMatchObject({ code: 'STORE' })
  })

  // Holds MODEL-5
  it('whose server is unavailable reports that, does not affect others, and is called when it is back', async () => {
    const storage = openMemory()
    const service = serviceOf(storage)
    const api = asked(service)
    const second = await TestServer.start()
    await api.create({ name: 'sum', remote: at() })
    await api.create({ name: 'away', remote: at({ url: second.url, model: 'sum' }) })
    for (const name of ['sum', 'away']) await settled(api, name)
    expect(await api.predict('away', { instances: [[1, 2]] })).toEqual({ predictions: [3] })
    second.instead = () => 'drop'
    const call = () => api.predict('away', { instances: [[1, 2]] })
    await expect(call()).rejects.toMatchObject({ code: 'REMOTE_FAILED' })
    await expect(call()).rejects.toMatchObject({ code: 'REMOTE_FAILED' })
    expect(await api.predict('sum', { instances: [[1, 2]] })).toEqual({ predictions: [3] })
    // a server that was never reachable is reported with the reason, and tried again on each call
    await api.replace('away', { remote: at({ url: second.url, model: 'sum', protocol: 'v1' }) })
    await settled(api, 'away')
    expect(await api.get('away')).toMatchObject({
      ready: false,
      failure: expect.stringMatching(/^127\.0\.0\.1:\d+: /) as string,
    })
    await expect(call()).rejects.toMatchObject({ code: 'REMOTE_FAILED' })
    second.instead = () => undefined
    await until(async () => (await call().catch(() => undefined)) !== undefined)
    expect(await api.get('away')).toMatchObject({ ready: true })
    await second.stop()
    await service.stop()
  })

  it('that was unavailable is opened at the next start of the host', async () => {
    const storage = openMemory()
    const away = await TestServer.start()
    away.instead = () => 'drop'
    const before = asked(serviceOf(storage))
    await before.create({ name: 'sum', remote: at({ url: away.url }) })
    await settled(before)
    away.instead = () => undefined
    const service = serviceOf(storage)
    await service.start()
    await until(async () => (await asked(service).get('sum')).ready)
    expect(await asked(service).predict('sum', { instances: [[1, 2]] })).toEqual({ predictions: [3] })
    await away.stop()
  })

  it('can be replaced by files, and files by it', async () => {
    const api = asked(serviceOf())
    const file = zipOf({ 'model.bst': 'x' })
    await api.create({ name: 'sum', framework: 'xgboost', file })
    expect(await api.content('sum')).toMatchObject({ size: file.length })
    expect(await api.replace('sum', { remote: at() })).toMatchObject({ framework: 'custom', version: '2' })
    await settled(api)
    expect(await api.predict('sum', { instances: [[1, 2]] })).toEqual({ predictions: [3] })
    await expect(api.content('sum')).rejects.toMatchObject({ code: 'NOT_FOUND' })
    const again = await api.replace('sum', { framework: 'xgboost', file })
    expect(again).toMatchObject({ framework: 'xgboost', version: '3' })
    expect(again).not.toHaveProperty('remote')
    expect(await api.content('sum')).toMatchObject({ size: file.length })
  })

  it('is not a version of the function registry, whose versions are built from files', async () => {
    const storage = openMemory()
    const registry = () => ({ as: () => expect.fail('the registry is asked') }) as unknown as InternalFunctions
    const service = serviceOf(storage, 1, registry)
    const api = asked(service)
    expect(await api.create({ name: 'sum', remote: at() })).not.toHaveProperty('semantic_version')
    await settled(api)
    await api.patch('sum', { description: 'adds' })
    await service.stop()
    const next = serviceOf(storage, 1, registry)
    await next.start()
    await next.stop()
    await asked(serviceOf(storage, 1, registry)).remove('sum')
  })
})
