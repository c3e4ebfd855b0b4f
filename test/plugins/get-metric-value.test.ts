import { describe, expect, it } from 'vitest'
import { getMetricValuePlug } from '../../plugins/get-metric-value/plug.ts'
import type { DataPort } from '../../src/core/plug/services.ts'
import { checkPlug, runPlugLater } from '../support/plug-context.ts'
import { plugServices } from '../support/plug-services.ts'

const NOW = 1_700_000_000_000

function answering(series: unknown): DataPort {
  return { ...plugServices().data, series: async () => ({ series }) }
}

describe('getMetricValue', () => {
  it('requests one group that includes a sample of this moment', async () => {
    const { data, asked } = plugServices()
    const properties = { metric: 't', aggregate: 'max', duration: '1h' }
    const ran = await runPlugLater(getMetricValuePlug(data), { properties, now: NOW, taskResource: 'boiler-1' })
    expect(ran).toMatchObject({ state: 'Collected', rawData: { result: 21 } })
    expect(asked[0]?.with).toEqual([
      {
        metric: 't',
        resources: ['boiler-1'],
        aggregates: ['max'],
        from: NOW - 3_600_000,
        until: NOW,
        grouping: 'PT3600.001S',
      },
    ])
  })

  it('looks back seven days for the mean unless configured otherwise', async () => {
    const { data, asked } = plugServices()
    await runPlugLater(getMetricValuePlug(data), { properties: { metric: 't', resource: 'r' }, now: NOW })
    expect(asked[0]?.with).toMatchObject([{ aggregates: ['mean'], from: NOW - 7 * 86_400_000, resources: ['r'] }])
  })

  it.each([[[]], [[[0, null]]], [undefined]])('returns Not Collected for %j', async (series) => {
    const ran = await runPlugLater(getMetricValuePlug(answering(series)), {
      properties: { metric: 't', resource: 'r' },
    })
    expect(ran).toMatchObject({ state: 'Not Collected', rawData: {} })
  })

  it('returns a text value', async () => {
    const properties = { metric: 't', resource: 'r', aggregate: 'last' }
    expect(await runPlugLater(getMetricValuePlug(answering([[0, 'on']])), { properties })).toMatchObject({
      rawData: { result: 'on' },
    })
  })

  it('fails without a data service, without a resource, and when the query is rejected', async () => {
    const properties = { metric: 't', resource: 'r' }
    await expect(runPlugLater(getMetricValuePlug(), { properties })).rejects.toThrow(
      'the service data is missing in this engine',
    )
    const { data } = plugServices({ refusing: new Error('no') })
    await expect(runPlugLater(getMetricValuePlug(data), { properties })).rejects.toThrow('no')
    await expect(runPlugLater(getMetricValuePlug(data), { properties: { metric: 't' } })).rejects.toThrow(
      /the resource is missing/,
    )
  })

  it('rejects an invalid duration', () => {
    expect(checkPlug(getMetricValuePlug(), { duration: 'long' })).toEqual([expect.stringContaining('duration: ')])
  })
})
