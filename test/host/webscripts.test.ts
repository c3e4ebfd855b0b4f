/** Tests webscripts in a whole host: uploaded, and called over HTTP. */
import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Client } from '../../src/client.ts'
import { deployedWebscript, listeningHost, type ListeningHost } from './listening-host.ts'
import { basic } from './sample-host.ts'

let host: ListeningHost
let client: Client
beforeAll(async () => {
  host = await listeningHost()
  client = host.client
})
afterAll(() => host.stop())

interface Script {
  readonly name: string
  readonly version?: string
  readonly runtime?: 'web-node24' | 'web-python3'
  readonly private?: boolean
  readonly allowHmac?: boolean
  readonly deploy?: object
  readonly code: string
  readonly more?: Readonly<Record<string, string>>
  readonly draft?: boolean
}

/** Deploys a webscript; returns the id in its addresses, and its secret. */
async function deployed({
  code,
  more = {},
  draft = false,
  ...manifest
}: Script): Promise<{ url: string; secret: string }> {
  const { version = '1.0.0', runtime = 'web-node24' } = manifest
  const main = runtime === 'web-node24' ? 'index.js' : 'main.py'
  const whole = { private: false, ...manifest, version, runtime }
  const files = { 'webscript.json': JSON.stringify(whole), [main]: code, ...more }
  return deployedWebscript(host, files, draft)
}

const ECHO = `module.exports = async (req, res) => {
  res.status(201).set('X-Seen', req.get('x-own') ?? 'nothing').json({
    method: req.method, path: req.path, query: req.query, body: req.body, raw: req.rawBody.length,
    files: req.files.map(({ name, filename, data }) => ({ name, filename, size: data.length })),
    authorization: req.get('authorization') ?? null,
  })
}`

