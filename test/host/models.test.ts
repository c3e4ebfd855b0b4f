/** Tests hosted models over HTTP in a whole host: a booster from upload to predictions, and rejected requests. */
import { readFileSync } from 'node:fs'
import { fastify, type FastifyInstance, type InjectOptions } from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createClient } from '../../src/client.ts'
import { host } from '../../src/host/index.ts'
import { TestServer } from '../services/models/remote/test-server.ts'
import { zipOf } from '../services/models/zip.ts'
import { until } from '../support/until.ts'
import { modelForm } from './model-form.ts'
import { basic } from './sample-host.ts'

interface Golden {
  readonly name: string
  readonly rows: readonly (readonly (number | null)[])[]
  readonly predictions: readonly number[]
  readonly json: object
}
const place = new URL('../../fixtures/models/boosters/golden-3.2.0.json', import.meta.url)
const { cases } = JSON.parse(readFileSync(place, 'utf8')) as { readonly cases: readonly Golden[] }
const GOLDEN = cases.find(({ name }) => name === 'regression')
const ZIP = zipOf({ 'model.bst': JSON.stringify(GOLDEN?.json) })

let app: FastifyInstance
beforeAll(async () => {
  app = fastify()
  await app.register(host, { store: 'memory:', key: 'k', secret: 's', allowUrl: ['127.0.0.1'] })
  await upload('POST', '/models', { name: 'booster', framework: 'xgboost', description: 'first', file: ZIP })
  await ready('booster')
})
afterAll(() => app.close())

const ask = async ({ headers = {}, ...options }: InjectOptions) => {
  const { statusCode, payload, body } = await app.inject({
    ...options,
    headers: { authorization: basic('k', 's'), ...headers },
  })
  return { status: statusCode, text: payload, body: body === '' ? undefined : (JSON.parse(body) as unknown) }
}
const predict = (payload: unknown, name = 'booster') =>
  ask({ method: 'POST', url: `/models/${name}/predict`, payload: payload as object })

const upload = async (method: 'POST' | 'PUT', url: string, parts: Parameters<typeof modelForm>[0]) =>
  ask({ method, url, ...(await modelForm(parts)) })

async function ready(name: string): Promise<void> {
  await until(async () => ((await ask({ url: `/models/${name}` })).body as { readonly ready: boolean }).ready)
}

describe('a hosted model', () => {
  it('predicts what its library predicts, of lists and of named features', async () => {
    const instances = GOLDEN?.rows ?? []
    const { status, body } = await predict({ instances })
    expect(status).toBe(200)
    const { predictions } = body as { readonly predictions: readonly number[] }
    predictions.forEach((value, at) => expect(value).toBeCloseTo(GOLDEN?.predictions[at] ?? 0, 5))
    const named = instances.map(([a, b, c, d]) => ({ a, b, c, d }))
    expect((await predict({ instances: named })).body).toEqual(body)
  })
})

describe('a model of another server', () => {
  let server: TestServer
  beforeAll(async () => {
    server = await TestServer.start()
  })
  afterAll(() => server.stop())
  it('is registered with JSON, and called like other models', async () => {
    const remote = { url: server.url, protocol: 'v2', model: 'sum', headers: { Authorization: 'Bearer x' } }
    const made = await ask({ method: 'POST', url: '/models', payload: { name: 'adds', remote } })
    expect(made).toMatchObject({
      status: 201,
      body: { message: 'Model successfully uploaded', name: 'adds', framework: 'custom', version: '1' },
    })
    await ready('adds')
    expect((await ask({ url: '/models/adds' })).body).toMatchObject({
      remote: { ...remote, headers: { Authorization: expect.stringMatching(/^enc:/) as string } },
    })
    expect(await predict({ instances: [[1, 2]] }, 'adds')).toMatchObject({ status: 200, body: { predictions: [3] } })
    expect((await ask({ url: '/models/adds/content' })).status).toBe(404)
    expect((await ask({ url: '/frameworks/custom' })).body).toMatchObject({ versions: ['v1', 'v2'] })
  })

  it.each<[number, number, string, RegExp]>([
    [503, 502, 'REMOTE_FAILED', /answered 503: odd/],
    [404, 502, 'REMOTE_FAILED', /answered 404: odd/],
    [504, 504, 'REMOTE_LATE', /answered 504: odd/],
    [500, 500, 'MODEL_FAILED', /answered 500: odd/],
    [400, 400, 'VALIDATION', /answered 400: odd/],
  ])('that responds with %i is reported as %i %s', async (given, status, code, error) => {
    server.instead = ({ method }) => (method === 'POST' ? { status: given, body: { error: 'odd' } } : undefined)
    expect(await predict({ instances: [[1, 2]] }, 'adds')).toMatchObject({
      status,
      body: { code, error: expect.stringMatching(error) as string },
    })
    server.instead = () => undefined
    expect((await predict({ instances: [[0, 0, 0, 0]] })).status).toBe(200)
  })
})

