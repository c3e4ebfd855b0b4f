import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import { type AddressInfo, createServer as createSocketServer } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { createCallUrl } from '../../../plugins/call-url/plug.ts'
import type { OutboundRequest } from '../../../plugins/call-url/transport.ts'
import { nodeTransport, type NodeTransportOptions } from '../../../src/host/transport/node-transport.ts'
import { runPlugLater } from '../../support/plug-context.ts'

const open: { close(): unknown }[] = []
afterEach(() => {
  for (const server of open.splice(0)) server.close()
})

async function serve(answer: RequestListener): Promise<{ port: number; seen: IncomingMessage[] }> {
  const seen: IncomingMessage[] = []
  const server: Server = createServer((request, response) => {
    seen.push(request)
    answer(request, response)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  open.push({ close: () => (server.closeAllConnections(), server.close()) })
  return { port: (server.address() as AddressInfo).port, seen }
}

/** Resolves every name to this machine; `allow` determines which names may be called. */
const here = async () => ['127.0.0.1']
const through = (options: NodeTransportOptions) => nodeTransport({ resolve: here, ...options })
const call = (url: string, options: NodeTransportOptions, more: Record<string, unknown> = {}) =>
  runPlugLater(createCallUrl({ transport: through(options) }), { properties: { method: 'GET', url, ...more } })

function outbound(port: number, more: Partial<OutboundRequest> = {}): OutboundRequest {
  return {
    url: `http://a.example:${port}/`,
    address: '127.0.0.1',
    method: 'GET',
    headers: {},
    body: undefined,
    timeoutMs: 5000,
    maxBytes: 1000,
    signal: new AbortController().signal,
    ...more,
  }
}

describe('callURL on Node', () => {
  it('calls a private host that is allowed by name, with method, headers and body', async () => {
    const { port, seen } = await serve((request, response) => {
      let body = ''
      request.on('data', (chunk) => (body += String(chunk)))
      request.on('end', () =>
        response.end(JSON.stringify({ body, path: request.url, token: request.headers['x-token'] })),
      )
    })
    const ran = await call(
      `http://a.example:${port}/x?y=1`,
      { allow: ['a.example'] },
      { method: 'POST', body: 'ä', headers: { 'X-Token': 't' } },
    )
    expect(ran).toMatchObject({
      state: 'Success',
      rawData: { status: 200, data: { body: 'ä', path: '/x?y=1', token: 't' } },
    })
    expect(seen[0]?.headers.host).toBe(`a.example:${port}`)
  })

  it('uses the resolver of the system by default', async () => {
    const { port } = await serve((_, response) => response.end('here'))
    const transport = nodeTransport({ allow: ['localhost'] })
    const ran = await runPlugLater(createCallUrl({ transport }), {
      properties: { method: 'GET', url: `http://localhost:${port}/` },
    })
    expect(ran.rawData?.['data']).toBe('here')
  })

  it.each(['a.example', 'localhost', '127.0.0.1', '[::ffff:127.0.0.1]', '2130706433', '0x7f.1'])(
    'does not reach %s unless it is allowed',
    async (host) => {
      const { port, seen } = await serve((_, response) => response.end())
      expect((await call(`http://${host}:${port}/`, { allow: ['b.example'] })).state).toBe('Error')
      expect(seen).toEqual([])
    },
  )

  it('checks each redirect, and does not follow one to a private host that is not allowed', async () => {
    const secret = await serve((_, response) => response.end('secret'))
    const { port } = await serve((_, response) =>
      response.writeHead(302, { Location: `http://b.example:${secret.port}/` }).end(),
    )
    const ran = await call(`http://a.example:${port}/`, { allow: ['a.example'] })
    expect(ran.rawData?.['error']).toContain('b.example is not on the public internet')
    expect(secret.seen).toEqual([])
  })

  it('follows redirects that are allowed, without what belongs to another origin, and counts them', async () => {
    const other = await serve((_, response) => response.end('done'))
    const { port, seen } = await serve((_, response) =>
      response.writeHead(307, { Location: `http://a.example:${other.port}/` }).end(),
    )
    const headers = { Authorization: 'Bearer t', Cookie: 'c=1', Accept: 'text/plain' }
    const ran = await call(`http://a.example:${port}/`, { allow: ['a.example'] }, { headers })
    expect(ran.rawData?.['data']).toBe('done')
    expect(seen[0]?.headers).toMatchObject({ authorization: 'Bearer t', cookie: 'c=1' })
    expect(other.seen[0]?.headers).toMatchObject({ accept: 'text/plain' })
    expect(other.seen[0]?.headers).not.toHaveProperty('authorization')
    expect(other.seen[0]?.headers).not.toHaveProperty('cookie')
    const loop = await serve((_, response) => response.writeHead(302, { Location: '/' }).end())
    const round = await call(`http://a.example:${loop.port}/`, { allow: ['a.example'] })
    expect(round.rawData?.['error']).toContain('exceeds the limit of 5 redirects')
    expect(loop.seen).toHaveLength(6)
  })

  it('is not deceived by a name that resolves to another address each time', async () => {
    const { port, seen } = await serve((_, response) => response.end('inside'))
    const answers = [['93.184.216.34'], ['127.0.0.1']]
    const asked: string[] = []
    const sent: OutboundRequest[] = []
    const transport = nodeTransport({ resolve: async (host) => (asked.push(host), answers[asked.length - 1] ?? []) })
    const plug = createCallUrl({
      transport: {
        ...transport,
        send: async (request) => (sent.push(request), { status: 200, statusText: '', body: '' }),
      },
    })
    await runPlugLater(plug, { properties: { method: 'GET', url: `http://rebind.example:${port}/` } })
    // one look-up, whose result is the address that is called
    expect([asked, sent.map(({ address }) => address)]).toEqual([['rebind.example'], ['93.184.216.34']])
    // even if another address had passed the check, the transport would reject the private one
    await expect(transport.send({ ...outbound(port), url: sent[0]?.url ?? '' })).rejects.toThrow(
      'not on the public internet',
    )
    expect(seen).toEqual([])
  })
})

describe('the transport', () => {
  it('never connects to cloud metadata, even if its name is allowed and was public when checked', async () => {
    const transport = nodeTransport({ allow: ['a.example', '0.0.0.0/0'] })
    for (const address of ['169.254.169.254', '::ffff:169.254.169.254', 'fd00:ec2::254'])
      await expect(transport.send(outbound(80, { address }))).rejects.toThrow('cloud metadata address')
  })

  it('connects to the given address without a look-up', async () => {
    const { port } = await serve((_, response) => response.end('x'))
    const transport = nodeTransport({ allow: ['a.example'], resolve: async () => Promise.reject(new Error('asked')) })
    expect(await transport.send(outbound(port))).toMatchObject({ status: 200, body: 'x' })
    const elsewhere = { url: `http://10.0.0.1:${port}/`, address: '127.0.0.1' }
    await expect(transport.send(outbound(port, elsewhere))).rejects.toThrow('not the address')
  })

  it('stops at its size, whether it is announced or not', async () => {
    const told = await serve((_, response) => response.end('x'.repeat(1001)))
    const untold = await serve((_, response) => {
      response.flushHeaders()
      response.end('x'.repeat(1001))
    })
    for (const { port } of [told, untold]) {
      await expect(through({ allow: ['a.example'] }).send(outbound(port))).rejects.toThrow('longer than 1000 bytes')
    }
  })

  it('stops at its time, also when bytes keep coming', async () => {
    const silent = await serve(() => undefined)
    const dripping = await serve((_, response) => {
      response.flushHeaders()
      const drip = () => response.write('x', (error) => (error ? undefined : setImmediate(drip)))
      drip()
    })
    for (const { port } of [silent, dripping]) {
      const request = outbound(port, { timeoutMs: 50, maxBytes: 1e9 })
      await expect(through({ allow: ['a.example'] }).send(request)).rejects.toThrow('TimeoutError')
    }
  })

  it('stops on request', async () => {
    const stop = new AbortController()
    const { port } = await serve(() => stop.abort())
    await expect(through({ allow: ['a.example'] }).send(outbound(port, { signal: stop.signal }))).rejects.toThrow(
      'AbortError',
    )
  })

  it('accepts no compressed answer and no change of protocol, and fails where no server listens', async () => {
    const packed = await serve((_, response) => response.writeHead(200, { 'Content-Encoding': 'gzip' }).end('x'))
    const transport = through({ allow: ['a.example'] })
    await expect(transport.send(outbound(packed.port))).rejects.toThrow('compressed')
    const raw = createSocketServer((socket) => {
      socket.on('error', () => undefined).resume()
      socket.end('HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n')
    })
    await new Promise<void>((done) => raw.listen(0, '127.0.0.1', done))
    const { port } = raw.address() as AddressInfo
    await expect(transport.send(outbound(port))).rejects.toThrow('switched protocols')
    await new Promise((done) => raw.close(done))
    await expect(transport.send(outbound(port))).rejects.toThrow('ECONNREFUSED')
  })
})
