/** Tests subscriptions as documents: what is valid, how secrets are stored, and who may change subscriptions. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SUBSCRIPTIONS } from '../../../../src/services/objects/subscriptions/subscription-record.ts'
import { type SubscriptionsHost, subscriptionOf, SubscriptionsWorld, TENANT } from './world.ts'

let host: SubscriptionsHost
beforeAll(async () => {
  host = await new SubscriptionsWorld().host()
})
afterAll(() => host.stop())

describe('a subscription', () => {
  it('has default values for omitted fields, and an id', async () => {
    const made = await host.api.create('assets', subscriptionOf())
    expect(made).toEqual({
      id: expect.stringMatching(/^id-/) as unknown,
      channel: {
        type: 'webscript',
        name: 'public',
        method: 'POST',
        expiry: { seconds: 300 },
        payload: { signed_links: [] },
        authentication: { method: 'NONE' },
      },
      filters: [{ events: ['put'], queue: `objects:assets:${made.id}:0` }],
    })
    expect(await host.api.get('assets', made.id)).toEqual(made)
    await host.api.remove('assets', made.id)
    await expect(host.api.get('assets', made.id)).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  it('keeps its id, and is rejected when the id exists', async () => {
    await host.api.create('assets', subscriptionOf({ id: 'mine' }))
    await expect(host.api.create('assets', subscriptionOf({ id: 'mine' }))).rejects.toMatchObject({ code: 'CONFLICT' })
    await host.api.create('public', subscriptionOf({ id: 'mine' }))
    const replaced = await host.api.put('assets', 'mine', subscriptionOf({ id: 'other', title: 'Mine' }))
    expect(replaced).toMatchObject({ id: 'mine', title: 'Mine' })
    await host.api.put('assets', 'new', subscriptionOf())
    expect((await host.api.list('assets')).subscriptions.map(({ id }) => id)).toEqual(['mine', 'new'])
    expect(await host.api.removeAll('assets')).toEqual({ ids: ['mine', 'new'] })
    await host.api.removeAll('public')
  })

  it('accepts the old name of a method, and an expiry of exactly seven days', async () => {
    const channel = { authentication: { method: 'WAYLAY_TOKEN', key: 'k', secret: 's' }, expiry: { days: 7 } }
    const { id, channel: made } = await host.api.create('assets', subscriptionOf({}, channel))
    expect(made).toMatchObject({ authentication: { method: 'SERVICE_TOKEN', key: 'k' }, expiry: { days: 7 } })
    await host.api.remove('assets', id)
  })

  it('accepts only buckets that users write', async () => {
    await expect(host.api.create('etl-export', subscriptionOf())).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(host.api.list('none')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  it('of the host itself is listed, and cannot be changed', async () => {
    const { subscriptions } = await host.api.list('etl-import')
    expect(subscriptions).toMatchObject([{ id: 'import', channel: { type: 'system' } }])
    await expect(host.api.remove('etl-import', 'import')).rejects.toMatchObject({ code: 'FORBIDDEN' })
    await expect(host.api.put('etl-import', 'import', subscriptionOf())).rejects.toMatchObject({ code: 'FORBIDDEN' })
    await expect(host.api.create('etl-import', subscriptionOf({ id: 'import' }))).rejects.toMatchObject({
      code: 'CONFLICT',
    })
    expect(await host.api.removeAll('etl-import')).toEqual({ ids: [] })
  })

  it.each([
    [{ prefix: 'a/b' }, ['a', 'csv']],
    [{ prefix: 'b/' }, ['csv']],
    [{ suffix: 'x.csv' }, ['a', 'csv']],
    [{ suffix: '.txt' }, ['a']],
    [{ event_type: 'delete' }, ['csv']],
    [{ channel_id: 'ubl' }, ['a', 'csv']],
    [{ channel_type: 'system' }, []],
    [{ max_keys: 1 }, ['a']],
    [{ start_after: 'a' }, ['csv']],
  ] as const)('is found by %j', async (query, ids) => {
    await host.api.put('public', 'a', subscriptionOf({ filters: [{ prefix: 'a/' }] }))
    await host.api.put('public', 'csv', subscriptionOf({ filters: [{ suffix: '.csv', events: ['put', 'delete'] }] }))
    const page = await host.api.list('public', query)
    expect(page.subscriptions.map(({ id }) => id)).toEqual(ids)
    expect(page.next).toBe('max_keys' in query ? 'a' : undefined)
  })
})

// Holds SUBSCRIBE-4
describe('a secret', () => {
  const authentication = { method: 'TOKEN', secret: 'open sesame' }

  it('of the maximum length is accepted back as it was shown', async () => {
    const secret = 'é'.repeat(4_096)
    const made = await host.api.create('assets', subscriptionOf({}, { authentication: { method: 'TOKEN', secret } }))
    expect(await host.api.put('assets', made.id, made)).toMatchObject({ channel: made.channel })
    const longer = { authentication: { method: 'TOKEN', secret: `${secret}x` } }
    await expect(host.api.create('assets', subscriptionOf({}, longer))).rejects.toMatchObject({ code: 'VALIDATION' })
  })

  it('is stored and shown sealed, and unchanged when its sealed form is sent back', async () => {
    const made = await host.api.create('assets', subscriptionOf({ id: 's' }, { authentication }))
    const { secret = '' } = made.channel.authentication
    expect(secret).toMatch(/^enc:[A-Za-z0-9+/=]{40,}$/)
    const stored = await host.storage.tenant(TENANT).collection(SUBSCRIPTIONS).get('assets/s')
    expect(JSON.stringify(stored)).not.toContain('sesame')
    const again = await host.api.put('assets', 's', made)
    expect(again.channel.authentication.secret).toBe(secret)
    const other = await host.api.put('assets', 's', subscriptionOf({}, { authentication }))
    expect(other.channel.authentication.secret).not.toBe(secret)
  })

  it('that is sealed differently from the shown one is rejected', async () => {
    const channel = { authentication: { method: 'TOKEN', secret: 'enc:AAAA' } }
    await expect(host.api.create('assets', subscriptionOf({}, channel))).rejects.toMatchObject({
      issues: [{ path: '/channel/authentication/secret' }],
    })
  })
})
