import { describe, expect, it } from 'vitest'
import { AppError } from '../../../src/kernel/errors.ts'
import { Payload } from '../../../src/services/shared/http/payload.ts'
import { MAX_REJECTED } from '../../../src/services/converter/rejected.ts'
import { CALLER, refusalOf, TEMPLATE, testConverter } from './support.ts'

const VELOCITY = { type: 'velocity', template: TEMPLATE }
const HOT = { device: 'boiler-1', t: 93 }

describe('converters', () => {
  // Holds CONVERTER-5
  it('belong to one tenant', async () => {
    const { storage, api } = testConverter()
    await api.put('gw', { ...VELOCITY, mqtt: { topic: 'gw/+/up' } })
    const caller = { tenant: 'two', user: 'other' }
    const other = testConverter(storage, caller)
    expect(await other.api.list()).toEqual({})
    expect((await refusalOf(other.api.convert('gw', HOT))).code).toBe('NOT_FOUND')
    expect(await other.service.take(caller, 'gw/1/up', Buffer.from('{}'))).toBe(false)
  })

  it('with an invalid template are rejected with its position', async () => {
    const refusal = await refusalOf(testConverter().api.put('gw', { type: 'velocity', template: 'a\n#if($x\nb' }))
    expect(refusal.code).toBe('TEMPLATE')
    expect(refusal.issues[0]?.details).toMatchObject({ line: 3, column: 1 })
    expect(refusal.issues[0]?.details?.['around']).toEqual(['1 | a', '2 | #if($x', '3 | b', '  | ^'])
  })
})

