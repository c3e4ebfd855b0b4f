import { describe, expect, it } from 'vitest'
import { isMetadataAddress, isPublicAddress } from '../../src/kernel/ip-address.ts'
import { AllowList } from '../../src/kernel/allow-list.ts'
import { createCallUrl, createCallUrlActuator, type CallUrlOptions } from '../../plugins/call-url/plug.ts'
import type { OutboundRequest, OutboundResponse } from '../../plugins/call-url/transport.ts'
import type { Plug } from '../../src/core/plug/plug.ts'
import { actsWith } from '../../src/core/plug/acts-with.ts'
import { nodeTransport } from '../../src/host/transport/node-transport.ts'
import { AppError } from '../../src/kernel/errors.ts'
import { freePort } from '../support/free-port.ts'
import { checkPlug, runPlugLater } from '../support/plug-context.ts'

const SECRET = 'tok-8f3a'
const names: Record<string, readonly string[]> = {
  'example.com': ['93.184.216.34'],
  'other.example': ['151.101.1.6'],
  'inside.example': ['10.0.0.7'],
  'cloud.example': ['10.0.0.9', '169.254.169.254'],
  'both.example': ['93.184.216.34', '127.0.0.1'],
  localhost: ['127.0.0.1'],
}

/** A callURL whose transport answers from a table and records its requests. */
function outbound(answers: Record<string, Partial<OutboundResponse>>, options: CallUrlOptions = {}) {
  const asked: OutboundRequest[] = []
  const given: CallUrlOptions = {
    ...options,
    transport: {
      resolve: async (host) => names[host] ?? Promise.reject(new Error(`no ${host}`)),
      send: async (request) => {
        asked.push(request)
        const answer = answers[request.url]
        if (answer === undefined)
          throw new TypeError(`cannot reach ${request.url} with ${JSON.stringify(request.headers)}`)
        return { status: 200, statusText: 'OK', body: '', ...answer }
      },
    },
  }
  const [sensor, actuator] = [createCallUrl(given), createCallUrlActuator(given)]
  const call = (properties: Record<string, unknown>, plug: Plug = sensor) =>
    runPlugLater(plug, { properties: { method: 'GET', ...properties } })
  return { asked, call, act: (properties: Record<string, unknown>) => call(properties, actuator) }
}

/** The failure of an actuator whose transport behaves so. */
function failureOf(send: () => Promise<never>): Promise<unknown> {
  const plug = createCallUrlActuator({ transport: { resolve: async () => ['93.184.216.34'], send } })
  const properties = { url: 'https://example.com/', method: 'POST' }
  return runPlugLater(plug, { properties }).catch((error: unknown) => error)
}

