/**
 * Tests models through both APIs in a whole host: a model deployed by the registry answers under its name, and an
 * uploaded model becomes a version.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { RUNTIMES } from '../../src/services/functions/runtimes/catalog.ts'
import { readZip } from '../../src/services/models/model-files.ts'
import { until } from '../support/until.ts'
import { tarOf } from './function-host.ts'
import { boosterForm } from './model-form.ts'
import { wholeHost, type Body, type WholeHost } from './whole-host.ts'

const REGISTRY = '/registry/v2/models'
const { 'model.bst': BOOSTER = '' } = Object.fromEntries(RUNTIMES.get('byoml-xgboost')?.example ?? [])
/** Adds 0.5 per degree and 2 per hour to the prediction */
const ASKED = { instances: [[10, 3]] }
const WEAR = { predictions: [9] }

let host: WholeHost
beforeAll(async () => {
  host = await wholeHost()
})
afterAll(() => host[Symbol.asyncDispose]())

/** Deploys through the registry; resolves when the jobs have ended. */
async function deployed(name: string, version: string, { booster = BOOSTER, query = '', key = 'acme' } = {}) {
  const manifest = { name, version, runtime: 'byoml-xgboost', metadata: { description: `the ${version}` } }
  const tar = await tarOf({ 'model.json': JSON.stringify(manifest), 'model.bst': booster })
  const { status, body } = await host.ask('POST', `${REGISTRY}?async=false${query}`, tar, key)
  return { status, entity: body['entity'] as Body }
}
async function uploaded(method: 'POST' | 'PUT', url: string, name: string, booster = BOOSTER) {
  const { payload, headers } = await boosterForm(name, booster)
  return host.ask(method, url, payload, 'acme', headers['content-type'])
}
const doubled = BOOSTER.replace('[0.5,2,-2]', '[1,4,-4]')
const modelOf = async (name: string) => (await host.ask('GET', `/models/${name}`)).body
const predict = async (name: string) => (await host.ask('POST', `/models/${name}/predict`, ASKED)).body
const removed = async (name: string, path: string) => {
  const { body } = await host.ask('DELETE', `${REGISTRY}/${name}${path}&async=false`)
  expect(body['error']).toBeUndefined()
}
const statuses = async (name: string): Promise<Record<string, string>> => {
  const { body } = await host.ask('GET', `${REGISTRY}/${name}/versions?status=any`)
  const entities = (body['entities'] ?? []) as {
    readonly status: string
    readonly model: { readonly version: string }
  }[]
  return Object.fromEntries(entities.map(({ status, model }) => [model.version, status]))
}

