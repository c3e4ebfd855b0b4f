import { once } from 'node:events'
import type { IncomingMessage, Server } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { until } from '../support/until.ts'
import { printedRoutes } from './printed-routes.ts'
import { basic, sampleHost } from './sample-host.ts'

const json = { 'content-type': 'application/json' }

// Holds MOUNT-2
describe('a request that fails', () => {
  it.each([
    ['GET', '/sample/coded', 400, 'the thing does not run'],
    ['GET', '/sample/nowhere', 404, undefined],
    ['DELETE', '/sample/things', 405, '/sample/things does not support DELETE; it supports GET, HEAD, POST'],
  ] as const)('%s %s is %i in JSON', async (method, url, status, problem) => {
    await using host = await sampleHost()
    const answer = await host.ask({ method, url })
    expect(answer.statusCode).toBe(status)
    expect(answer.headers['content-type']).toMatch(/^application\/json/)
    if (problem !== undefined) expect(answer.json()).toMatchObject({ problem, status })
  })

  it('outside all services has the plain shape', async () => {
    await using host = await sampleHost()
    const answer = await host.ask({ method: 'GET', url: '/nowhere?apiSecret=x' })
    const error = 'GET /nowhere does not exist; /docs lists all operations'
    expect(answer.json()).toEqual({ statusCode: 404, error, code: 'NOT_FOUND' })
  })

  it('with a wrong method names the ones that the path has', async () => {
    await using host = await sampleHost()
    for (const method of ['PATCH', 'PROPFIND', 'QUERY'] as const) {
      const { statusCode, headers } = await host.ask({ method, url: '/sample/small' })
      expect([method, statusCode, headers.allow]).toEqual([method, 405, 'PUT'])
    }
  })

  it.each(['/sample/inside', '/sample/broken'])('inside, %s, returns only an id that the log contains', async (url) => {
    await using host = await sampleHost()
    const answer = await host.ask({ method: 'GET', url })
    const { problem, status } = answer.json<{ problem: string; status: number }>()
    expect(status).toBe(500)
    expect(answer.body).not.toContain('secret')
    const [, id = '?'] = /under id ([\w-]+)$/.exec(problem) ?? []
    expect(host.log.filter((line) => line.includes(id) && line.includes('/secret/place'))).toHaveLength(1)
    expect(answer.headers['x-request-id']).toBe(id)
  })

  it('returns 503 when it takes too long', async () => {
    await using host = await sampleHost({ timeLimit: 20 })
    const asked = host.ask({ method: 'GET', url: '/sample/slow' })
    await until(() => host.service.waiting() === 1)
    host.timers.advance(21)
    const answer = await asked
    expect(answer.json()).toMatchObject({ status: 503, problem: 'The request took longer than 20 ms' })
  })

  it('drops a late response of its handler', async () => {
    await using host = await sampleHost({ timeLimit: 20 })
    const asked = host.ask({ method: 'GET', url: '/sample/slow' })
    await until(() => host.service.waiting() === 1)
    host.timers.advance(21)
    await asked
    host.service.release()
    await host.ask({ method: 'GET', url: '/health' })
    expect(host.log.filter((line) => line.includes('already sent'))).toEqual([])
  })
})

describe('a stream', () => {
  it('may take longer than the limit, once it has begun', async () => {
    await using host = await sampleHost({ timeLimit: 20 })
    const { headers } = host
    const answer = await host.app.inject({ url: '/sample/stream', headers, payloadAsStream: true })
    host.timers.advance(100)
    await until(() => host.service.waiting() === 1)
    host.service.release()
    expect([answer.statusCode, await text(answer.stream())]).toEqual([200, 'one\ntwo\n'])
  })
})

// Holds MOUNT-3
/** Resolves when the next request has passed the checks of its head, and its body is being read. */
async function bodyIsRead(server: Server): Promise<void> {
  const [request] = (await once(server, 'request')) as [IncomingMessage]
  await until(() => request.listenerCount('data') + request.listenerCount('readable') > 0)
}