describe('a webscript in JavaScript', () => {
  it('receives the request, and determines the answer', async () => {
    const { url } = await deployed({ name: 'echo', code: ECHO })
    const answer = await fetch(`${url}/deep/p%20ath?a=1&a=2&b=%C3%BC`, { headers: { 'x-own': 'yes' } })
    expect(answer.status).toBe(201)
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'x-seen': 'yes',
      'content-type': 'application/json; charset=utf-8',
      'access-control-allow-origin': '*',
    })
    expect(await answer.json()).toEqual({
      method: 'GET',
      path: '/deep/p ath',
      query: { a: ['1', '2'], b: 'ü' },
      raw: 0,
      files: [],
      authorization: null,
    })
    const sent = async (init: RequestInit): Promise<unknown> => (await fetch(`${url}/`, init)).json()
    const json = { method: 'PUT', body: '{"a":[1]}', headers: { 'content-type': 'application/json' } }
    expect(await sent(json)).toMatchObject({ method: 'PUT', path: '/', body: { a: [1] } })
    expect(await sent({ method: 'POST', body: 'plain text' })).toMatchObject({ body: 'plain text' })
    const latin = { body: new Uint8Array([0xe4]), headers: { 'content-type': 'text/plain; charset=iso-8859-1' } }
    expect(await sent({ method: 'POST', ...latin })).toMatchObject({ body: { type: 'Buffer', data: [0xe4] } })
    const fields = new URLSearchParams({ name: 'x y', list: '1' })
    expect(await sent({ method: 'PATCH', body: fields })).toMatchObject({ body: { name: 'x y', list: '1' } })
    const form = new FormData()
    form.append('field', 'value')
    form.append('photo', new Blob([new Uint8Array(10)]), 'photo.png')
    expect(await sent({ method: 'POST', body: form })).toMatchObject({
      body: { field: 'value' },
      files: [{ name: 'photo', filename: 'photo.png', size: 10 }],
    })
    const bytes = new Uint8Array(2_000_000).fill(255)
    const binary = { method: 'POST', body: bytes, headers: { 'content-type': 'application/octet-stream' } }
    expect(await sent(binary)).toMatchObject({ raw: 2_000_000 })
    expect(await (await fetch(`${host.url}/api/v1/default/echo/by/name`)).json()).toMatchObject({ path: '/by/name' })
    expect(await (await fetch(url)).json()).toMatchObject({ path: '/' })
  })

  it.each<[string, string, object]>([
    ['a function that it exports by default', `export default (req, res) => { res.send('here') }`, { type: 'module' }],
    [
      'an exported handleRequest',
      `export async function handleRequest(req, res) { res.send('here') }`,
      { type: 'module' },
    ],
    ['a default export of a module that nothing calls one', `export default (req, res) => { res.send('here') }`, {}],
    ['exports.handleRequest', `exports.handleRequest = (req, res) => res.send('here')`, {}],
    ['a function that it only declares', `async function handleRequest (req, res) { res.send('here') }`, {}],
    ['a function on the global object', `globalThis.handleRequest = (req, res) => { res.send('here') }`, {}],
    ['a returned value', `export default async () => 'here'`, { type: 'module' }],
    [
      'a Response that it returns',
      `export default () => new Response('here', { headers: { 'content-type': 'text/html; charset=utf-8' } })`,
      { type: 'module' },
    ],
  ])('may have its handler as %s', async (what, code, project) => {
    const name = `form${createHash('sha256').update(what).digest('hex').slice(0, 8)}`
    const { url } = await deployed({ name, code, more: { 'package.json': JSON.stringify(project) } })
    const answer = await fetch(url)
    expect([answer.status, await answer.text()]).toEqual([200, 'here'])
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8')
    // streamed responses have no ETag
    if (what.startsWith('a Response')) return
    const etag = answer.headers.get('etag') ?? ''
    expect(etag).toMatch(/^W\/"4-/)
    const again = await fetch(url, { headers: { 'if-none-match': etag } })
    expect([again.status, await again.text()]).toEqual([304, ''])
  })

  it('redirects, answers bytes, sets no cookies on the origin of the API, and streams', async () => {
    const code = `const { Readable } = require('node:stream')
exports.handleRequest = async (req, res) => {
  if (req.path === '/away') return res.redirect('https://example.com/x')
  if (req.path === '/bytes') return res.send(Buffer.from([0, 255, 10]))
  if (req.path === '/cookies') return res.append('Set-Cookie', ['a=1', 'b=2']).sendStatus(202)
  if (req.path === '/large') return res.type('text').send('x'.repeat(3_000_000))
  if (req.path === '/pipe') return void Readable.from(['one ', 'two ', 'three']).pipe(res.type('text'))
  if (req.path === '/write') { res.type('csv'); res.write('a;b\\n'); res.write('1;2\\n'); return res.end('3;4\\n') }
  res.status(204).end()
}`
    const { url } = await deployed({ name: 'ways', code })
    const away = await fetch(`${url}/away`, { redirect: 'manual' })
    expect([away.status, away.headers.get('location')]).toEqual([302, 'https://example.com/x'])
    const bytes = await fetch(`${url}/bytes`)
    expect([...new Uint8Array(await bytes.arrayBuffer())]).toEqual([0, 255, 10])
    const cookies = await fetch(`${url}/cookies`)
    // The API's origin stores no cookies of tenants.
    expect([cookies.status, cookies.headers.getSetCookie()]).toEqual([202, []])
    expect((await (await fetch(`${url}/large`)).text()).length).toBe(3_000_000)
    expect(await (await fetch(`${url}/pipe`)).text()).toBe('one two three')
    const written = await fetch(`${url}/write`)
    expect([written.headers.get('content-type'), await written.text()]).toEqual([
      'text/csv; charset=utf-8',
      'a;b\n1;2\n3;4\n',
    ])
    expect((await fetch(`${url}/`)).status).toBe(204)
    const head = await fetch(`${url}/large`, { method: 'HEAD' })
    expect([head.status, await head.text()]).toEqual([200, ''])
  })

  it('reaches the API as its tenant, and nothing else of the host', async () => {
    const code = `export default async (req, res) => {
  await client.resources.resources.create({ id: 'pump-1', name: 'Pump' })
  await waylay.resources.update('pump-1', { floor: 2 })
  await waylay.data.postSeries('pump-1', { level: 7 })
  const refused = await client.rules.tasks.get('none').catch((error) => error.code)
  const raw = await fetch('http://127.0.0.1:1').catch((error) => error.message)
  res.json({ pump: await waylay.resources.get('pump-1'), level: (await waylay.data.getCurrent('pump-1')).level, refused, raw, env: { ...process.env } })
}`
    const { url } = await deployed({
      name: 'inside',
      code,
      deploy: { envVars: { PLACE: 'cellar' } },
      more: { 'package.json': '{"type":"module"}' },
    })
    const answer = await (await fetch(url)).json()
    expect(answer).toMatchObject({
      pump: { id: 'pump-1', name: 'Pump', floor: 2 },
      level: 7,
      refused: 'NOT_FOUND',
      raw: expect.stringContaining('not on the public internet') as unknown,
      env: { PLACE: 'cellar' },
    })
  })
})

it('a function in JavaScript finds how much memory it has', async () => {
  const code = `export default () => [process.memoryUsage().heapUsed, process.memoryUsage.rss()].every((one) => one > 1e6)`
  const { url } = await deployed({ name: 'memory', code })
  expect(await (await fetch(url)).json()).toBe(true)
})