describe('callURL', () => {
  it('returns status and data, and connects to the address that it checked', async () => {
    const { call, asked } = outbound({ 'https://example.com/a': { body: '{"x":1}' } })
    const ran = await call({ url: 'https://example.com/a', headers: { Authorization: SECRET } })
    expect(ran).toMatchObject({ state: 'Success', rawData: { status: 200, statusText: 'OK', data: { x: 1 } } })
    expect(asked[0]).toMatchObject({ address: '93.184.216.34', timeoutMs: 10_000, headers: { Authorization: SECRET } })
  })

  it('sends the id of its effect with each call that may act, unless its headers contain a key', async () => {
    const { call, act, asked } = outbound({ 'https://example.com/': {} })
    const properties = { url: 'https://example.com/', method: 'PUT' }
    await act(properties)
    await act({ ...properties, headers: { 'idempotency-KEY': 'own' } })
    await call({ ...properties, method: 'GET' })
    expect(asked.map(({ headers }) => headers)).toEqual([
      { 'Idempotency-Key': 'task-1/1/1/0' },
      { 'idempotency-KEY': 'own' },
      {},
    ])
  })

  it.each([
    [{ status: 500 }, { isFinal: false, retryAfter: undefined }],
    [{ status: 404 }, { isFinal: true }],
    [{ status: 408 }, { isFinal: false }],
    [{ status: 425 }, { isFinal: false }],
    [
      { status: 429, retryAfter: '7' },
      { isFinal: false, retryAfter: 7_000 },
    ],
    [
      { status: 503, retryAfter: 'Thu, 01 Jan 1970 00:00:09 GMT' },
      { isFinal: false, retryAfter: 9_000 },
    ],
    [
      { status: 503, retryAfter: 'soon' },
      { isFinal: false, retryAfter: undefined },
    ],
  ])('states for the response %j whether and when to call again', async (answer, limits) => {
    const { act } = outbound({ 'https://example.com/': answer })
    const failure: unknown = await act({ url: 'https://example.com/', method: 'POST' }).catch((error: unknown) => error)
    expect(failure).toMatchObject(limits)
  })

  it('retries a call that received no response, but not one that is not allowed', async () => {
    const failing = (url: string): Promise<unknown> =>
      outbound({})
        .act({ url, method: 'POST' })
        .catch((error: unknown) => error)
    expect(await failing('https://example.com/')).toMatchObject({ isFinal: false })
    expect(await failing('https://nowhere.example/')).toMatchObject({ isFinal: false })
    expect(await failing('http://127.0.0.1/')).toMatchObject({ isFinal: true })
    const tooLong = outbound({ 'https://example.com/': { body: 'x'.repeat(1_000_001) } })
    const failure: unknown = await tooLong
      .act({ url: 'https://example.com/', method: 'POST' })
      .catch((error: unknown) => error)
    expect(failure).toMatchObject({ isFinal: true })
  })

  it('retries by default as an actuator only', () => {
    expect(createCallUrlActuator().retry).toEqual({ maxRetries: 5, minBackoff: 'PT1S', maxBackoff: 'PT1M' })
    expect(createCallUrl().retry).toBeUndefined()
  })

  it('sends objects as JSON and texts unchanged', async () => {
    const { call, asked } = outbound({ 'https://example.com/': {} })
    await call({ url: 'https://example.com/', method: 'POST', body: { t: 1 } })
    await call({ url: 'https://example.com/', method: 'POST', body: 'plain' })
    expect(asked.map(({ body, headers }) => [body, headers])).toEqual([
      ['{"t":1}', { 'Content-Type': 'application/json', 'Idempotency-Key': 'task-1/1/1/0' }],
      ['plain', { 'Idempotency-Key': 'task-1/1/1/0' }],
    ])
  })

  it('returns Error for a failure status, with the response', async () => {
    const { call } = outbound({ 'https://example.com/': { status: 500, statusText: 'Oops', body: 'sorry' } })
    expect(await call({ url: 'https://example.com/' })).toMatchObject({
      state: 'Error',
      rawData: { status: 500, statusText: 'Oops', data: 'sorry' },
    })
  })

  it.each([
    'http://127.0.0.1/',
    'http://2130706433/',
    'http://0x7f.1/',
    'http://[::1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://169.254.169.254/latest',
    'http://inside.example/',
    'http://both.example/',
    'http://localhost/',
    'https://nowhere.example/',
  ])('does not call %s', async (url) => {
    const { call, asked } = outbound({ [url]: {} })
    expect((await call({ url })).state).toBe('Error')
    expect(asked).toEqual([])
  })

  it('calls a private host that is allowed by name', async () => {
    const { call } = outbound({ 'http://localhost/': {} }, { allow: ['localhost'] })
    expect((await call({ url: 'http://localhost/' })).state).toBe('Success')
  })

  it('checks every redirect, and does not pass secrets to another host', async () => {
    const { call, asked } = outbound({
      'https://example.com/1': { status: 302, location: 'https://other.example/2' },
      'https://other.example/2': { status: 307, location: 'http://inside.example/' },
    })
    const ran = await call({ url: 'https://example.com/1', headers: { Authorization: SECRET, Accept: 'text/plain' } })
    expect(ran.rawData?.['error']).toContain('from https to http')
    expect(asked.map(({ headers }) => headers)).toEqual([
      { Authorization: SECRET, Accept: 'text/plain' },
      { Accept: 'text/plain' },
    ])
    const inner = outbound({ 'http://example.com/': { status: 302, location: 'http://inside.example/' } })
    expect((await inner.call({ url: 'http://example.com/' })).rawData?.['error']).toContain(
      'inside.example is not on the public internet',
    )
  })

  it('counts redirects, and turns a redirected POST into a GET', async () => {
    const loop = outbound({ 'https://example.com/': { status: 302, location: '/' } })
    expect((await loop.call({ url: 'https://example.com/', method: 'POST', body: 'x' })).rawData?.['error']).toContain(
      'exceeds the limit of 5 redirects',
    )
    expect(loop.asked).toHaveLength(6)
    expect(loop.asked[1]).toMatchObject({ method: 'GET', body: undefined })
  })

  it('never shows secrets in errors', async () => {
    const { call } = outbound({})
    const ran = await call({
      url: `https://example.com/${SECRET}?key=${SECRET}`,
      headers: { Authorization: SECRET },
      body: SECRET,
    })
    expect(ran.state).toBe('Error')
    expect(JSON.stringify(ran)).not.toContain(SECRET)
    expect(checkPlug(createCallUrl(), { url: `ftp://${SECRET}` }).join()).not.toContain(SECRET)
  })

  it('rejects a response that is too long', async () => {
    const { call } = outbound({ 'https://example.com/': { body: 'x'.repeat(1_000_001) } })
    expect((await call({ url: 'https://example.com/' })).rawData?.['error']).toContain('exceeds 1000000 bytes')
  })

  it('is offline unless a host provides its egress', async () => {
    const properties = { url: 'https://example.com/', method: 'GET' }
    const ran = await runPlugLater(createCallUrl(), { properties })
    expect(ran.state).toBe('Error')
    expect(ran.rawData?.['error']).toContain('callURL is offline')
  })

  it.each([
    [{ url: 'ftp://example.com' }, 'http or https'],
    [{ url: 'https://user:pass@example.com' }, 'Authorization'],
    [{ headers: { 'A b': '1' } }, 'is not allowed as a header'],
    [{ headers: { Host: 'x' } }, 'is not allowed as a header'],
    [{ headers: { A: 'x\r\nB: y' } }, 'one line'],
  ])('rejects %j', (properties, text) => {
    expect(checkPlug(createCallUrl(), properties).join()).toContain(text)
  })

  it.each([
    ['8.8.8.8', true],
    ['172.15.0.1', true],
    ['172.16.0.1', false],
    ['100.64.0.1', false],
    ['192.168.1.1', false],
    ['224.0.0.1', false],
    ['255.255.255.255', false],
    ['0.0.0.0', false],
    ['2606:4700::1111', true],
    ['::1', false],
    ['::', false],
    ['fe80::1%eth0', false],
    ['fd00::1', false],
    ['::ffff:8.8.8.8', false],
    ['64:ff9b::a00:1', false],
    ['2002:a00:1::', false],
    ['2001:db8::1', false],
    ['ff02::1', false],
    ['1.2.3', false],
    ['1:2', false],
  ])('the address %s is public: %s', (address, isPublic) => {
    expect(isPublicAddress(address)).toBe(isPublic)
  })
})

