import { describe, expect, it } from 'vitest'
import { sampleHost } from './sample-host.ts'

describe('GET /health', () => {
  it('is ok without credentials while the store responds', async () => {
    await using host = await sampleHost()
    const answer = await host.app.inject({ method: 'GET', url: '/health', remoteAddress: '10.0.0.1' })
    expect([answer.statusCode, answer.json()]).toEqual([200, { status: 'ok' }])
  })

  it('is 503 when it does not, and the log explains why', async () => {
    await using host = await sampleHost()
    host.store.broken = true
    const answer = await host.app.inject({ method: 'GET', url: '/health' })
    expect([answer.statusCode, answer.json()]).toEqual([503, { status: 'failing' }])
    expect(host.log.join('')).toContain('the disk is gone')
  })

  it('is 503 when the store can be read and not written', async () => {
    await using host = await sampleHost()
    const health = async () => (await host.app.inject({ method: 'GET', url: '/health' })).statusCode
    expect(await health()).toBe(200)
    host.store.full = true
    host.clock.now += 5_000
    expect(await health()).toBe(503)
    host.store.full = false
    host.clock.now += 5_000
    expect(await health()).toBe(200)
  })

  it('writes at most every five seconds for any number of requests', async () => {
    await using host = await sampleHost()
    const versions = async () =>
      (await host.store.tenant('_host').collection({ name: 'probes', version: 1, fields: {} }).get('health'))?.version
    for (let i = 0; i < 5; i++) await host.app.inject({ method: 'GET', url: '/health' })
    expect(await versions()).toBe(1)
  })
})

describe('the probes', () => {
  it.each([
    ['/live', 200, { status: 'ok' }],
    ['/ready', 503, { status: 'failing' }],
    ['/health', 503, { status: 'failing' }],
  ])('%s is %s while the store is broken', async (url, status, body) => {
    await using host = await sampleHost()
    const ask = async () => (await host.app.inject({ url, remoteAddress: '10.0.0.1' })).statusCode
    expect(await ask()).toBe(200)
    host.store.broken = true
    const answer = await host.app.inject({ url, remoteAddress: '10.0.0.1' })
    expect([answer.statusCode, answer.json()]).toEqual([status, body])
  })
})
