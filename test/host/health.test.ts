import { describe, expect, it } from 'vitest'
import { sampleHost } from './sample-host.ts'

describe('GET /health', () => {
  it('is ok for anybody while the store answers', async () => {
    await using host = await sampleHost()
    const answer = await host.app.inject({ method: 'GET', url: '/health', remoteAddress: '10.0.0.1' })
    expect([answer.statusCode, answer.json()]).toEqual([200, { status: 'ok' }])
  })

  it('is 503 when it does not, and the log says why', async () => {
    await using host = await sampleHost()
    host.store.broken = true
    const answer = await host.app.inject({ method: 'GET', url: '/health' })
    expect([answer.statusCode, answer.json()]).toEqual([503, { status: 'failing' }])
    expect(host.log.join('')).toContain('the disk is gone')
  })
})
