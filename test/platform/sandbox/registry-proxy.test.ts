/** Tests the proxy through which tools reach their registries, with the requests that they send. */
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer as createHttpServer, request, type Server } from 'node:http'
import { createServer, type AddressInfo, type Server as SocketServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openRegistryProxy, type RegistryProxy } from '../../../src/platform/sandbox/registry-proxy.ts'

const folder = mkdtempSync(join(tmpdir(), 'registry-proxy-'))
const socket = join(folder, 'direct')
const chained = join(folder, 'chained')
const seen: string[] = []
let proxies: RegistryProxy[] = []
let plain: Server
let echo: SocketServer
let upstream: Server
const portOf = (server: Server | SocketServer): number => (server.address() as AddressInfo).port
const listening = (server: Server | SocketServer): Promise<void> =>
  new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))

beforeAll(async () => {
  plain = createHttpServer((asked, answer) => {
    answer.end(`${asked.method} ${asked.url} ${asked.headers['proxy-authorization'] ?? 'without credentials'}`)
  })
  echo = createServer((one) => one.pipe(one))
  // the operator's proxy
  upstream = createHttpServer()
  upstream.on('connect', ({ url, headers }, near) => {
    seen.push(`${url} ${headers['proxy-authorization']}`)
    if (url === 'gone.example:443') return void near.end('HTTP/1.1 407 No\r\n\r\n')
    near.write('HTTP/1.1 200 OK\r\n\r\n')
    near.pipe(near)
  })
  for (const server of [plain, echo, upstream]) await listening(server)
  const allowed = new Set([
    `127.0.0.1:${portOf(echo)}`,
    `127.0.0.1:${portOf(plain)}`,
    'far.example:443',
    'gone.example:443',
  ])
  proxies = [
    await openRegistryProxy({ socket, allowed }),
    await openRegistryProxy({
      socket: chained,
      allowed,
      upstream: () => new URL(`http://me:p%40ss@127.0.0.1:${portOf(upstream)}`),
    }),
  ]
})
afterAll(async () => {
  for (const one of proxies) await one.close()
  for (const server of [echo, upstream]) server.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Returns the response to one word through a tunnel, or the status if it is refused. */
function tunnelled(place: string, socketPath = socket): Promise<string | number> {
  return new Promise((resolve, reject) => {
    const asked = request({ socketPath, method: 'CONNECT', path: place })
    asked.on('connect', ({ statusCode }, near) => {
      if (statusCode !== 200) return resolve(statusCode ?? 0)
      near.once('data', (bytes: Buffer) => {
        near.destroy()
        resolve(String(bytes))
      })
      near.write('word')
    })
    asked.on('error', reject)
    asked.end()
  })
}
function fetched(path: string, method = 'GET'): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { 'proxy-authorization': 'of the tool' }
    const asked = request({ socketPath: socket, path, method, headers }, (answer) => {
      let text = ''
      answer.on('data', (piece: Buffer) => (text += String(piece)))
      answer.on('end', () => resolve(`${answer.statusCode} ${text}`))
    })
    asked.on('error', reject)
    asked.end()
  })
}

// Holds REGPROXY-1
it('opens a tunnel to allowed hosts and ports only', async () => {
  expect(await tunnelled(`127.0.0.1:${portOf(echo)}`)).toBe('word')
  for (const place of [
    `localhost:${portOf(echo)}`,
    `127.0.0.1:${portOf(upstream)}`,
    '127.0.0.1',
    'far.example:80',
    'far.example:443.evil.example:443',
    '169.254.169.254:80',
    `127.0.0.1:${portOf(echo)}/x`,
  ])
    expect(await tunnelled(place), place).toBe(403)
  expect(proxies[0]?.refused).toContain('169.254.169.254:80')
})

// Holds REGPROXY-1
it('forwards plain requests to allowed hosts, without the headers for the proxy', async () => {
  const port = portOf(plain)
  expect(await fetched(`http://127.0.0.1:${port}/simple/?a=1`)).toBe('200 GET /simple/?a=1 without credentials')
  expect(await fetched(`http://127.0.0.1:${port}/x`, 'POST')).toBe('200 POST /x without credentials')
  for (const path of [
    `http://localhost:${port}/`,
    `http://127.0.0.1:${port}@localhost:${port}/`,
    '/simple/',
    `ftp://127.0.0.1:${port}/`,
  ])
    expect(await fetched(path), path).toMatch(/^403 .* is not an allowed registry of this host/)
})

it("forwards through the operator's own proxy, with its credentials", async () => {
  expect(await tunnelled('far.example:443', chained)).toBe('word')
  expect(seen).toEqual([`far.example:443 Basic ${Buffer.from('me:p@ss').toString('base64')}`])
  expect(await tunnelled('gone.example:443', chained)).toBe(502)
})

it('reports an allowed host that does not respond', async () => {
  const port = portOf(plain)
  await new Promise((resolve) => plain.close(resolve))
  expect(await tunnelled(`127.0.0.1:${port}`)).toBe(502)
  expect(await fetched(`http://127.0.0.1:${port}/`)).toMatch(/^502 .*ECONNREFUSED/)
})
