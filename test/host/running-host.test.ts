/** Tests what needs a real socket: addresses in use, requests in flight while the host stops, and broken requests. */
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { once } from 'node:events'
import { get } from 'node:http'
import { describe, expect, it, vi } from 'vitest'
import { HOST_TENANT } from '../../src/host/auth/host-tenant.ts'
import { KEY_RECORDS } from '../../src/host/auth/api-keys.ts'
import { readConfig, type Given } from '../../src/host/config.ts'
import { startHost, STOP_PATIENCE } from '../../src/host/running-host.ts'
import { until } from '../support/until.ts'
import { HandTimers } from './hand-timers.ts'
import { basic } from './sample-host.ts'
import { sampleService } from './sample-service.ts'
import { smallStore } from './small-store.ts'

function starting(given: Given = {}) {
  const service = sampleService()
  const store = smallStore()
  const log: string[] = []
  const opened = vi.fn(async () => store)
  const timers = new HandTimers()
  const started = vi.fn<() => void>()
  const making = { services: new Map([['sample', () => service]]), openStorage: opened, hashCost: 2, timers, started }
  const config = readConfig({ port: 0, store: 'memory:', key: 'k', secret: 's', ...given }, {}, ['sample'])
  return {
    service,
    store,
    log,
    opened,
    timers,
    started,
    start: (hear?: (line: string) => void) => {
      const write = (line: string) => {
        log.push(line)
        hear?.(line)
      }
      return startHost(config, { write }, making)
    },
  }
}
const headers = { authorization: basic('k', 's') }

async function raw(url: string, text: string): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.write(text)
  let answer = ''
  socket.setEncoding('utf8').on('data', (part: string) => (answer += part))
  await once(socket, 'close')
  return answer
}

describe('a host that stops', () => {
  it('reports what it waits for: first requests, then each service and the store', async () => {
    const { start, service } = starting()
    const host = await start()
    const answer = once(get(`${host.url}/sample/slow`, { headers }), 'response')
    await until(() => service.waiting() === 1)
    let end: () => void = () => undefined
    service.stop = () => new Promise<void>((resolve) => (end = resolve))
    const stopped = host.stop()
    expect(host.left()).toBe('requests are still in progress')
    service.release()
    await answer
    await until(() => host.left() === 'the service sample has not ended')
    end()
    await stopped
    expect(host.left()).toBe('the store has not ended')
  })
})

describe('a host that listens', () => {
  it('knows the pair that it was given before it answers requests', async () => {
    const { start, store } = starting()
    let found: Promise<unknown> | undefined
    const host = await start((line) => {
      if (line.includes('Server listening')) found = store.tenant(HOST_TENANT).collection(KEY_RECORDS).get('k')
    })
    expect(await found).toMatchObject({ value: { tenant: 'default' } })
    await host.stop()
  })

  it('has finished its start once its services exist, before it answers requests', async () => {
    const { start, started, service, log } = starting()
    let seen: unknown
    started.mockImplementation(() => (seen = { life: [...service.life], log: [...log] }))
    const host = await start()
    expect(seen).toEqual({ life: ['start'], log: [] })
    expect(log.join('\n')).toContain('Server listening')
    await host.stop()
  })

  it('finishes its work on a request to stop, accepts nothing new, then releases everything', async () => {
    const { start, service, store } = starting()
    const host = await start()
    const slow = fetch(`${host.url}/sample/slow`, { headers })
    await until(() => service.waiting() === 1)
    const stopped = host.stop()
    await until(() => service.closing()?.aborted === true)
    await until(() =>
      fetch(`${host.url}/health`).then(
        () => false,
        () => true,
      ),
    )
    expect([store.closed, service.life]).toEqual([false, ['start']])
    service.release()
    expect(await (await slow).json()).toEqual({ done: true })
    // `stop` returns although the connection is kept alive: the timer that would cut it never fires
    await stopped
    expect([store.closed, service.life]).toEqual([true, ['start', 'stop']])
  })

  it('rejects requests on a persistent connection, in the format of their service', async () => {
    const { start, service } = starting()
    const host = await start()
    const socket = connect(Number(new URL(host.url).port), '127.0.0.1')
    const got: string[] = []
    socket.on('data', (bytes) => void got.push(bytes.toString()))
    const ask = (path: string) =>
      socket.write(`GET ${path} HTTP/1.1\r\nhost: a\r\nauthorization: ${headers.authorization}\r\n\r\n`)
    ask('/sample/slow')
    await until(() => service.waiting() === 1)
    const stopped = host.stop()
    await until(() => service.closing()?.aborted === true)
    ask('/sample/things')
    service.release()
    await until(() => got.join('').includes('503'))
    expect(got.join('')).toContain('{"problem":"The host is stopping; try again in a moment","status":503,"paths":[]}')
    socket.destroy()
    await stopped
  })

  it('ends streams of events, whole, whether they began just now or long ago', async () => {
    const { start, timers } = starting({ timeLimit: 20 })
    const host = await start()
    const open = async () => {
      const answer = await fetch(`${host.url}/sample/events`, { headers })
      const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader()
      expect((await reader?.read())?.value).toBe('data: here\n\n')
      return reader
    }
    const early = await open()
    timers.advance(100)
    const late = await open()
    await host.stop()
    expect([await early?.read(), await late?.read()]).toMatchObject([{ done: true }, { done: true }])
  })

  it('is not delayed by idle connections', async () => {
    const host = await starting().start()
    const idle = connect(Number(new URL(host.url).port), '127.0.0.1')
    await once(idle, 'connect')
    await host.stop()
    expect(host.app.server.listening).toBe(false)
    idle.destroy()
  })

  it.each([
    ['half a request', 'GET /health HTTP/1.1\r\nhost: a\r\n'],
    [
      'a request that is never answered',
      `GET /sample/slow HTTP/1.1\r\nhost: a\r\nauthorization: ${headers.authorization}\r\n\r\n`,
    ],
  ])('cuts off %s when it has waited long enough', async (_what, text) => {
    const { start, service, store, timers } = starting()
    const host = await start()
    const arrived = new Promise<Socket>((resolve) => host.app.server.once('connection', resolve))
    const socket = connect(Number(new URL(host.url).port), '127.0.0.1')
    socket.write(text)
    const held = await arrived
    await until(() => held.bytesRead === text.length)
    const stopped = host.stop()
    await until(() => service.closing()?.aborted === true)
    timers.advance(STOP_PATIENCE - 1)
    expect([held.destroyed, store.closed]).toEqual([false, false])
    timers.advance(1)
    await stopped
    expect([held.destroyed, store.closed]).toEqual([true, true])
    socket.destroy()
  })

  it.each([
    ['no HTTP', 'hello\r\n\r\n', 400],
    ['headers without end', `GET / HTTP/1.1\r\nhost: a\r\nx: ${'y'.repeat(40_000)}\r\n\r\n`, 431],
    ['a body of another length', 'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: x\r\n\r\n', 400],
  ])('responds to %s in JSON', async (_what, text, status) => {
    const host = await starting().start()
    const answer = await raw(host.url, text)
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
    expect(JSON.parse(answer.slice(answer.indexOf('{')))).toMatchObject({ statusCode: status })
    await host.stop()
  })
})

