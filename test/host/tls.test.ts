import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { get, type RequestOptions } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { IncomingMessage } from 'node:http'
import type { TLSSocket } from 'node:tls'
import { connectAsync } from 'mqtt'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { readConfig, type Given } from '../../src/host/config.ts'
import { startHost } from '../../src/host/running-host.ts'
import { SERVICES } from '../../src/host/wiring/service-table.ts'
import { HandTimers } from './hand-timers.ts'
import { basic } from './sample-host.ts'
import { PEM } from './tls-files.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'reflexarc-tls-'))
  put('server')
})
afterEach(() => rmSync(folder, { recursive: true }))

function put(name: string): void {
  copyFileSync(PEM(`${name}.pem`), join(folder, 'tls.crt'))
  copyFileSync(PEM(`${name}.key`), join(folder, 'tls.key'))
}

async function started(more: Given = {}) {
  const timers = new HandTimers()
  const files = { tlsCert: join(folder, 'tls.crt'), tlsKey: join(folder, 'tls.key') }
  const given = {
    store: 'memory:',
    port: 0,
    key: 'k',
    secret: 's',
    empty: true,
    logLevel: 'silent',
    only: 'broker,objects',
  }
  const config = readConfig({ ...given, ...files, ...more }, {}, [...SERVICES.keys()])
  const host = await startHost(config, { write: () => undefined }, { hashCost: 2, timers })
  onTestFinished(() => host.stop())
  return { ...host, timers }
}

async function fetched(url: string, options: RequestOptions = {}) {
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const headers = { authorization: basic('k', 's') }
    get(url, { headers, ca: PEM.text('ca.pem'), agent: false, ...options }, resolve).once('error', reject)
  })
  const name = (answer.socket as TLSSocket).getPeerCertificate().subject.CN
  return { status: answer.statusCode, name, body: await text(answer) }
}

describe('a host with a certificate', () => {
  it('serves HTTPS, links to it, and reports it', async () => {
    const { url } = await started()
    expect(url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/)
    const { status, body } = await fetched(`${url}/storage/v1/bucket/assets/a.txt?sign=PUT`)
    expect([status, body]).toEqual([200, expect.stringContaining(`"href":"${url}/reflexarc-ws-assets-default/a.txt?`)])
    await expect(fetch(url.replace('https', 'http'))).rejects.toThrow('fetch failed')
  })

  it('uses a replaced certificate for the next connection', async () => {
    const { url, timers } = await started()
    expect((await fetched(`${url}/live`)).name).toBe('server')
    put('renewed')
    timers.advance(5_000)
    await expect.poll(async () => (await fetched(`${url}/live`)).name).toBe('renewed')
  })

  it.each([
    ['that has expired', 'expired', {}, 'CERT_HAS_EXPIRED'],
    ['of another name', 'server', { servername: 'iot.example.com' }, 'ERR_TLS_CERT_ALTNAME_INVALID'],
    ['of an unknown CA', 'server', { ca: undefined }, 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
  ])('is rejected by clients for a certificate %s', async (_what, name, options, code) => {
    put(name)
    const { url } = await started()
    await expect(fetched(`${url}/live`, options)).rejects.toMatchObject({ code })
  })

  it('speaks MQTT over TLS beside MQTT', async () => {
    const { url, also } = await started({ mqtt: 0, mqtts: 0, mqttHost: 'localhost' })
    expect(also.map((one) => one.replace(/\d+$/, 'PORT'))).toEqual(['mqtt://localhost:PORT', 'mqtts://localhost:PORT'])
    for (const [at, address] of also.entries()) {
      const ca = PEM.text('ca.pem')
      const client = await connectAsync(address, { username: 'k', password: 's', reconnectPeriod: 0, ca })
      await client.publishAsync(`resources/boiler-${at}/events`, '{"t":1}', { qos: 1 })
      await client.endAsync()
      const { body } = await fetched(`${url}/resources/boiler-${at}/current`)
      expect(JSON.parse(body)).toMatchObject({ t: 1 })
    }
    const refused = connectAsync(also[1] ?? '', { username: 'k', password: 's', reconnectPeriod: 0 }, false)
    await expect(refused).rejects.toMatchObject({ code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' })
  })
})