describe('a body', () => {
  const post = { method: 'POST', url: '/sample/things' } as const

  it.each([
    ['with several problems lists all', '{"size":"5","more":1}', 400, ['/name', '/more', '/size']],
    ['of no JSON is refused', '{"name":', 400, []],
    ['with a key of a prototype names its place', '{"name":"a","tags":[{"__proto__":1}]}', 400, ['/tags/0/__proto__']],
    ['with such a key in disguise is refused', String.raw`{"constr\u0075ctor":1}`, 400, ['/constructor']],
    ['that nests too deep is refused', `${'['.repeat(200)}${']'.repeat(200)}`, 400, []],
    ['that is missing is refused', '', 400, ['']],
  ])('%s', async (_what, payload, status, paths) => {
    await using host = await sampleHost()
    const answer = await host.ask({ ...post, payload, headers: json })
    expect(answer.statusCode).toBe(status)
    expect(new Set(answer.json<{ paths: string[] }>().paths)).toEqual(new Set(paths))
  })

  it.each(['text/plain', 'application/xml', 'multipart/form-data; boundary=x', 'application/jsonp'])(
    'of %s is rejected',
    async (type) => {
      await using host = await sampleHost()
      const answer = await host.ask({ ...post, payload: '{}', headers: { 'content-type': type } })
      expect([answer.statusCode, answer.json<{ status: number }>().status]).toEqual([415, 415])
      expect(answer.body).toContain(`does not accept the content type ${type}; send application/json`)
    },
  )

  it('of a JSON type with a charset or a suffix is accepted', async () => {
    await using host = await sampleHost()
    for (const type of ['application/json; charset=utf-8', 'application/merge-patch+json']) {
      const answer = await host.ask({ ...post, payload: '{"name":"a"}', headers: { 'content-type': type } })
      expect(answer.statusCode, type).toBe(201)
    }
  })

  it.each([
    ['bytes that are no UTF-8', [0x7b, 0x22, 0xff, 0x22, 0x7d], {}, 400, 'The body is not JSON: it is not UTF-8'],
    [
      'another charset',
      [0x7b, 0x7d],
      { 'content-type': 'application/json; charset=latin1' },
      415,
      'the charset latin1; send UTF-8',
    ],
    [
      'a coding',
      [0x1f, 0x8b],
      { 'content-encoding': 'gzip' },
      415,
      'the content encoding gzip; send the body without encoding',
    ],
    ['a number that is none', [...Buffer.from('{"a":[1,1e400]}')], {}, 400, '/a/1 <- is a number beyond 1.8e308'],
    [
      'one of very many digits',
      [...Buffer.from(`{"a":-1${'0'.repeat(400)}}`)],
      {},
      400,
      '/a <- is a number beyond 1.8e308',
    ],
  ])('with %s is rejected with the reason', async (_what, bytes, more, status, problem) => {
    await using host = await sampleHost()
    const answer = await host.ask({ ...post, payload: Buffer.from(bytes), headers: { ...json, ...more } })
    expect([answer.statusCode, answer.json<{ problem: string }>().problem]).toEqual([
      status,
      expect.stringContaining(problem),
    ])
    if (status === 415 && 'content-encoding' in more) expect(answer.headers['accept-encoding']).toBe('identity')
  })

  it.each(['application/json; charset="UTF-8"', 'application/json;charset=us-ascii', 'application/json; Charset=utf8'])(
    'of %s is accepted',
    async (type) => {
      await using host = await sampleHost()
      const headers = { 'content-type': type, 'content-encoding': 'identity' }
      expect((await host.ask({ ...post, payload: '{"name":"é"}', headers })).json()).toEqual({ name: 'é' })
    },
  )

  it.each(['application/x-www-form-urlencoded', 'text/plain; charset=latin1', 'multipart/form-data', 'nonsense', ''])(
    'that does not exist may be of any type, as %s',
    async (type) => {
      await using host = await sampleHost()
      const headers = { ...host.headers, 'content-type': type, 'content-encoding': 'br' }
      const none = await host.app.inject({ method: 'PUT', url: '/sample/small', headers })
      expect([none.statusCode, none.json()]).toEqual([200, {}])
    },
  )

  it('that is chunked and empty may be of any type, too', async () => {
    await using host = await sampleHost()
    await host.app.listen()
    const { port } = host.app.server.address() as AddressInfo
    const send = async (chunks: string) => {
      const socket = connect(port, '127.0.0.1')
      const head = `PUT /sample/small HTTP/1.1\r\nhost: a\r\nauthorization: ${host.headers.authorization}\r\n`
      const rest = `content-type: text/plain\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n${chunks}`
      socket.write(head + rest)
      return (await text(socket)).split('\r\n', 1)[0]
    }
    expect(await send('0\r\n\r\n')).toBe('HTTP/1.1 200 OK')
    expect(await send('1\r\na\r\n0\r\n\r\n')).toBe('HTTP/1.1 415 Unsupported Media Type')
  })

  it('that is interrupted is not an error of the host', async () => {
    await using host = await sampleHost()
    await host.app.listen()
    const { port } = host.app.server.address() as AddressInfo
    const socket = connect(port, '127.0.0.1')
    const reading = bodyIsRead(host.app.server)
    const head = `POST /sample/things HTTP/1.1\r\nhost: a\r\nauthorization: ${host.headers.authorization}\r\n`
    socket.write(`${head}content-type: application/json\r\ncontent-length: 100\r\n\r\n{"na`)
    await reading
    socket.destroy()
    await until(() => host.log.some((line) => line.includes('broke off')))
    expect(host.log.filter((line) => line.includes('"level":50'))).toEqual([])
  })

  it('that arrives too slowly returns 408, and the connection ends', async () => {
    await using host = await sampleHost({ timeLimit: 20 })
    await host.app.listen()
    const { port } = host.app.server.address() as AddressInfo
    const socket = connect(port, '127.0.0.1')
    const reading = bodyIsRead(host.app.server)
    const head = `POST /sample/things HTTP/1.1\r\nhost: a\r\nauthorization: ${host.headers.authorization}\r\n`
    socket.write(`${head}content-type: application/json\r\ncontent-length: 100\r\n\r\n{"na`)
    await reading
    host.timers.advance(21)
    const answer = await text(socket)
    expect(answer).toMatch(/^HTTP\/1\.1 408 /)
    expect(answer).toContain(
      '"problem":"The body did not arrive within 20 ms; send it faster, or in parts","status":408',
    )
  })

  it('above the limit of its route, or of all, is rejected', async () => {
    await using host = await sampleHost({ bodyLimit: 1000 })
    const ask = (url: string, method: 'PUT' | 'POST', size: number) =>
      host.ask({ method, url, payload: JSON.stringify('x'.repeat(size)), headers: json })
    const small = await ask('/sample/small', 'PUT', 20)
    expect([small.statusCode, small.body]).toEqual([413, expect.stringMatching(/exceeds the limit of \d+ bytes/)])
    expect((await ask('/sample/things', 'POST', 20)).statusCode).toBe(400)
    expect((await ask('/sample/things', 'POST', 1000)).json()).toMatchObject({ status: 413 })
  })
})

