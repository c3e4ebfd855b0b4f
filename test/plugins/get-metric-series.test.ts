import { describe, expect, it } from 'vitest'
import { getMetricSeriesPlug } from '../../plugins/get-metric-series/plug.ts'
import { runPlugLater } from '../support/plug-context.ts'
import { plugServices } from '../support/plug-services.ts'

const NOW = 1_700_000_000_000
const HOUR = 3_600_000

describe('getMetricSeries', () => {
  it.each([
    [{}, { until: NOW }],
    [{ from: 'PT2H' }, { from: NOW - 2 * HOUR, until: NOW }],
    [
      { from: '-PT2H', to: '1h' },
      { from: NOW - 2 * HOUR, until: NOW - HOUR },
    ],
    [
      { from: 5, to: '10' },
      { from: '5', until: '10' },
    ],
    [{ from: ' 2023-11-14T00:00:00Z' }, { from: '2023-11-14T00:00:00Z', until: NOW }],
    [
      { aggregate: 'percentile(0.9)', grouping: '15m' },
      { until: NOW, grouping: '15m', aggregates: ['percentile(0.9)'] },
    ],
  ])('%j', async (properties, query) => {
    const { data, asked } = plugServices()
    const plug = getMetricSeriesPlug(data)
    const ran = await runPlugLater(plug, { properties: { metric: 't', ...properties }, nodeResource: 'r', now: NOW })
    expect(asked[0]?.with).toEqual([{ metric: 't', resources: ['r'], ...query }])
    expect(ran).toMatchObject({ state: 'Collected', rawData: { series: [[0, 21]], query: { metric: 't' } } })
  })

  it('has not collected groups that are empty', async () => {
    const data = { ...plugServices().data, series: async () => ({ series: [[0, null]], query: {} }) }
    const ran = await runPlugLater(getMetricSeriesPlug(data), { properties: { metric: 't', resource: 'r' } })
    expect(ran).toMatchObject({ state: 'Not Collected', rawData: { series: [[0, null]] } })
  })
})