describe('the allow list of callURL', () => {
  const refuses = (allow: readonly string[], url: string, address: string) =>
    new AllowList(allow).refusal(new URL(url), address) !== undefined

  it.each([
    ['intranet.local', 'https://intranet.local:8443/', '10.0.0.1', false],
    ['Intranet.local.', 'http://intranet.local./', '10.0.0.1', false],
    ['intranet.local', 'http://x.intranet.local/', '10.0.0.1', true],
    ['intranet.local:8080', 'http://intranet.local:8080/', '10.0.0.1', false],
    ['intranet.local:8080', 'http://intranet.local/', '10.0.0.1', true],
    ['intranet.local:80', 'http://intranet.local/', '10.0.0.1', false],
    ['intranet.local:80', 'https://intranet.local/', '10.0.0.1', true],
    ['http://intranet.local', 'http://intranet.local/x', '10.0.0.1', false],
    ['http://intranet.local', 'https://intranet.local/x', '10.0.0.1', true],
    ['https://intranet.local:9000/', 'https://intranet.local:9000/x', '10.0.0.1', false],
    ['10.0.0.0/8', 'http://any.example/', '10.200.3.4', false],
    ['10.0.0.0/8', 'http://any.example/', '11.0.0.1', false],
    ['10.0.0.0/8', 'http://any.example/', '192.168.0.1', true],
    ['192.168.4.0/22', 'http://any.example/', '192.168.7.255', false],
    ['192.168.4.0/22', 'http://any.example/', '192.168.8.0', true],
    ['10.0.0.0/8', 'http://[::ffff:10.0.0.1]/', '::ffff:a00:1', false],
    ['10.0.0.0/8:8080', 'http://any.example/', '10.0.0.1', true],
    ['127.0.0.1:8080', 'http://localhost:8080/', '127.0.0.1', false],
    ['fd12::/16', 'http://any.example/', 'fd12:3::1', false],
    ['fd12::/16', 'http://any.example/', 'fd13::1', true],
    ['[fd12::1]:443', 'https://[fd12::1]/', 'fd12::1', false],
    ['[fd12::1]:443', 'http://[fd12::1]/', 'fd12::1', true],
    ['0.0.0.0/0', 'http://any.example/', 'fd12::1', true],
  ])('%s: rejects %s at %s', (allow, url, address, isRefused) => {
    expect(refuses([allow], url, address)).toBe(isRefused)
  })

  it.each(['', 'a b', '10.0.0.0/33', '10.0.0', 'a:0', 'a:70000', '[a]:1', 'http://a/path', 'ftp://a', 'fd::/129', '*'])(
    'rejects the entry %j',
    (text) => {
      expect(() => new AllowList([text])).toThrow(
        'is not a valid allow-list entry; use a host name, an address or a network',
      )
    },
  )

  it.each([
    '169.254.169.254',
    '169.254.170.2',
    '::ffff:169.254.169.254',
    '::ffff:a9fe:a9fe',
    '64:ff9b::a9fe:a9fe',
    '2002:a9fe:a9fe::1',
    'fd00:ec2::254',
    'fd20:ce::254',
    'fe80::a9fe:a9fe%eth0',
    '100.100.100.200',
    '168.63.129.16',
  ])('never permits %s, under any name', (address) => {
    const everything = ['0.0.0.0/0', '::/0', 'any.example', 'localhost']
    expect(isMetadataAddress(address)).toBe(true)
    expect(new AllowList(everything).refusal(new URL('http://any.example/'), address)).toContain(
      'cloud metadata address',
    )
    expect(() => new AllowList([address.split('%')[0] ?? ''])).toThrow('cloud metadata addresses are always blocked')
  })

  it.each(['8.8.8.8', '10.0.0.1', '100.100.100.201', 'fd00::1', '2606:4700::a9fe:a9fe', 'x'])(
    'permits %s, which is not a metadata address',
    (address) => {
      expect(isMetadataAddress(address)).toBe(false)
    },
  )

  it('never permits a metadata host name, whatever it resolves to', () => {
    const all = new AllowList(['0.0.0.0/0'])
    expect(all.refusal(new URL('http://metadata.google.internal./'), '10.0.0.1')).toContain('cloud metadata address')
    expect(() => new AllowList(['http://metadata.google.internal/'])).toThrow(
      'cloud metadata addresses are always blocked',
    )
  })

  it('is checked for each address of a name, and after each redirect', async () => {
    const { call, asked } = outbound(
      {
        'http://inside.example/': { status: 302, location: 'http://cloud.example/latest/' },
        'http://localhost:8080/': {},
      },
      { allow: ['10.0.0.0/8', 'cloud.example', 'localhost:8080'] },
    )
    expect((await call({ url: 'http://localhost:8080/' })).state).toBe('Success')
    const led = await call({ url: 'http://inside.example/' })
    expect(led.rawData?.['error']).toContain('cloud.example is a cloud metadata address')
    expect(asked.map(({ url }) => url)).toEqual(['http://localhost:8080/', 'http://inside.example/'])
  })
})

