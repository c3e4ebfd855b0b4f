/** Tests the converter service over HTTP, in a whole host. */
import { fastify, type FastifyInstance, type InjectOptions } from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { host } from '../../src/host/index.ts'
import { createClient } from '../../src/client.ts'
import { basic } from './sample-host.ts'

let app: FastifyInstance
beforeAll(async () => {
  app = fastify()
  await app.register(host, { store: 'memory:', key: 'k', secret: 's' })
  await ask({ method: 'PUT', url: '/converter/gw', payload: CONFIG })
})
afterAll(() => app.close())

const authorization = basic('k', 's')
const ask = ({ headers = {}, ...options }: InjectOptions) =>
  app.inject({ ...options, headers: { authorization, ...headers } })

const TEMPLATE =
  '{"metrics":[{"resource":"$payload.device","temperature":$payload.t}],"metadata":[{"resource":"$payload.device","room":"K1"}]}'
const CONFIG = { type: 'velocity', template: TEMPLATE }

function form(parts: Readonly<Record<string, unknown>>): Pick<InjectOptions, 'payload' | 'headers'> {
  const fields = Object.entries(parts).map(([name, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    return `--xyz\r\ncontent-disposition: form-data; name="${name}"; filename="${name}.json"\r\ncontent-type: application/json\r\n\r\n${text}\r\n`
  })
  return { payload: `${fields.join('')}--xyz--\r\n`, headers: { 'content-type': 'multipart/form-data; boundary=xyz' } }
}

describe('the converter service', () => {
  it('converts JSON and forms alike', async () => {
    const payload = { device: 'boiler-1', t: 93 }
    const url = '/converter/gw/convert'
    const wanted = {
      metrics: [{ resource: 'boiler-1', temperature: 93 }],
      metadata: [{ resource: 'boiler-1', room: 'K1' }],
    }
    for (const body of [{ payload }, form({ payload })]) {
      const answer = await ask({ method: 'POST', url, ...body })
      expect([answer.statusCode, answer.json()]).toEqual([200, wanted])
    }
    expect((await ask({ url: '/resources/boiler-1/current' })).statusCode).toBe(404)
  })

  // a long body is parsed in another thread
  it.each([
    ['short', ''],
    ['long', ' '.repeat(40_000)],
  ])('converts long whole numbers, keys in their order and any key of a %s body', async (_, space) => {
    const payload = `${space}{"constructor":"a","n":12345678901234567890,"2":"b","1":"a"}`
    const json = { payload, headers: { 'content-type': 'application/json' } }
    const entry = '{"resource":"$payload.constructor","n":"$payload.n","keys":"$payload.keySet()"}'
    const config = { type: 'velocity', template: `{"metrics":[${entry}]}` }
    await ask({ method: 'PUT', url: '/converter/any', payload: config })
    const metrics = [{ resource: 'a', n: '12345678901234567890', keys: '[constructor, n, 2, 1]' }]
    for (const body of [json, form({ payload })]) {
      const answer = await ask({ method: 'POST', url: '/converter/any/convert', ...body })
      expect([answer.statusCode, answer.json()]).toEqual([200, { metrics }])
    }
    const test = (body: string) => ask({ method: 'POST', url: '/converter/test', ...json, payload: space + body })
    const refused = await test('{"config":{"type":12345678901234567890,"template":" "},"payload":1}')
    expect([refused.statusCode, refused.json()]).toMatchObject([400, { code: 'VALIDATION' }])
    const tested = await test(`{"config":${JSON.stringify(config)},"payload":${payload},"topic":"a"}`)
    expect([tested.statusCode, tested.json()]).toMatchObject([
      400,
      { error: expect.stringMatching('the topic "a"') as string },
    ])
    const wrong = { statusCode: 400, error: expect.stringMatching('not JSON') as string, code: 'NOT_JSON' }
    for (const url of ['/converter/any/ingest', '/converter/any/convert', '/converter/test']) {
      const broken = await ask({ method: 'POST', url, ...json, payload: `${space}{` })
      expect([url, broken.json()]).toEqual([url, wrong])
    }
    expect((await ask({ url: '/converter/any/rejected' })).json()).toMatchObject({ total: 0 })
    await ask({ method: 'DELETE', url: '/converter/any' })
  })

  it('forwards to the broker and the resources when asked to', async () => {
    const payload = { device: 'boiler-2', t: 94 }
    const answer = await ask({ method: 'POST', url: '/converter/gw/convert?forward=true', ...form({ payload }) })
    expect(answer.statusCode).toBe(200)
    expect((await ask({ url: '/resources/boiler-2/current' })).json()).toMatchObject({ temperature: 94 })
    expect((await ask({ url: '/api/resources/boiler-2' })).json()).toMatchObject({ room: 'K1' })
  })

  it('lists keys that rules ignore when they compare messages', async () => {
    const entry = '{"resource":"twice","timestamp":$payload.at,"t":$payload.t,"receivedAt":$payload.now}'
    const config = { type: 'velocity', template: `{"metrics":[${entry}]}`, identityIgnores: ['receivedAt'] }
    expect((await ask({ method: 'PUT', url: '/converter/twice', payload: config })).json()).toMatchObject(config)
    const sensor = {
      label: 'hot',
      name: 'streamingDataSensor',
      resource: '$',
      properties: { parameter: 't', threshold: 9 },
    }
    const task = { sensors: [sensor], task: { name: 'twice', type: 'reactive', resource: 'twice' } }
    const { ID: id } = (await ask({ method: 'POST', url: '/api/tasks', payload: task })).json<{ ID: string }>()
    const at = Date.now() - 1_000
    for (const now of [1, 2]) {
      await ask({ method: 'POST', url: '/converter/twice/ingest', payload: { at, t: 20, now } })
    }
    await ask({ method: 'POST', url: '/messages', payload: { resource: 'twice', timestamp: at, t: 20, receivedAt: 3 } })
    expect((await ask({ url: `/api/tasks/${id}` })).json()).toMatchObject({ invocationCount: 2 })
    // A key alone decides whether a payload is a repetition.
    for (const key of ['a', 'a', 'b']) {
      const headers = { 'idempotency-key': key }
      await ask({ method: 'POST', url: '/converter/twice/ingest', payload: { at, t: 20, now: 1 }, headers })
    }
    expect((await ask({ url: `/api/tasks/${id}` })).json()).toMatchObject({ invocationCount: 4 })
    await ask({ method: 'DELETE', url: '/converter/twice' })
  })

  it('tests a converter that is not stored, as JSON and as a form', async () => {
    const parts = { config: CONFIG, payload: { device: 'boiler-1', t: 93 } }
    for (const body of [{ payload: parts }, form(parts)]) {
      const answer = await ask({ method: 'POST', url: '/converter/test', ...body })
      expect(answer.statusCode).toBe(200)
      expect(answer.json()).toMatchObject({
        stored: {
          samples: [{ resource: 'boiler-1', metric: 'temperature', value: 93 }],
          metadata: { 'boiler-1': { room: 'K1' } },
        },
        warnings: [],
      })
    }
  })

  it('returns unusable output with the text', async () => {
    await ask({ method: 'PUT', url: '/converter/text', payload: { type: 'velocity', template: 'hot: $payload.t' } })
    const answer = await ask({ method: 'POST', url: '/converter/text/convert', payload: { t: 93 } })
    expect(answer.statusCode).toBe(422)
    expect(answer.json()).toMatchObject({ code: 'CONVERSION', details: 'hot: 93' })
  })

  it.each([
    ['no part', { method: 'POST', url: '/converter/gw/convert', ...form({ config: {} }) }, 400],
    [
      'a part twice',
      {
        method: 'POST',
        url: '/converter/test',
        payload:
          '--x\r\ncontent-disposition: form-data; name="a"\r\n\r\n1\r\n--x\r\ncontent-disposition: form-data; name="a"\r\n\r\n2\r\n--x--',
        headers: { 'content-type': 'multipart/form-data; boundary=x' },
      },
      400,
    ],
    ['a part that is no JSON', { method: 'POST', url: '/converter/gw/convert', ...form({ payload: '{' }) }, 400],
    [
      'a form that is none',
      {
        method: 'POST',
        url: '/converter/gw/convert',
        payload: 'x',
        headers: { 'content-type': 'multipart/form-data' },
      },
      400,
    ],
    ['10 MB', { method: 'POST', url: '/converter/gw/convert', payload: { x: 'x'.repeat(10_000_000) } }, 413],
  ] as const)('rejects %s', async (_what, request, status) => {
    const answer = await ask(request)
    expect(answer.statusCode).toBe(status)
    expect(answer.json()).toMatchObject({ error: expect.any(String) as string })
  })

  it('is the same over the client', async () => {
    const url = await app.listen({ port: 0 })
    const { converter } = createClient({ url, credentials: { key: 'k', secret: 's' } })
    expect(await converter.put('by-client', CONFIG)).toEqual({
      converter: { name: 'by-client', ...CONFIG },
      created: true,
    })
    expect(await converter.list()).toMatchObject({ 'by-client': CONFIG })
    const shown = await converter.get('by-client')
    expect(await converter.put('by-client', { ...shown, compat: '2.4' })).toMatchObject({ created: false })
    expect(await converter.get('by-client')).toEqual({ ...shown, compat: '2.4' })
    const payload = { device: 'boiler-4', t: 96 }
    const converted = await converter.convert('by-client', payload, { forward: true })
    expect(converted.metrics).toEqual([{ resource: 'boiler-4', temperature: 96 }])
    expect((await converter.test(CONFIG, payload)).warnings).toEqual([])
    expect(await converter.ingest('by-client', payload, { idempotencyKey: 'x' })).toEqual({ messages: 1 })
    const { rejected = '' } = await converter.ingest('by-client', {})
    expect((await converter.rejected.list('by-client', { limit: 1 })).total).toBe(1)
    expect((await converter.rejected.retry('by-client', [rejected])).failed).toHaveLength(1)
    await converter.rejected.remove('by-client', rejected)
    expect(await converter.remove('by-client')).toMatchObject({ name: 'by-client' })
    await expect(converter.get('by-client')).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(converter.put('bad', { type: 'velocity', template: '#if(' })).rejects.toMatchObject({
      code: 'TEMPLATE',
    })
  })
})
