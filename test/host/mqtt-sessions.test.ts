/** Kept sessions and retained messages of whole hosts: with keys, deleted resources and metrics. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { listeningHost, type ListeningHost } from './listening-host.ts'
import { device, type Pair } from './mqtt-device.ts'
import { basic } from './sample-host.ts'

describe('a host', () => {
  let host: ListeningHost
  beforeAll(async () => void (host = await listeningHost({ mqtt: 0 })))
  afterAll(() => host.stop())

  const send = async (method: string, path: string, body?: object) => {
    const { key, secret } = host.credentials
    const headers = { authorization: basic(key, secret), ...(body && { 'content-type': 'application/json' }) }
    const answer = await fetch(host.url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
    expect(answer.ok, `${method} ${path}`).toBe(true)
    return answer.text()
  }
  const newKey = async (...ids: string[]): Promise<Pair> =>
    JSON.parse(await send('POST', '/auth/v1/keys', { scopes: ['device'], resources: { ids } })) as Pair
  const metric = async (name: string) =>
    Number(new RegExp(`"${name}"\\} (\\d+)`).exec(await send('GET', '/metrics'))?.[1])
  const asleep = async (pair: Pair, id: string) => {
    const { client } = await device(host.mqtt, pair, { clientId: id })
    await client.subscribeAsync(`resources/${id}/commands`, { qos: 1 })
    await client.endAsync()
    await send('POST', `/resources/${id}/commands`, { name: 'a' })
  }

  it('shows a sleeping device as offline, counts what waits, and delivers it', async () => {
    const pair = await newKey('d-1')
    await asleep(pair, 'd-1')
    const presence = async () => (await host.client.resources.resources.get('d-1')).value['presence']
    await expect.poll(presence).toBe('offline')
    expect(await Promise.all(['mqtt-sessions', 'mqtt-pending', 'mqtt-pending-dropped'].map(metric))).toEqual([1, 1, 0])
    const { client, names } = await device(host.mqtt, pair)
    await expect.poll(() => names).toEqual(['a'])
    await expect.poll(() => metric('mqtt-pending')).toBe(0)
    await client.endAsync()
  })

  it.each<[string, (pair: Pair) => Promise<unknown>]>([
    ['its key is removed', ({ key }) => send('DELETE', `/auth/v1/keys/${key}`)],
    ['its resource is deleted', () => host.client.resources.resources.remove('d-2')],
  ])('ends a session when %s', async (_, end) => {
    await host.client.resources.resources.create({ id: 'd-2' })
    const pair = await newKey('d-2')
    const before = await metric('mqtt-sessions')
    await asleep(pair, 'd-2')
    expect(await metric('mqtt-sessions')).toBe(before + 1)
    await end(pair)
    await expect.poll(() => metric('mqtt-sessions')).toBe(before)
    expect(await metric('mqtt-pending')).toBe(0)
    await host.client.resources.resources.remove('d-2').catch(() => undefined)
  })
})
