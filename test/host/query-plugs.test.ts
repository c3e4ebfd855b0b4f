/** Tests rules and queries in a whole host: a query stored over HTTP drives a sensor, live and in virtual time. */
import { describe, expect, it } from 'vitest'
import { ANY_TIME } from '../support/any-time.ts'
import { wholeHost } from './whole-host.ts'

const HOUR = 3_600_000

const queryHost = (only = 'rules,broker,resources,queries') => wholeHost({ only, empty: true, ...ANY_TIME })

/** Mean of the last hour, for the resource of the rule that uses the query. */
const QUERY = { metric: 'temperature', aggregation: 'mean', window: 'PT1H', periods: 1, align: { at: 'until' } }

const RULE = {
  sensors: [
    { label: 'any', name: 'stream', resource: '$' },
    {
      label: 'mean',
      name: 'executeQuery',
      resource: '$',
      properties: { name: 'hour', high: 80 },
      sequence: 2,
    },
  ],
  actuators: [
    {
      label: 'keep',
      name: 'storeMessage',
      properties: { payload: { mean: '${nodes.mean.rawData.value}' }, resource: 'summary' },
    },
  ],
  triggers: [{ sourceLabel: 'mean', destinationLabel: 'keep', statesTrigger: ['Above'] }],
}

describe('a rule over a query that was stored over HTTP', () => {
  it('sees the message that ran it, and the position of its mean', async () => {
    await using host = await queryHost()
    await host.done('PUT', '/config/query/hour', { query: QUERY })
    await host.done('POST', '/api/tasks', {
      ...RULE,
      task: { name: 't', type: 'reactive', resource: 'boiler-1', start: true },
    })
    const now = Date.now()
    await host.done('POST', '/resources/boiler-1/events', { temperature: 70, timestamp: now - 60_000 })
    await host.done('POST', '/resources/boiler-1/events', { temperature: 100, timestamp: now - 30_000 })
    await expect.poll(() => host.done('GET', '/resources/summary/messages')).toMatchObject([{ mean: 85 }])
    // the query is read again for each message
    await host.done('PUT', '/config/query/hour', { query: { ...QUERY, aggregation: 'max' } })
    await host.done('POST', '/resources/boiler-1/events', { temperature: 1, timestamp: now - 20_000 })
    await expect
      .poll(() => host.done('GET', '/resources/summary/messages'))
      .toMatchObject([{ mean: 100 }, { mean: 85 }])
  })

  it('is simulated at the time of the task: what comes later is not seen', async () => {
    await using host = await queryHost()
    const start = Date.UTC(2024, 0, 1)
    await host.done('PUT', '/config/query/hour', { query: QUERY })
    const values = [70, 100, 90, 10]
    for (const [i, temperature] of values.entries()) {
      await host.done('POST', '/resources/boiler-1/events?forward=false', {
        temperature,
        timestamp: start + (i * HOUR) / 2,
      })
    }
    const messages = values.map((temperature, i) => ({
      resource: 'boiler-1',
      timestamp: start + (i * HOUR) / 2,
      temperature,
    }))
    const body = { rule: RULE, resource: 'boiler-1', messages }
    const run = await host.done('POST', '/api/tasks/simulate', body)
    const text = JSON.stringify(run)
    const found = [...text.matchAll(/"node":"mean","ok":true,"state":"[^"]+","rawData":\{"value":(-?[\d.]+)/g)].map(
      ([, value]) => Number(value),
    )
    // each mean covers the message itself and the one half an hour earlier
    expect(found).toEqual([70, 85, 95, 50])
    const states = [...text.matchAll(/"type":"state","node":"mean","from":[^,]+,"to":"([^"]+)"/g)].map(
      ([, state]) => state,
    )
    expect(states).toEqual(['In Range', 'Above', 'Above', 'In Range'])
    expect(await host.done('POST', '/api/tasks/simulate', body)).toEqual(run)
  })

  it('is an Error that reports it, when the host serves no queries', async () => {
    await using host = await queryHost('rules,broker')
    const payload = { properties: { name: 'hour' } }
    const answer = await host.ask('POST', '/api/sensors/executeQuery', payload)
    expect(answer).toMatchObject({ status: 400, body: { result: false, error: 'this host does not serve queries' } })
  })
})

describe('queries in a host', () => {
  it('select resources by what is known of them, and read what was posted a moment before', async () => {
    await using host = await queryHost()
    for (const [id, room] of [
      ['a', 'K1'],
      ['b', 'K1'],
      ['c', 'K2'],
    ] as const) {
      await host.done('POST', '/api/resources', { id, room, tags: ['hot'] })
      await host.done('POST', `/resources/${id}/events`, { temperature: id.charCodeAt(0), timestamp: 1_000 })
    }
    const query = { metric: 'temperature', aggregation: 'sum', from: 0, until: 2_000, freq: 'PT2S' }
    const columns = async (resources: object) =>
      host.done<{ data: readonly [{ data: unknown }] }>('POST', '/data/query', { ...query, resources })
    expect((await columns({ tag: 'hot' })).data[0].data).toEqual([[0, 97, 98, 99]])
    expect((await columns({ query: 'room:in(K1)' })).data[0].data).toEqual([[0, 97, 98]])
    expect((await columns({ tag: 'hot', groupBy: 'room' })).data[0].data).toEqual([[0, 195, 99]])
    const wrong = await host.send('POST', '/data/query', { ...query, resources: { query: 'room:' } })
    expect(wrong.statusCode).toBe(400)
  })
})