describe('a webscript in Python', () => {
  it('receives the request, and determines the answer', async () => {
    const code = `from starlette.responses import JSONResponse, RedirectResponse, StreamingResponse
from starlette.exceptions import HTTPException
from reflexarc import console

async def execute(request, waylay):
    console.info("at %s", request.path)
    if request.path == "/missing":
        raise HTTPException(404, "no such thing")
    if request.path == "/away":
        return RedirectResponse("https://example.com/x")
    if request.path == "/bytes":
        return b"\\x00\\xff"
    if request.path == "/stream":
        async def pieces():
            for n in range(3):
                yield f"{n} "
        return StreamingResponse(pieces(), media_type="text/plain")
    if request.path == "/form":
        form = await request.form()
        return {name: one if isinstance(one, str) else [one.filename, (await one.read()).decode()] for name, one in form.items()}
    if request.path == "/api":
        await waylay.data.post_series("pump-2", {"level": 8})
        return await waylay.request("GET", "/resources/pump-2/current")
    body = await request.json() if request.method == "POST" else None
    return JSONResponse({"method": request.method, "query": dict(request.query_params), "own": request.headers.get("X-Own"), "body": body}, 201, {"x-seen": "yes"})
`
    const { url } = await deployed({ name: 'snake', runtime: 'web-python3', code })
    const answer = await fetch(`${url}/a?x=1`, { method: 'POST', body: '{"b":2}', headers: { 'x-own': 'o' } })
    expect([answer.status, answer.headers.get('x-seen')]).toEqual([201, 'yes'])
    expect(await answer.json()).toEqual({ method: 'POST', query: { x: '1' }, own: 'o', body: { b: 2 } })
    const missing = await fetch(`${url}/missing`)
    expect([missing.status, await missing.json()]).toEqual([404, { error: 'no such thing', statusCode: 404 }])
    expect((await fetch(`${url}/away`, { redirect: 'manual' })).status).toBe(307)
    expect([...new Uint8Array(await (await fetch(`${url}/bytes`)).arrayBuffer())]).toEqual([0, 255])
    expect(await (await fetch(`${url}/stream`)).text()).toBe('0 1 2 ')
    const form = new FormData()
    form.append('field', 'value')
    form.append('file', new Blob(['inside']), 'a.txt')
    expect(await (await fetch(`${url}/form`, { method: 'POST', body: form })).json()).toEqual({
      field: 'value',
      file: ['a.txt', 'inside'],
    })
    expect(await (await fetch(`${url}/api`)).json()).toMatchObject({ level: 8 })
    expect((await fetch(`${url}/`, { method: 'POST', body: '{torn' })).status).toBe(400)
  })
})

describe('a function in Python', () => {
  it.each<[string, string, string]>([
    ['request', 'def execute(request): return request.path', '/p'],
    ['request, and a name of its own for the client', 'async def execute(r, api): return type(api).__name__', 'Client'],
    ['the client before the request', 'def execute(waylay, request): return request.path', '/p'],
    [
      'a default',
      'def execute(request, retries=3, *, client): return f"{retries} {type(client).__name__}"',
      '3 Client',
    ],
    ['all of it', 'def execute(*given, **named): return str(len(given))', '4'],
    ['a logger of Python', 'def execute(request, logger): logger.exception("x"); return logger.name', 'function'],
    ['a method', 'class A:\n  def run(self, request): return request.path\nexecute = A().run', '/p'],
    ['where its files are', 'def execute(request): return open("main.py").read()[:3]', 'def'],
  ])('takes %s', async (what, code, text) => {
    const name = `takes${createHash('sha256').update(what).digest('hex').slice(0, 8)}`
    const { url } = await deployed({ name, runtime: 'web-python3', code })
    expect(await (await fetch(`${url}/p`)).text()).toBe(text)
  })

  it('with an unknown parameter does not run, and reports the known ones', async () => {
    const { webscripts } = client.functions
    const texts = {
      'webscript.json': JSON.stringify({ name: 'more', version: '1.0.0', runtime: 'web-python3' }),
      'main.py': 'def execute(request, client, console, logger, database): pass',
    }
    const files = Object.entries(texts).map(([path, text]) => [path, new TextEncoder().encode(text)] as const)
    const { job } = await webscripts.create(new Map(files))
    await webscripts.jobs.finished(job?.id ?? '')
    const { status, record } = await webscripts.get('more', '1.0.0')
    expect([status, record['failureReason']]).toEqual([
      'unhealthy',
      expect.objectContaining({
        cause: 'it did not start: TypeError: execute takes database; it may take request, client, console, logger',
      }),
    ])
  })
})