describe('an address', () => {
  it.each([
    ['/sample/of/%zz', 400],
    [`/sample/of/${'x'.repeat(5000)}`, 414],
  ])('%.20s that is malformed is rejected with our message', async (url, status) => {
    await using host = await sampleHost()
    const answer = await host.ask({ method: 'GET', url })
    expect([answer.statusCode, Object.keys(answer.json<object>())]).toEqual([status, ['statusCode', 'error', 'code']])
  })
})

// Holds MOUNT-1
describe('every route', () => {
  const OPEN = ['/auth/v1/session', '/console', '/docs', '/health', '/live', '/metrics', '/ready', '/sample/open']

  it('requests credentials, except for the few public ones', async () => {
    await using host = await sampleHost()
    const routes = printedRoutes(host.app)
    expect(routes.length).toBeGreaterThan(15)
    const open = new Set<string>()
    for (const { method, url } of routes) {
      const answer = await host.app.inject({ method, url })
      if (answer.statusCode !== 401) open.add(url)
    }
    const odd = [...open].filter((path) => !OPEN.some((one) => path === one || /^\/(?:console|docs)\//.test(path)))
    expect(odd).toEqual([])
    expect([...open]).toEqual(expect.arrayContaining(OPEN))
  })

  it('and so does an unknown path', async () => {
    await using host = await sampleHost()
    expect((await host.app.inject({ method: 'GET', url: '/nowhere' })).statusCode).toBe(401)
  })
})

describe('a host', () => {
  it('starts its services before the first request, notifies them that it closes, then stops them', async () => {
    const host = await sampleHost()
    expect(host.service.life).toEqual(['start'])
    expect(host.service.closing()?.aborted).toBe(false)
    await host.app.close()
    expect(host.service.closing()?.aborted).toBe(true)
    expect(host.service.life).toEqual(['start', 'stop'])
    expect(host.store.closed).toBe(true)
  })

  it('redirects a browser, with or without credentials', async () => {
    await using host = await sampleHost()
    const accept = 'text/html,application/xhtml+xml,*/*;q=0.8'
    const seen = await host.app.inject({ method: 'GET', url: '/', headers: { accept } })
    expect([seen.statusCode, seen.headers.location]).toEqual([302, '/console/'])
    expect((await host.ask({ method: 'GET', url: '/sample/things', headers: { accept } })).statusCode).toBe(200)
    expect((await host.app.inject({ method: 'GET', url: '/', headers: { accept: '*/*' } })).statusCode).toBe(401)
  })

  it('takes over the id of a request when it is harmless in a log', async () => {
    await using host = await sampleHost()
    const ids = ['abc-1', 'a b\n', 'x'.repeat(65)].map(async (id) => {
      const answer = await host.ask({ method: 'GET', url: '/', headers: { 'x-request-id': id } })
      return answer.headers['x-request-id'] === id
    })
    expect(await Promise.all(ids)).toEqual([true, false, false])
  })

  it('limits the requests per second of a key, and reports when to continue', async () => {
    await using host = await sampleHost({ rateLimit: 2 })
    const ask = async () => (await host.ask({ method: 'GET', url: '/' })).statusCode
    expect([await ask(), await ask(), await ask(), await ask(), await ask()]).toEqual([200, 200, 200, 200, 429])
    expect((await host.ask({ method: 'GET', url: '/' })).headers['retry-after']).toBe('1')
    host.clock.now += 500
    expect([await ask(), await ask()]).toEqual([200, 429])
    await host.keyPairs.add({ key: 'other', secret: 'secret', tenant: 'one' })
    const other = await host.app.inject({
      method: 'GET',
      url: '/',
      headers: { authorization: basic('other', 'secret') },
    })
    expect(other.statusCode).toBe(200)
  })
})

it('a request with two Host headers returns 400 on any route', async () => {
  await using host = await sampleHost()
  await host.app.listen()
  const { port } = host.app.server.address() as AddressInfo
  const { authorization } = host.headers
  const ask = async (path: string, hosts: readonly string[]) => {
    const socket = connect(port, '127.0.0.1')
    const lines = [`GET ${path} HTTP/1.1`, ...hosts, `authorization: ${authorization}`, 'connection: close']
    socket.write(`${lines.join('\r\n')}\r\n\r\n`)
    return (await text(socket)).split('\r\n', 1)[0]
  }
  for (const path of ['/', '/sample/things', '/nowhere']) {
    expect(await ask(path, ['Host: a', 'hOST: b'])).toBe('HTTP/1.1 400 Bad Request')
    expect(await ask(path, ['Host: a', 'Host: a'])).toBe('HTTP/1.1 400 Bad Request')
    expect(await ask(path, ['Host: a', 'X-Forwarded-Host: b'])).not.toContain(' 400 ')
  }
})
