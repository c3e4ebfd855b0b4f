/** Tests retention over HTTP: its rules and refusals, and that each kind of data follows them. */
import { describe, expect, it } from 'vitest'
import { createClient } from '../../src/client.ts'
import { wholeHost } from './whole-host.ts'

const ONLY = 'retention,broker,resources,alarms'
const refusal = (rules: readonly object[]) => ({ rules })

describe('retention on a host', () => {
  it('deletes old samples and messages of posts, and shows its progress', async () => {
    await using host = await wholeHost({ only: ONLY, empty: true })
    const at = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString()
    await host.done('POST', '/resources/tank/events', { level: 1, timestamp: at(90) })
    await host.done('POST', '/resources/tank/events', { level: 2, timestamp: at(10) })
    // a read stores what series lack
    await host.done('GET', '/resources/tank/series/level/raw')
    const rules = [
      { data: 'samples', keep: 'PT1H' },
      { data: 'messages', keep: 'PT1H' },
    ]
    const first = await host.done<{ revision: number }>('PUT', '/retention/v1/rules', { rules })
    expect(first).toEqual({ rules, revision: 1 })
    await expect
      .poll(async () => {
        const status = await host.done<{ deleted: { samples: number; messages: number } }>(
          'GET',
          '/retention/v1/status',
        )
        return status.deleted
      })
      .toEqual({ samples: 1, messages: 1 })
    expect(await host.done('GET', '/retention/v1/rules', undefined, 'umbrella')).toEqual({ rules: [] })
  })

  it('rejects rules that delete data on arrival, repeat each other or fit no data, all at once', async () => {
    await using host = await wholeHost({ only: 'retention', empty: true })
    const { status, body } = await host.ask(
      'PUT',
      '/retention/v1/rules',
      refusal([
        { data: 'samples', keep: 'PT0S' },
        { data: 'samples', keep: 'PT30M', metric: 'm' },
        { data: 'alarms', keep: 'P1D', metric: 'm', type: 't' },
        { data: 'logs', keep: 'soon' },
      ]),
    )
    expect(status).toBe(400)
    const text = JSON.stringify(body)
    for (const part of ['PT0S', 'PT30M', 'have no metrics', 'have one rule for all', 'logs', 'soon'])
      expect(text).toContain(part)
    const rule = { data: 'audit', keep: 'P1D' }
    const repeated = await host.ask('PUT', '/retention/v1/rules', refusal([rule, { ...rule, keep: 'P2D' }]))
    expect([repeated.status, JSON.stringify(repeated.body)]).toEqual([
      400,
      expect.stringContaining('repeats rule 0') as string,
    ])
  })

  it('replaces only the revision that the writer has read', async () => {
    await using host = await wholeHost({ only: 'retention', empty: true })
    await host.done('PUT', '/retention/v1/rules', { rules: [] })
    const stale = await host.app.inject({
      method: 'PUT',
      url: '/retention/v1/rules',
      headers: { authorization: `Basic ${Buffer.from('acme:s').toString('base64')}`, 'if-match': '"7"' },
      payload: { rules: [{ data: 'samples', keep: 'P1D' }] },
    })
    expect(stale.statusCode).toBe(412)
  })
})

describe('the client of retention', () => {
  it('reads and replaces rules, and reads the progress', async () => {
    await using host = await wholeHost({ only: 'retention', empty: true })
    const fetch = async (url: string | URL | Request, { method, headers, body }: RequestInit = {}) => {
      const sent = Object.fromEntries(new Headers(headers))
      const answer = await host.app.inject({
        method: method as 'GET',
        url: new URL(url instanceof Request ? url.url : url).pathname,
        headers: sent,
        ...(typeof body === 'string' && { payload: body }),
      })
      return new Response(answer.body, { status: answer.statusCode, headers: { 'content-type': 'application/json' } })
    }
    const { retention } = createClient({ url: 'http://host', credentials: { key: 'acme', secret: 's' }, fetch })
    const rules = [{ data: 'inputs', keep: 'P7D' }] as const
    expect(await retention.setRules({ rules })).toEqual({ rules, revision: 1 })
    await expect(retention.setRules({ rules: [] }, { ifRevision: 7 })).rejects.toMatchObject({ code: 'PRECONDITION' })
    expect(await retention.rules()).toEqual({ rules, revision: 1 })
    expect((await retention.status()).deleted).toEqual({ samples: 0, messages: 0 })
  })
})