describe('a model that the registry deploys', () => {
  it('answers under its name: predictions, examples, readiness, and its files as a zip', async () => {
    const { body } = await host.ask('POST', `${REGISTRY}?copy=!example&runtime=byoml-xgboost&async=false`)
    expect(body['entity']).toMatchObject({ status: 'running', runtime: { name: 'byoml-xgboost' } })
    expect(await modelOf('wear')).toMatchObject({
      ready: true,
      framework: 'xgboost',
      semantic_version: '1.0.0',
      description: 'Wear of a machine by its heat and its hours',
    })
    expect(await predict('wear')).toEqual(WEAR)
    const examples = await host.ask('GET', '/models/wear/examples')
    expect(examples.body).toEqual([{ endpoint: 'predict', payload: { instances: [[0, 0]] } }])
    const content = await host.send('GET', '/models/wear/content')
    const files = await readZip('xgboost', content.rawPayload)
    expect([...files].map(([path, bytes]) => [path, new TextDecoder().decode(bytes)])).toEqual([['model.bst', BOOSTER]])
    const { body: jobs } = await host.ask('GET', `${REGISTRY}/wear/versions/1.0.0/jobs`)
    expect(jobs['jobs']).toMatchObject([
      { type: 'build', state: 'completed', function: { functionType: 'kfserving', name: 'wear' } },
      { type: 'deploy', state: 'completed' },
      { type: 'verify', state: 'completed', result: { healthy: true } },
    ])
  })

  // Holds MODELRUN-1, MODELRUN-2
  it('replaces another one once it is verified, and restores it when removed', async () => {
    await deployed('pump', '1.0.0')
    const torn = await deployed('pump', '1.1.0', { booster: '{"learner"' })
    expect(torn.entity).toMatchObject({
      status: 'failed',
      failureReason: { cause: expect.stringContaining('the booster cannot be read') as string },
    })
    expect(await modelOf('pump')).toMatchObject({ semantic_version: '1.0.0', ready: true })
    const nan = await deployed('pump', '1.2.0', {
      booster: BOOSTER.replace('"[0E0]"', '"[3E38]"').replace('-2]', '3e38]'),
    })
    expect(nan.entity).toMatchObject({ status: 'unhealthy' })
    expect(await predict('pump')).toEqual(WEAR)
    await deployed('pump', '2.0.0', { booster: doubled })
    expect(await modelOf('pump')).toMatchObject({ semantic_version: '2.0.0', description: 'the 2.0.0' })
    expect(await predict('pump')).toEqual({ predictions: [18] })
    await removed('pump', '/versions/2.0.0?undeploy=true')
    expect(await modelOf('pump')).toMatchObject({ semantic_version: '1.0.0' })
    expect(await predict('pump')).toEqual(WEAR)
    // undeployed versions are deprecated, but 1.0.0 is not
    await host.ask('POST', `${REGISTRY}/pump/versions/2.0.0/rebuild?async=false`)
    expect(await statuses('pump')).toMatchObject({ '2.0.0': 'running' })
    expect(await predict('pump')).toEqual(WEAR)
    await removed('pump', '?force=true')
    expect((await host.ask('GET', '/models/pump')).status).toBe(404)
    expect(await statuses('pump')).toEqual({})
  })

  it('is a draft only as long as nothing is published', async () => {
    await deployed('fan', '1.0.0', { query: '&draft=true' })
    expect(await modelOf('fan')).toMatchObject({ semantic_version: '1.0.0', ready: true })
    await deployed('fan', '0.9.0')
    expect(await modelOf('fan')).toMatchObject({ semantic_version: '0.9.0' })
    await host.ask('POST', `${REGISTRY}/fan/versions/1.0.0/publish?async=false`)
    expect(await modelOf('fan')).toMatchObject({ semantic_version: '1.0.0' })
  })

  it('is a draft that stays when an upload takes its place', async () => {
    await deployed('lift', '1.0.0', { query: '&draft=true' })
    expect(await uploaded('PUT', '/models/lift', 'lift', doubled)).toMatchObject({ status: 200 })
    await until(async () => (await statuses('lift'))['1.0.1'] === 'running')
    expect(await statuses('lift')).toEqual({ '1.0.0': 'running', '1.0.1': 'running' })
    expect(await predict('lift')).toEqual({ predictions: [18] })
  })

  it('changes with its draft', async () => {
    await deployed('belt', '1.0.0', { query: '&draft=true' })
    const path = `${REGISTRY}/belt/versions/1.0.0/content/model.bst?async=false`
    const { body } = await host.ask('PUT', path, Buffer.from(doubled), 'acme', 'application/octet-stream')
    expect(body['entity']).toMatchObject({ status: 'running', draft: true })
    expect(await predict('belt')).toEqual({ predictions: [18] })
  })

  it('is readable only by its owner if protected, and callable by all', async () => {
    await deployed('secret', '1.0.0')
    await host.ask('POST', `${REGISTRY}/secret/versions/1.0.0/protect`)
    expect((await host.send('GET', '/models/secret/content')).statusCode).toBe(200)
    expect(await host.ask('GET', '/models/secret/content', undefined, 'bob')).toMatchObject({ status: 403 })
    expect(await host.ask('POST', '/models/secret/predict', ASKED, 'bob')).toMatchObject({ status: 200, body: WEAR })
  })
})

describe('a model that is uploaded as a zip', () => {
  // Holds MODEL-6
  it('is a version of the registry, which goes with it', async () => {
    expect(await uploaded('POST', '/models', 'kiln')).toMatchObject({ status: 201 })
    await until(async () => (await statuses('kiln'))['1.0.0'] === 'running')
    const { body } = await host.ask('GET', `${REGISTRY}?name=kiln`)
    expect(body['entities']).toMatchObject([
      { status: 'running', draft: false, model: { name: 'kiln', version: '1.0.0', runtime: 'byoml-xgboost' } },
    ])
    expect(await modelOf('kiln')).toMatchObject({ version: '1', semantic_version: '1.0.0', ready: true })
    const metadata = `${REGISTRY}/kiln/versions/1.0.0/metadata`
    await host.ask('PATCH', metadata, { description: 'by the registry' })
    expect(await modelOf('kiln')).toMatchObject({ description: 'by the registry' })
    await host.ask('PATCH', '/models/kiln', { description: 'by its name' })
    const described = await host.ask('GET', `${REGISTRY}/kiln/versions/1.0.0`)
    expect(described.body).toMatchObject({ entity: { model: { metadata: { description: 'by its name' } } } })
    expect((await uploaded('POST', '/models', 'kiln')).status).toBe(409)

    expect(await uploaded('PUT', '/models/kiln', 'kiln', doubled)).toMatchObject({
      status: 200,
      body: { version: '2' },
    })
    await until(async () => (await statuses('kiln'))['1.0.1'] === 'running')
    expect(await modelOf('kiln')).toMatchObject({ version: '2', semantic_version: '1.0.1' })
    expect(await predict('kiln')).toEqual({ predictions: [18] })
    const former = await host.ask('GET', `${REGISTRY}/kiln/versions/1.0.0`)
    expect(former.body['entity']).toMatchObject({ deprecated: true })

    expect((await host.ask('DELETE', '/models/kiln')).status).toBe(200)
    expect((await host.ask('GET', '/models/kiln')).status).toBe(404)
    await until(async () => Object.keys(await statuses('kiln')).length === 0)
    expect((await host.ask('GET', '/models/kiln')).status).toBe(404)
  })
})