describe('callURL as an actuator', () => {
  it('calls as the sensor does, and returns the response', async () => {
    const { act, asked } = outbound({ 'https://example.com/a?key=tok-8f3a': { status: 201, body: '{"x":1}' } })
    const ran = await act({ url: 'https://example.com/a?key=tok-8f3a', method: 'POST', body: { t: 1 } })
    expect(ran).toMatchObject({
      message: 'example.com responded with status 201',
      rawData: { status: 201, statusText: 'OK', data: { x: 1 } },
    })
    expect(asked).toMatchObject([{ method: 'POST', body: '{"t":1}', headers: { 'Content-Type': 'application/json' } }])
  })

  it.each([199, 300, 400, 404, 500, 503])('fails for the status %i, so that the call is retried', async (status) => {
    const { act } = outbound({ [`https://example.com/${SECRET}`]: { status, statusText: SECRET, body: SECRET } })
    const failed = await act({ url: `https://example.com/${SECRET}` }).catch((error: unknown) => error)
    expect(failed).toMatchObject({ code: 'PLUG_FAILED', message: `example.com responded with status ${status}` })
  })

  it('fails without a response, and shows no secret', async () => {
    const { act } = outbound({})
    const failed = await act({ url: `https://example.com/${SECRET}`, body: SECRET }).catch(String)
    expect(failed).toContain('example.com did not respond')
    expect(failed).not.toContain(SECRET)
    const offline = runPlugLater(createCallUrlActuator(), { properties: { url: 'https://a.example', method: 'GET' } })
    await expect(offline).rejects.toThrow('callURL is offline')
  })

  it.each([
    ['ECONNREFUSED', 'example.com refused the connection (ECONNREFUSED)'],
    ['ECONNRESET', 'example.com closed the connection (ECONNRESET)'],
    ['EHOSTUNREACH', 'example.com cannot be reached (EHOSTUNREACH)'],
    ['CERT_HAS_EXPIRED', 'example.com did not respond (CERT_HAS_EXPIRED)'],
  ])('explains why there was no response: %s', async (code, message) => {
    const reason = Object.assign(new Error(SECRET), { code })
    for (const error of [reason, new AppError('PLUG_FAILED', SECRET, { cause: reason })]) {
      expect(await failureOf(() => Promise.reject(error))).toMatchObject({ code: 'PLUG_FAILED', message })
    }
  })

  it('reports a timeout, or the problem of the response', async () => {
    const late = new AppError('PLUG_FAILED', SECRET, { cause: new DOMException('x', 'TimeoutError') })
    expect(await failureOf(() => Promise.reject(late))).toMatchObject({
      message: 'example.com did not respond within 10000 ms',
    })
    const wrong = new AppError('PLUG_FAILED', 'the answer is compressed, which was not asked for')
    expect(await failureOf(() => Promise.reject(wrong))).toMatchObject({
      message: 'example.com did not respond: the answer is compressed, which was not asked for',
    })
  })

  it('names the port and the reason when the connection is refused', async () => {
    const port = await freePort()
    const transport = nodeTransport({ allow: [`127.0.0.1:${port}`] })
    const url = `http://127.0.0.1:${port}/${SECRET}`
    const failed = runPlugLater(createCallUrlActuator({ transport }), { properties: { url, method: 'POST' } })
    await expect(failed).rejects.toThrow(`127.0.0.1:${port} refused the connection (ECONNREFUSED)`)
  })

  it('reports an outside effect depending on the method, and rejects what the sensor rejects', () => {
    const plug = createCallUrlActuator()
    for (const method of ['GET', 'HEAD']) expect(actsWith(plug, { method })).toBe(false)
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) expect(actsWith(plug, { method })).toBe(true)
    expect(checkPlug(plug, { url: 'ftp://example.com' }).join()).toContain('http or https')
  })
})