describe('a call that cannot be answered', () => {
  it.each<[string, unknown, number, RegExp]>([
    ['no instance at all', { instances: [] }, 400, /\/instances <- is empty/],
    ['both forms', { instances: [[0, 0, 0, 0]], inputs: [[0, 0, 0, 0]] }, 400, /send one of them/],
    ['too few values', { instances: [[1, 2]] }, 400, /\/instances\/0 <- has 2 values \(send 4/],
    ['a text', { instances: [[1, 'two', 3, 4]] }, 400, /\/instances\/0\/1 <- is "two"/],
    [
      'a feature that there is not',
      { instances: [{ a: 1, depth: 2 }] },
      400,
      /\/instances\/0\/depth <- is not a feature.*a, b, c, d/,
    ],
    [
      'probabilities of a booster',
      { instances: [[0, 0, 0, 0]], probabilities: true },
      400,
      /only supported by scikit-learn models/,
    ],
    ['more than are taken', { instances: Array.from({ length: 10_001 }, () => []) }, 400, /exceed the limit of 10000/],
    ['columns of several lengths', { inputs: { a: [1], b: [1, 2] } }, 400, /\/inputs\/b <- has 2 values, and a has 1/],
  ])('%s', async (_title, body, status, error) => {
    const answer = await predict(body)
    expect(answer).toMatchObject({ status, body: { error: expect.stringMatching(error) as string } })
  })

  it('shows by its status what is wrong with it', async () => {
    expect(await predict({ instances: [[1]] }, 'none')).toMatchObject({
      status: 404,
      body: { error: 'Model does not exist' },
    })
    const classify = await ask({ method: 'POST', url: '/models/booster/classify', payload: { examples: [{}] } })
    expect(classify).toMatchObject({
      status: 400,
      body: { error: expect.stringContaining('TensorFlow models') as string },
    })
    expect((await app.inject({ url: '/models' })).statusCode).toBe(401)
  })
})

describe('an upload that is rejected', () => {
  const parts = { name: 'bad', framework: 'xgboost', file: ZIP }
  it.each<[string, Readonly<Record<string, string | Uint8Array>>, number, RegExp]>([
    ['a name that leads elsewhere', { ...parts, name: '../x' }, 400, /\/name/],
    [
      'no framework that is known',
      { ...parts, framework: 'weka' },
      400,
      /\/framework <- is "weka" \(write one of sklearn/,
    ],
    ['no file', { name: 'bad', framework: 'xgboost' }, 400, /\/file <- is missing/],
    ['everything at once', { name: '', framework: '' }, 400, /\/name.*\/framework.*\/file/],
    ['a part that is unknown', { ...parts, flavour: 'x' }, 400, /\/flavour <- is unknown/],
    ['no zip', { ...parts, file: new TextEncoder().encode('PK?') }, 400, /the zip cannot be read/],
    ['a name that is taken', { ...parts, name: 'booster' }, 409, /already/],
  ])('%s', async (_title, given, status, error) => {
    expect(await upload('POST', '/models', given)).toMatchObject({
      status,
      body: { error: expect.stringMatching(error) as string },
    })
  })

  it('is not a form', async () => {
    expect(await ask({ method: 'POST', url: '/models', payload: { name: 'x' } })).toMatchObject({
      status: 400,
      body: { error: expect.stringContaining('multipart/form-data') as string },
    })
    expect((await upload('PUT', '/models/none', parts)).status).toBe(404)
  })

  it.each([
    ['text', 'hello, I am no booster'],
    ['JSON of something else', '{"learner": {}}'],
    ['a tree that leads back', JSON.stringify(GOLDEN?.json).replace('"left_children":[1', '"left_children":[0')],
    ['an objective of its own', JSON.stringify(GOLDEN?.json).replace('reg:squarederror', 'custom:mine')],
    ['UBJSON without an end', '{L\u0000\u0000'],
  ])('is seen when it is loaded: %s', async (title, booster) => {
    const name = `broken-${title.replaceAll(' ', '-')}`
    await upload('POST', '/models', { name, framework: 'xgboost', file: zipOf({ 'model.bst': booster }) })
    await until(async () => (await predict({ instances: [[0, 0, 0, 0]] }, name)).status !== 409)
    expect((await ask({ url: `/models/${name}` })).body).toMatchObject({
      ready: false,
      failure: expect.stringMatching(/^the (booster|objective)/) as string,
    })
    expect((await predict({ instances: [[0, 0, 0, 0]] }, name)).status).toBe(500)
    expect((await predict({ instances: [[0, 0, 0, 0]] })).status).toBe(200)
  })
})

it('does the same by the client', async () => {
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  const { models } = createClient({ url, credentials: { key: 'k', secret: 's' } })
  expect(await models.create({ name: 'mine', framework: 'xgboost', description: 'd', file: ZIP })).toMatchObject({
    name: 'mine',
  })
  await until(async () => (await models.get('mine')).ready)
  expect(await models.predict('mine', { instances: [[0, 0, 0, 0]] })).toHaveProperty('predictions')
  expect((await models.examples('mine')).map(({ endpoint }) => endpoint)).toEqual(['predict'])
  const { size, content } = await models.content('mine')
  expect(await bytesOf(content)).toHaveLength(size)
  expect(await models.patch('mine', { description: 'new' })).toMatchObject({ description: 'new', version: '1' })
  expect(await models.replace('mine', { framework: 'xgboost', file: ZIP })).toMatchObject({ version: '2' })
  expect(await models.remove('mine')).toMatchObject({ name: 'mine' })
  await expect(models.get('mine')).rejects.toMatchObject({ code: 'NOT_FOUND', message: 'Model does not exist' })
  expect((await models.frameworks()).map(({ framework }) => framework)).toContain('xgboost')
  await expect(models.classify('booster', { examples: [{}] })).rejects.toMatchObject({ code: 'VALIDATION' })
  await expect(models.regress('booster', { examples: [{}] })).rejects.toMatchObject({ code: 'VALIDATION' })
  expect((await models.list({ name: 'boost' })).map(({ name }) => name)).toEqual(['booster'])
})

async function bytesOf(content: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const pieces: Uint8Array[] = []
  for await (const piece of content) pieces.push(piece)
  return Buffer.concat(pieces)
}