describe('the output of a template', () => {
  it('is forwarded in one post, and in one change per resource', async () => {
    const { api, posted, patched } = testConverter()
    const template = `{"metrics":[{"resource":"a","t":1},{"resource":"b","t":2}],
      "metadata":[{"resource":"a","room":"K1"},{"resource":"b","room":"K2"},{"resource":"a","floor":-1}]}`
    await api.put('gw', { type: 'velocity', template })
    const converted = await api.convert('gw', {}, { forward: true })
    expect(posted).toEqual([{ body: converted.metrics, key: undefined }])
    expect(patched).toEqual([
      { id: 'a', body: { room: 'K1', floor: -1 } },
      { id: 'b', body: { room: 'K2' } },
    ])
  })

  it.each([
    ['no JSON', 'hello', 'not JSON', 'hello'],
    ['a list', '[]', 'Object value expected', '[]'],
    ['no metrics', '{}', '/metrics <- is required', '{}'],
    ['invalid metrics', '{"metrics":{}}', '/metrics <- Array value expected', '{"metrics":{}}'],
    [
      'invalid metadata',
      '{"metrics":[],"metadata":{}}',
      '/metadata <- Array value expected',
      '{"metrics":[],"metadata":{}}',
    ],
    ['a metric of nothing', '{"metrics":[{"t":1}]}', '/metrics/0/resource <- is required', '{"metrics":[{"t":1}]}'],
    ['an entry other than an object', '{"metrics":[1]}', '/metrics/0 <- Object value expected', '{"metrics":[1]}'],
    ['keys that reach a prototype', '{"metrics":[],"__proto__":{}}', 'not allowed', '{"metrics":[],"__proto__":{}}'],
  ])('that is %s is rejected with its text', async (_what, template, message, rendered) => {
    const { api } = testConverter()
    await api.put('gw', { type: 'velocity', template })
    const refusal = await refusalOf(api.convert('gw', {}))
    expect(refusal).toMatchObject({ code: 'CONVERSION', status: 422 })
    expect(refusal.message).toContain(message)
    expect(refusal.issues[0]?.details).toEqual({ rendered })
  })

  // Holds CONVERTER-4
  it.each([
    ['a range of a billion', '#foreach($i in [1..1000000000])x#end'],
    ['ranges within ranges', '#foreach($i in [1..100000])#foreach($j in [1..100000])#end#end'],
    ['macros that call themselves', '#macro(m)#m()#end#m()'],
    ['templates that evaluate themselves', "#set($t = '#evaluate($t)')#evaluate($t)"],
    ['a text that doubles', '#set($s = "xx")#foreach($i in [1..60])#set($s = $s + $s)#end'],
    ['a number that squares', '#set($n = 99999)#foreach($i in [1..60])#set($n = $n * $n)#end'],
    ['a list that holds itself', '#set($l = [1])#set($ok = $l.add($l))$l'],
    ['an index out of range', '#set($l = [1])$l.get(5)'],
    ['a list that changes in its loop', '#set($l = [1])#foreach($i in $l)#set($ok = $l.add($i))#end'],
    ['a file', '#include("/etc/passwd")'],
  ])('stays within its limits, or fails with the position: %s', async (_what, template) => {
    const { api } = testConverter()
    await api.put('gw', { type: 'velocity', template: `{}\n${template}` })
    const refusal = await refusalOf(api.convert('gw', {}))
    expect(refusal.code).toBe('CONVERSION')
    expect(refusal.issues[0]?.details).toMatchObject({ line: 2 })
  })

  it.each([
    ['keys in their order', '{"2":{"z":1,"1":2},"1":"a"}', '$payload', '{2={z=1, 1=2}, 1=a}'],
    ['keys in their order, as JSON', '{"b":1,"1":2}', '$util.renderValue($payload)', '{"b":1,"1":2}'],
    ['a long whole number', '{"n":12345678901234567890}', '$payload.n', '12345678901234567890'],
    ['a sum of one', '{"n":9007199254740993}', '#set($m = $payload.n + 2)$m', '9007199254740995'],
    ['a key of prototypes', '{"constructor":{"__proto__":3}}', '$payload.constructor.get("__proto__")', '3'],
    ['null that a call is given', '{}', '$util.renderValue(null)', 'null'],
  ])('contains %s of the payload', async (_what, payload, template, printed) => {
    const { api, service, posted } = testConverter()
    const text = `#set($text = "${template.replaceAll('"', '""')}"){"metrics":[{"resource":"a","text":$util.renderValue($text)}]}`
    const config = { type: 'velocity', template: text, mqtt: { topic: 'gw/+' } }
    await api.put('gw', config)
    const wanted = [{ resource: 'a', text: printed }]
    expect((await api.convert('gw', new Payload(payload))).metrics).toEqual(wanted)
    expect((await api.test(config, new Payload(payload))).metrics).toEqual(wanted)
    await api.ingest('gw', new Payload(payload))
    await service.take(CALLER, 'gw/1', Buffer.from(payload))
    expect(posted.map(({ body }) => body)).toEqual([wanted, wanted])
  })
})

describe('a test of a converter', () => {
  it('reports what would be stored', async () => {
    const { api } = testConverter()
    const template = `{"metrics":[{"resource":"$topic[0]","t":$payload.t,"on":true,"raw":{"x":1},"timestamp":5}],
      "metadata":[{"resource":"a","room":"K1"}]}`
    const config = { type: 'velocity', template, mqtt: { topic: 'gw/+/up' } }
    expect(await api.test(config, { t: 21.5 }, 'gw/a/up')).toEqual({
      metrics: [{ resource: 'a', t: 21.5, on: true, raw: { x: 1 }, timestamp: 5 }],
      metadata: [{ resource: 'a', room: 'K1' }],
      stored: {
        samples: [
          { resource: 'a', metric: 't', value: 21.5 },
          { resource: 'a', metric: 'on', value: true },
        ],
        metadata: { a: { room: 'K1' } },
      },
      warnings: ['/metrics/0/raw is not a number, text or boolean, and is stored with the message only'],
    })
    expect((await refusalOf(api.test(config, {}, 'other/a'))).code).toBe('VALIDATION')
  })

  it.each([
    ['{"resource":"a","t":"21.5"}', 'is the text "21.5" instead of a number'],
    ['{"resource":"$payload.gone","t":1}', 'the reference is unresolved'],
    ['{"resource":"a","t":"$payload.gone"}', 'the reference is unresolved'],
    ['{"resource":"a","t":1,"timestamp":"17"}', '/metrics/0/timestamp is a text'],
    ['{"resource":"a","t":1},{"resource":"a","u":1}', 'several entries have the resource "a"'],
  ])('warns of %s', async (entries, warning) => {
    const { warnings } = await testConverter().api.test({ type: 'velocity', template: `{"metrics":[${entries}]}` }, {})
    expect(warnings).toHaveLength(1)
    expect(warnings[0]).toContain(warning)
  })
})

