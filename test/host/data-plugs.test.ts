/** Tests rules and data in a whole host: plugs read and write the broker's data. */
import { describe, expect, it } from 'vitest'
import { ANY_TIME } from '../support/any-time.ts'
import { wholeHost } from './whole-host.ts'

const dataHost = (only = 'rules,broker') => wholeHost({ only, empty: true, ...ANY_TIME })

const EXAMPLE = {
  sensors: [
    { label: 'any', name: 'stream', resource: '$' },
    {
      label: 'mean',
      name: 'getMetricValue',
      resource: '$',
      properties: { metric: 'temperature', aggregate: 'mean', duration: '1d' },
      sequence: 2,
    },
  ],
  actuators: [
    {
      label: 'keep',
      name: 'storeMessage',
      properties: { payload: { mean: '${nodes.mean.rawData.result}' }, resource: 'summary' },
    },
  ],
  triggers: [{ sourceLabel: 'mean', destinationLabel: 'keep', statesTrigger: ['Collected'] }],
  task: { name: 'summary', type: 'reactive', resource: 'boiler-1', start: true },
}

describe('a rule that requests data', () => {
  it('computes over what was stored before, and stores what it found', async () => {
    await using host = await dataHost()
    await host.done('POST', '/api/tasks', EXAMPLE)
    await host.done('POST', '/resources/boiler-1/events?forward=false', {
      temperature: 20,
      timestamp: Date.now() - 60_000,
    })
    await host.done('POST', '/resources/boiler-1/events', { humidity: 60 })
    await expect.poll(() => host.done('GET', '/resources/summary/messages')).toMatchObject([{ mean: 20 }])
  })

  it('is an Error that reports it, when the host serves no broker', async () => {
    await using host = await dataHost('rules')
    const answer = await host.done('POST', '/api/sensors/storeMessage', {
      properties: { payload: { t: 1 } },
      resource: 'r',
    })
    expect(answer).toMatchObject({ state: 'Error', rawData: { error: 'this host does not serve the broker' } })
  })

  it('runs once on its own over the broker, as often as it is asked to', async () => {
    await using host = await dataHost()
    for (const t of [1, 2, 2]) {
      const call = { properties: { payload: { t } }, resource: 'r' }
      expect(await host.done('POST', '/api/sensors/storeMessage', call)).toMatchObject({ state: 'Success' })
    }
    expect(await host.done('GET', '/resources/r/messages')).toMatchObject([{ t: 2 }, { t: 2 }, { t: 1 }])
    const read = await host.done('POST', '/api/sensors/getLatestMetrics', { properties: {}, resource: 'r' })
    expect(read).toMatchObject({ state: 'Collected', rawData: { t: 2 } })
  })
})