// Holds WEBSCRIPT-1, WEBSCRIPT-3
describe('a private webscript', () => {
  it('is called with its secret or a key of its tenant alone', async () => {
    const { url, secret } = await deployed({ name: 'private', private: true, code: ECHO })
    const status = async (query = '', authorization?: string): Promise<number> => {
      return (await fetch(`${url}/x${query}`, { headers: { ...(authorization && { authorization }) } })).status
    }
    expect(await status()).toBe(401)
    expect(await status('', `hmac-sha256 ${secret}`)).toBe(201)
    expect(await status(`?secret=${encodeURIComponent(secret)}`)).toBe(201)
    expect(await status('', basic('k', 'a-secret'))).toBe(201)
    expect(await status('', 'hmac-sha256 x')).toBe(403)
    expect((await fetch(`${host.url}/api/v1/${'0'.repeat(32)}/x`)).status).toBe(404)

    const shown = await fetch(`${url}/x?secret=${encodeURIComponent(secret)}&a=1`)
    expect(await shown.json()).toMatchObject({ query: { a: '1' } })
    const byHeader = await fetch(`${url}/x`, { headers: { authorization: `hmac-sha256 ${secret}` } })
    expect(await byHeader.json()).toMatchObject({ authorization: null })
  })

  it('answers preflight requests of any origin', async () => {
    const { url } = await deployed({ name: 'browsed', private: true, code: ECHO })
    const headers = { 'access-control-request-method': 'PUT', 'access-control-request-headers': 'authorization' }
    const answer = await fetch(url, { method: 'OPTIONS', headers })
    expect([answer.status, Object.fromEntries(answer.headers)]).toMatchObject([
      204,
      { 'access-control-allow-origin': '*', 'access-control-allow-headers': 'authorization' },
    ])
  })
})

// Holds WEBSCRIPT-2
it('the newest published version is called, another one by its name, and a draft by its version alone', async () => {
  const saying = (text: string): string => `exports.handleRequest = (req, res) => res.send('${text}')`
  const { url } = await deployed({ name: 'versions', version: '1.0.0', code: saying('one') })
  await deployed({ name: 'versions', version: '1.1.0', code: saying('one.one') })
  await deployed({ name: 'versions', version: '2.0.0', code: saying('two'), draft: true })
  const said = async (version?: string): Promise<string> => {
    const answer = await fetch(url, { headers: { ...(version && { 'x-webscript-version': version }) } })
    return answer.status === 200 ? answer.text() : String(answer.status)
  }
  expect(await said()).toBe('one.one')
  expect(await said('latest')).toBe('one.one')
  expect(await said('*')).toBe('one.one')
  expect(await said('1.0.0')).toBe('one')
  expect(await said('~1.0')).toBe('one')
  expect(await said('2.0.0')).toBe('two')
  expect(await said('^2')).toBe('404')
  expect(await said('nonsense')).toBe('404')
})

describe('webscripts by their name', () => {
  it('are created from a script, read, replaced and removed', async () => {
    const { webscripts } = client
    const done = async (operation: { readonly id: string } | undefined): Promise<void> => {
      await expect
        .poll(() => webscripts.operation(operation?.id ?? ''))
        .toMatchObject({ state: 'completed', name: 'typed' })
    }
    const script = `module.exports = (req, res) => res.send(process.env.SAYS + ' one')`
    const created = await webscripts.create({ name: 'typed', script, envVars: { SAYS: 'version' } })
    expect(created).toMatchObject({
      name: 'typed',
      version: '1.0.0',
      operation: { href: expect.any(String) as unknown },
    })
    await done(created.operation)
    const info = await webscripts.get('typed')
    expect(info).toMatchObject({ status: 'running', private: true, href: `${host.url}/api/v1/default/typed` })
    const call = async (secret = info.secret ?? '') => {
      const answer = await fetch(info.href, { headers: { authorization: `hmac-sha256 ${secret}` } })
      return answer.status === 200 ? answer.text() : answer.status
    }
    expect(await call()).toBe('version one')

    const replaced = await webscripts.replace('typed', {
      script: script.replace('one', 'two'),
      envVars: { SAYS: 'now' },
    })
    expect(replaced).toMatchObject({ version: '1.0.1' })
    await done(replaced.operation)
    // the secret of an earlier version remains valid after a new version
    expect(await call()).toBe('now two')
    const newer = await webscripts.get('typed', '1.0.1')
    expect(await call(newer.secret)).toBe('now two')
    expect((await webscripts.list()).map(({ name }) => name)).toContain('typed')

    const removed = await webscripts.remove('typed', '1.0.0')
    await done(removed.operation)
    // it becomes invalid when its version is removed
    expect(await call()).toBe(403)
    expect(await call(newer.secret)).toBe('now two')
    const headers = { authorization: basic('k', 'a-secret') }
    expect((await fetch(`${host.url}/api/v1/webscripts/typed`, { method: 'HEAD', headers })).status).toBe(200)
    expect((await fetch(`${host.url}/api/v1/webscripts/nothing`, { method: 'HEAD', headers })).status).toBe(404)
    expect((await fetch(`${host.url}/functions/v1/default/typed`, { headers })).status).toBe(200)
  })
})
