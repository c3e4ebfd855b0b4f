/** Tests that faulty webscripts and clients do not affect others. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Client } from '../../src/client.ts'
import { deployedWebscript, listeningHost, type ListeningHost } from './listening-host.ts'
import { basic } from './sample-host.ts'

let host: ListeningHost
let client: Client
let url = ''
const CODE = `let held = 0
exports.handleRequest = async (req, res) => {
  const step = req.path.slice(1)
  if (step === 'fine') return res.json({ held })
  if (step === 'throws') throw new Error('the inside of it')
  if (step === 'twice') { res.send('first'); res.send('second') }
  if (step === 'late') { res.send('first'); res.set('x-late', '1') }
  if (step === 'status') return res.status(Number(req.query.of)).send('x')
  if (step === 'header') return res.set(req.query.name, req.query.value).send('x')
  if (step === 'many') { for (let n = 0; n < 101; n++) res.set('x-' + n, '1'); return res.send('x') }
  if (step === 'own') return res.set({ 'Content-Length': '7', 'Transfer-Encoding': 'x', Connection: 'close' }).send('four')
  if (step === 'nothing') return undefined
  if (step === 'exit') process.exit(3)
  if (step === 'torn') { res.write('begun '); await new Promise((go) => setTimeout(go, 50)); throw new Error('torn') }
  if (step === 'circle') { const a = {}; a.a = a; return res.json(a) }
  if (step === 'hold') { held++; req.signal.addEventListener('abort', () => held--); await new Promise((go) => req.signal.addEventListener('abort', go)); return res.send('x') }
  if (step === 'endless') { const more = () => { while (res.write('x'.repeat(65536))); res.once('drain', more) }; held++; res.once('close', () => held--); more(); await new Promise((go) => res.once('close', go)) }
}
`

async function deployed(name: string): Promise<string> {
  const manifest = JSON.stringify({ name, version: '1.0.0', runtime: 'web-node24', private: false })
  return (await deployedWebscript(host, { 'webscript.json': manifest, 'index.js': CODE })).url
}

beforeAll(async () => {
  host = await listeningHost()
  client = host.client
  url = await deployed('wrong')
})
afterAll(() => host.stop())

const isFine = async (): Promise<boolean> => (await fetch(`${url}/fine`)).status === 200

describe('a webscript that', () => {
  it.each<[string, string, number, RegExp, RegExp]>([
    ['throws', 'throws', 500, /"The webscript failed"/, /the inside of it/],
    ['answers with an invalid JSON value', 'circle', 500, /"The webscript failed"/, /circular/i],
    ['answers with a status of 99', 'status?of=99', 502, /invalid response/, /the status 99/],
    [
      'has a header with a line break',
      'header?name=x-a&value=1%0d%0aset-cookie:b',
      502,
      /invalid response/,
      /header x-a that is not one/,
    ],
    ['has a header with a wrong name', 'header?name=x%20a&value=1', 502, /invalid response/, /the header name "x a"/],
    ['has too many headers', 'many', 502, /invalid response/, /more than 100 headers/],
    ['ends its process', 'exit', 502, /ended without a response/, /it exited with code 3/],
  ])(
    '%s returns an error, with the reason in its log and in responses to its tenant',
    async (_, step, status, told, logged) => {
      const answer = await fetch(`${url}/${step}`)
      expect([answer.status, await answer.text()]).toEqual([status, expect.stringMatching(told)])
      const { values } = await client.webscripts.log('wrong', { level: 'error', kind: 'response' })
      expect(values[0]?.message).toMatch(logged)
      await expect.poll(isFine).toBe(true)
      const { key, secret } = host.credentials
      const authorization = basic(key, secret)
      const own = (await (await fetch(`${url}/${step}`, { headers: { authorization } })).json()) as { error: string }
      expect(own.error).toMatch(told.source.startsWith('"') ? /^The webscript failed: / : told)
      expect(own.error).toMatch(logged)
      await expect.poll(isFine).toBe(true)
    },
  )

  it('never responds times out', async () => {
    expect((await fetch(`${url}/nothing`)).status).toBe(504)
    expect(await isFine()).toBe(true)
  })

  it('responds twice has a line in its log, and the first response counts', async () => {
    for (const step of ['twice', 'late']) expect(await (await fetch(`${url}/${step}`)).text()).toBe('first')
    expect(await isFine()).toBe(true)
  })

  it('states what only the host can know is not believed', async () => {
    const answer = await fetch(`${url}/own`)
    expect([await answer.text(), answer.headers.get('content-length')]).toEqual(['four', '4'])
  })

  it('fails during a response leaves it visibly incomplete', async () => {
    const answer = await fetch(`${url}/torn`)
    expect(answer.status).toBe(200)
    await expect(answer.text()).rejects.toThrow('terminated')
    expect(await isFine()).toBe(true)
  })
})

describe('a client that', () => {
  // only one process, which counts its calls: an overdue call may have started a second process of the other webscript
  let counted = ''
  beforeAll(async () => {
    counted = await deployed('counted')
  })

  it('sends too much is rejected', async () => {
    const answer = await fetch(`${counted}/fine`, { method: 'POST', body: new Uint8Array(10_485_761) })
    expect(answer.status).toBe(413)
  })

  it('sends an incomplete body gets 400', async () => {
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(`${counted}/fine`, { method: 'POST', body: '{"a":', headers })
    expect([answer.status, await answer.json()]).toEqual([
      400,
      { error: 'The body is not valid JSON', statusCode: 400 },
    ])
  })

  const heldBy = async (): Promise<unknown> => {
    const { held } = (await (await fetch(`${counted}/fine`)).json()) as { readonly held: number }
    return held
  }

  // Holds WEBSCRIPT-5
  it('disconnects cancels its call', async () => {
    const gone = new AbortController()
    const waiting = fetch(`${counted}/hold`, { signal: gone.signal })
    await expect.poll(heldBy).toBe(1)
    gone.abort()
    await expect(waiting).rejects.toThrow(/abort/)
    await expect.poll(heldBy).toBe(0)
  })

  // Holds WEBSCRIPT-4, WEBSCRIPT-5
  it('reads nothing holds the webscript back until it disconnects', async () => {
    const { port, hostname } = new URL(counted)
    const socket = connect(Number(port), hostname)
    await once(socket, 'connect')
    socket.pause()
    socket.write(`GET ${new URL(counted).pathname}/endless HTTP/1.1\r\nhost: x\r\n\r\n`)
    await expect.poll(heldBy).toBe(1)
    const before = process.memoryUsage().rss
    for (let turn = 0; turn < 20; turn++) expect(await heldBy()).toBe(1)
    expect(process.memoryUsage().rss - before).toBeLessThan(64_000_000)
    socket.destroy()
    await expect.poll(heldBy).toBe(0)
  })

  it('names an unknown or stopped webscript gets 404 or 503', async () => {
    expect((await fetch(`${host.url}/api/v1/${'f'.repeat(32)}`)).status).toBe(404)
    expect((await fetch(`${host.url}/api/v1/default/none`)).status).toBe(404)
    expect((await fetch(`${host.url}/api/v1/%ff%fe/x`)).status).toBeGreaterThanOrEqual(400)
    const { webscripts } = client.functions
    const manifest = { name: 'idle', version: '1.0.0', runtime: 'web-node24', private: false }
    const assets = new Map([
      ['webscript.json', new TextEncoder().encode(JSON.stringify(manifest))],
      ['index.js', new TextEncoder().encode('')],
    ])
    await webscripts.create(assets, { deploy: false })
    const answer = await fetch(`${host.url}/api/v1/default/idle`)
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1'])
    expect(await answer.json()).toMatchObject({ error: 'The webscript is not running: its status is registered' })
  })
})

it('what was done is in the log and in the figures', async () => {
  const metrics = await client.webscripts.metrics('wrong')
  expect(metrics.calls).toBeGreaterThan(20)
  expect(metrics.errors).toBeGreaterThan(9)
  expect(metrics.coldStarts).toBeGreaterThan(0)
  expect(metrics.p50).toBeGreaterThan(0)
  expect(metrics.p99).toBeGreaterThanOrEqual(metrics.p50)

  const page = await client.webscripts.log('wrong', { search: 'GET /FINE', limit: 2 })
  expect(page.values.map(({ message, kind }) => [kind, message])).toEqual([
    ['request', 'GET /fine (0 bytes)'],
    ['request', 'GET /fine (0 bytes)'],
  ])
  const older = await client.webscripts.log('wrong', { search: 'GET /FINE', limit: 2, after: page.next ?? 0 })
  expect(older.values[0]?.number).toBeLessThan(page.values[1]?.number ?? 0)
  const over = new AbortController()
  const tail = client.webscripts.tail('wrong', {
    level: 'info',
    after: page.values[0]?.number ?? 0,
    signal: over.signal,
  })
  const seen: string[] = []
  for await (const { kind, message } of tail) {
    seen.push(`${kind} ${message}`)
    if (message === 'GET /throws (0 bytes)') break
    if (seen.length === 1) void fetch(`${url}/throws`)
  }
  over.abort()
  await expect(client.webscripts.log('none')).rejects.toMatchObject({ code: 'NOT_FOUND' })
})
