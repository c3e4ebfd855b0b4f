// Holds TLS-3
/** Devices that show a certificate instead of a secret, over HTTPS and MQTT. */
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { text } from 'node:stream/consumers'
import { connectAsync, type IClientOptions } from 'mqtt'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { readConfig, type Given } from '../../../src/host/config.ts'
import { startHost } from '../../../src/host/running-host.ts'
import { SERVICES } from '../../../src/host/wiring/service-table.ts'
import { HandTimers } from '../hand-timers.ts'
import { basic } from '../sample-host.ts'
import { PEM } from '../tls-files.ts'

const FILES = { tlsCert: PEM('server.pem'), tlsKey: PEM('server.key'), tlsClientCa: PEM('ca.pem') }
const certificateOf = (name: string, key = name) => ({ cert: PEM.text(`${name}.pem`), key: PEM.text(`${key}.key`) })
/** Certificate of boiler-1 */
const DEVICE = certificateOf('device')
const ADMIN = { headers: { authorization: basic('k', 's') } }

let host: Awaited<ReturnType<typeof started>>
beforeEach(async () => {
  host = await started()
})
afterEach(() => host.stop())

async function started(given: Given = {}) {
  const timers = new HandTimers()
  const log: string[] = []
  const base = { store: 'memory:', port: 0, mqtts: 0, key: 'k', secret: 's', empty: true, logLevel: 'warn', ...FILES }
  const config = readConfig({ ...base, only: 'broker,resources', ...given }, {}, [...SERVICES.keys()])
  const host = await startHost(config, { write: (line) => void log.push(line) }, { hashCost: 2, timers })
  return { ...host, timers, log, mqtts: host.also[0] ?? '' }
}

interface Shown {
  readonly cert?: string
  readonly key?: string
  readonly headers?: Readonly<Record<string, string>>
}

async function send(method: string, path: string, options: Shown = {}, body?: unknown) {
  const headers = { ...(body !== undefined && { 'content-type': 'application/json' }), ...options.headers }
  const ca = PEM.text('ca.pem')
  const sent = request(`${host.url}${path}`, { method, ca, agent: false, ...options, headers })
  sent.end(body === undefined ? undefined : JSON.stringify(body))
  const [answer] = (await once(sent, 'response')) as [IncomingMessage]
  return { status: answer.statusCode, body: await text(answer) }
}

const post = (resource: string, options: Shown) => send('POST', `/resources/${resource}/events`, options, { t: 1 })

async function keyFor(...ids: readonly string[]): Promise<{ readonly key: string; readonly secret: string }> {
  const { body } = await send('POST', '/auth/v1/keys', ADMIN, { scopes: ['device'], resources: { ids } })
  return JSON.parse(body) as { key: string; secret: string }
}

const mqtt = (more: IClientOptions) =>
  connectAsync(host.mqtts, { ca: PEM.text('ca.pem'), protocolVersion: 5, reconnectPeriod: 0, ...more }, false)

describe('a device whose certificate names its resource', () => {
  it('publishes its own data over HTTPS, and nothing else', async () => {
    await keyFor('boiler-1')
    expect((await post('boiler-1', DEVICE)).status).toBe(200)
    expect((await post('other', DEVICE)).status).toBe(403)
    expect((await send('GET', '/resources/boiler-1/current', DEVICE)).body).toContain('The scope read is missing')
  })

  it('publishes its own data over MQTT, and nothing else', async () => {
    await keyFor('boiler-1')
    const client = await mqtt(DEVICE)
    await client.publishAsync('resources/boiler-1/events', '{"t":1}', { qos: 1 })
    await expect(client.publishAsync('resources/other/events', '{"t":1}', { qos: 1 })).rejects.toMatchObject({
      code: 0x87,
    })
    await client.endAsync()
  })

  it('opens the socket of its resource', async () => {
    await keyFor('boiler-1')
    const socket = new WebSocket(`${host.url.replace('http', 'ws')}/resources/boiler-1/events`, {
      ca: PEM.text('ca.pem'),
      ...DEVICE,
    })
    await once(socket, 'open')
    expect(socket.readyState).toBe(WebSocket.OPEN)
    socket.terminate()
  })

  it('is disconnected within a second when its key is removed', async () => {
    const { key } = await keyFor('boiler-1')
    const client = await mqtt(DEVICE)
    const closed = new Promise<void>((resolve) => client.once('close', resolve))
    await send('DELETE', `/auth/v1/keys/${key}`, ADMIN)
    host.timers.advance(1_000)
    await closed
    expect((await post('boiler-1', DEVICE)).status).toBe(401)
  })

  it('needs no certificate if it shows its secret', async () => {
    const { key, secret } = await keyFor('boiler-1')
    expect((await post('boiler-1', { headers: { authorization: basic(key, secret) } })).status).toBe(200)
    await (await mqtt({ username: key, password: secret })).endAsync()
    expect((await post('boiler-1', {})).status).toBe(401)
  })
})

describe('a certificate is refused, and the log has the reason,', () => {
  it.each([
    ['that has expired', certificateOf('expired'), 'CN=expired: it has expired'],
    ['of another CA', certificateOf('stranger', 'device'), 'CN=boiler-1: it is not signed by a CA of --tls-client-ca'],
  ])('%s', async (_what, certificate, reason) => {
    await keyFor('boiler-1')
    await expect(post('boiler-1', certificate)).rejects.toMatchObject({ code: expect.any(String) as unknown })
    await expect(mqtt(certificate)).rejects.toBeInstanceOf(Error)
    expect(host.log.join('')).toContain(reason)
  })

  it('without a device key', async () => {
    const reason = 'The certificate names boiler-1, which has no device key'
    expect((await post('boiler-1', DEVICE)).body).toContain(reason)
    await expect(mqtt(DEVICE)).rejects.toMatchObject({ code: 0x86 })
    expect(host.log.join('')).toContain(reason)
  })

  it('for a key that may do more than a device', async () => {
    await send('POST', '/auth/v1/keys', ADMIN, { scopes: ['device', 'operate'] })
    expect((await post('k', certificateOf('server'))).status).toBe(401)
  })

  it('beside the secret of another device', async () => {
    await keyFor('boiler-1')
    const { key, secret } = await keyFor('boiler-2')
    const { status, body } = await post('boiler-2', { ...DEVICE, headers: { authorization: basic(key, secret) } })
    expect([status, body]).toEqual([401, expect.stringContaining('The certificate is that of another key')])
    await expect(mqtt({ ...DEVICE, username: key, password: secret })).rejects.toMatchObject({ code: 0x86 })
    expect(host.log.join('')).toContain('The certificate is that of another key')
  })
})

it('a file that is not a certificate stops the start', async () => {
  await expect(started({ tlsClientCa: PEM('device.key') })).rejects.toThrow('--tls-client-ca: ')
})