describe('a payload', () => {
  // Holds CONVERTER-1
  it('is forwarded under its key, or rejected with the reason', async () => {
    const { api, posted } = testConverter()
    await api.put('gw', VELOCITY)
    expect(await api.ingest('gw', HOT, { idempotencyKey: 'k1' })).toEqual({ messages: 1 })
    expect(posted[0]?.key).toBe('converter gw k1')
    const taken = await api.ingest('gw', { t: 1 })
    expect(taken).toEqual({ messages: 0, rejected: expect.stringMatching(/^[0-9a-f]{32}$/) as string })
    expect(await api.rejected.list('gw')).toEqual({
      total: 1,
      values: [
        {
          id: taken.rejected,
          time: '1970-01-01T00:00:00.000Z',
          error: expect.stringContaining('the reference is unresolved') as string,
          code: 'CONVERSION',
          payload: '{"t":1}',
          encoding: 'utf8',
          tries: 1,
        },
      ],
    })
  })

  // Holds CONVERTER-2
  it('is rejected once per key, and another payload with that key is a conflict', async () => {
    const { api } = testConverter()
    await api.put('gw', VELOCITY)
    const first = await api.ingest('gw', {}, { idempotencyKey: 'k' })
    expect(await api.ingest('gw', {}, { idempotencyKey: 'k' })).toEqual(first)
    expect((await refusalOf(api.ingest('gw', { x: 1 }, { idempotencyKey: 'k' }))).code).toBe('CONFLICT')
    expect((await api.rejected.list('gw')).total).toBe(1)
  })

  it.each([
    [new AppError('STORE', 'the disk is full'), 'FORWARDING'],
    [new Error('gone'), 'FORWARDING'],
    [new AppError('RATE_LIMITED', 'too much waits'), 'RATE_LIMITED'],
  ])('is not acknowledged when the broker fails: %s', async (failure, code) => {
    const made = testConverter()
    await made.api.put('gw', VELOCITY)
    made.brokerFails = failure
    expect((await refusalOf(made.api.ingest('gw', HOT))).code).toBe(code)
    expect((await refusalOf(made.api.convert('gw', HOT, { forward: true }))).code).toBe(code)
    expect((await made.api.rejected.list('gw')).total).toBe(0)
  })

  it('is rejected when the broker rejects its content', async () => {
    const made = testConverter()
    await made.api.put('gw', VELOCITY)
    made.brokerFails = new AppError('VALIDATION', 'a text is too long')
    expect((await made.api.ingest('gw', HOT)).rejected).toBeDefined()
    expect((await refusalOf(made.api.convert('gw', HOT, { forward: true }))).code).toBe('CONVERSION')
  })

  // Holds CONVERTER-3
  it('is refused when the list of rejected payloads is full, and acknowledged ones stay', async () => {
    const { api } = testConverter()
    await api.put('gw', VELOCITY)
    for (let i = 0; i < MAX_REJECTED; i++) await api.ingest('gw', { i })
    expect((await refusalOf(api.ingest('gw', { i: 'one more' }))).code).toBe('RATE_LIMITED')
    expect(await api.ingest('gw', HOT)).toEqual({ messages: 1 })
    expect((await api.rejected.list('gw')).total).toBe(MAX_REJECTED)
  })

  it('is retried when the converter is corrected, and abandoned on request', async () => {
    const { api, posted } = testConverter()
    await api.put('gw', VELOCITY)
    const ids: string[] = []
    for (const t of [1, 2, 3]) ids.push((await api.ingest('gw', { t })).rejected ?? '')
    const page = await api.rejected.list('gw', { limit: 2 })
    const last = await api.rejected.list('gw', { limit: 2, ...(page.next !== undefined && { after: page.next }) })
    expect([...page.values, ...last.values].map(({ id }) => id)).toEqual(ids.toSorted())
    expect([page.total, last]).toEqual([3, { total: 3, values: [expect.anything()] }])
    expect((await api.rejected.retry('gw')).failed).toHaveLength(3)
    expect((await api.rejected.list('gw')).values.map(({ tries }) => tries)).toEqual([2, 2, 2])
    await api.put('gw', { type: 'velocity', template: '{"metrics":[{"resource":"x","t":$payload.t}]}' })
    const [first = '', second = '', third = ''] = ids
    expect(await api.rejected.retry('gw', [first, 'nobody'])).toEqual({ forwarded: [first], failed: [] })
    await api.rejected.remove('gw', second)
    expect((await refusalOf(api.rejected.remove('gw', second))).code).toBe('NOT_FOUND')
    expect(await api.rejected.retry('gw')).toEqual({ forwarded: [third], failed: [] })
    expect(posted.map(({ body }) => body)).toEqual([[{ resource: 'x', t: 1 }], [{ resource: 'x', t: 3 }]])
    expect(await api.rejected.list('gw')).toEqual({ total: 0, values: [] })
  })

  it('stays rejected when its converter is deleted, for a new one of that name', async () => {
    const { api } = testConverter()
    await api.put('gw', VELOCITY)
    await api.ingest('gw', { t: 1 })
    await api.remove('gw')
    expect((await api.rejected.list('gw')).total).toBe(1)
    expect((await refusalOf(api.rejected.retry('gw'))).code).toBe('NOT_FOUND')
    await api.put('gw', { type: 'velocity', template: '{"metrics":[]}' })
    expect((await api.rejected.retry('gw')).forwarded).toHaveLength(1)
  })

  it('over MQTT goes to every converter with a matching topic filter, with the values of its wildcards', async () => {
    const made = testConverter()
    const { api, service, posted } = made
    const template = '{"metrics":[{"resource":"$topic[0]","parts":"$topic","t":$payload.t}]}'
    await api.put('one', { type: 'velocity', template, mqtt: { topic: 'gw/+/up' } })
    await api.put('all', { type: 'velocity', template, mqtt: { topic: 'gw/+/#' } })
    expect(await service.take(CALLER, 'gw/7/up', Buffer.from('{"t":1}'))).toBe(true)
    expect(posted.map(({ body }) => body)).toEqual([
      [{ resource: '7', parts: '[7, up]', t: 1 }],
      [{ resource: '7', parts: '[7]', t: 1 }],
    ])
    expect(await service.take(CALLER, 'other/7/up', Buffer.from('{}'))).toBe(false)
    expect(await service.take(CALLER, 'gw/7/up', Buffer.from('no JSON'))).toBe(true)
    expect(await service.take(CALLER, 'gw/7/up', Buffer.from([0xff, 0xfe]))).toBe(true)
    const { values } = await api.rejected.list('one')
    expect(
      values.map(({ payload, encoding, code, topic }) => `${payload} ${encoding} ${code} ${topic}`).toSorted(),
    ).toEqual(['//4= base64 NOT_JSON gw/7/up', 'no JSON utf8 NOT_JSON gw/7/up'])
    made.brokerFails = new AppError('STORE', 'the disk is full')
    expect((await refusalOf(service.take(CALLER, 'gw/7/up', Buffer.from('{"t":1}')))).code).toBe('FORWARDING')
  })

  it('over MQTT follows changes by another host, after a while', async () => {
    const made = testConverter()
    await made.service.take(CALLER, 'gw/7/up', Buffer.from('{}'))
    const records = made.storage
      .tenant('one')
      .collection({ name: 'converters', version: 1, fields: { topic: { type: 'text', of: () => 'gw/#' } } })
    await records.put('gw', { name: 'gw', type: 'velocity', template: '{"metrics":[]}', mqtt: { topic: 'gw/#' } })
    expect(await made.service.take(CALLER, 'gw/7/up', Buffer.from('{}'))).toBe(false)
    made.now = 5_000
    expect(await made.service.take(CALLER, 'gw/7/up', Buffer.from('{}'))).toBe(true)
  })
})