describe('an address', () => {
  it('that is taken is one clear error, before the store is opened', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    const { port } = taken.address() as AddressInfo
    const { start, opened } = starting({ port })
    await expect(start()).rejects.toThrow(
      expect.objectContaining({
        code: 'LISTEN',
        message: `Cannot listen on 127.0.0.1:${port}: the port is in use; choose another --port, or 0 for any free port`,
      }),
    )
    expect(opened).not.toHaveBeenCalled()
    taken.close()
  })

  it('that this machine does not have, too', async () => {
    const { start } = starting({ host: '192.0.2.1' })
    await expect(start()).rejects.toThrow(/^Cannot listen on 192\.0\.2\.1:0: this machine does not have that address/)
  })
})

describe('a start that fails', () => {
  it('releases the store', async () => {
    const { start, service, store } = starting()
    service.start = () => Promise.reject(new Error('no template can be read'))
    await expect(start()).rejects.toThrow('no template can be read')
    expect([store.closed, service.life]).toEqual([true, ['stop']])
  })

  it('because a key belongs to another tenant names it', async () => {
    const first = starting()
    await (await first.start()).stop()
    const second = starting({ tenant: 'other' })
    Object.assign(second.store, { tenant: first.store.tenant })
    await expect(second.start()).rejects.toThrow(
      '--key: the key "k" belongs to the tenant "default"; choose another key',
    )
    expect(second.store.closed).toBe(true)
  })
})

describe('the first pair', () => {
  it('is made on the first start only', async () => {
    const given = { key: undefined, secret: undefined }
    const first = starting(given)
    const host = await first.start()
    await host.stop()
    expect(host.first).toMatchObject({ origin: 'made', pair: { tenant: 'default' } })
    const again = starting(given)
    Object.assign(again.store, { tenant: first.store.tenant })
    const restarted = await again.start()
    await restarted.stop()
    expect(restarted.first.origin).toBe('found')
  })

  it('gets a new secret when set again', async () => {
    const first = starting()
    await (await first.start()).stop()
    const again = starting({ secret: 'new' })
    Object.assign(again.store, { tenant: first.store.tenant })
    const host = await again.start()
    const ask = async (secret: string) =>
      (await fetch(`${host.url}/`, { headers: { authorization: basic('k', secret) } })).status
    expect([await ask('new'), await ask('s')]).toEqual([200, 401])
    await host.stop()
  })
})
