import { describe, expect, it } from 'vitest'
import { getLatestMetricsPlug } from '../../plugins/get-latest-metrics/plug.ts'
import { checkPlug, runPlugLater } from '../support/plug-context.ts'
import { plugServices } from '../support/plug-services.ts'

const data = {
  ...plugServices().data,
  latest: async () => [
    { metric: 't', time: 1_000, value: 21 },
    { metric: 'mode', time: 500, value: 'on' },
  ],
}
const plug = getLatestMetricsPlug(data)

describe('getLatestMetrics', () => {
  it('has the newest value of each metric, and the message over it', async () => {
    const ran = await runPlugLater(plug, { properties: { resource: 'r' }, message: { t: 22, new: true }, now: 2_000 })
    expect(ran).toMatchObject({ state: 'Collected', rawData: { t: 22, mode: 'on', new: true } })
  })

  it('passes over what is too old', async () => {
    const ran = await runPlugLater(plug, { properties: { from: 'PT1S' }, nodeResource: 'r', now: 2_000 })
    expect(ran).toMatchObject({ state: 'Collected', rawData: { t: 21 } })
    expect(ran.rawData).not.toHaveProperty('mode')
    const later = await runPlugLater(plug, { properties: { from: 'PT1S' }, nodeResource: 'r', now: 2_001 })
    expect(later).toMatchObject({ state: 'Not Collected', rawData: {} })
  })

  it('fails without data, and wants an age that is one', async () => {
    await expect(runPlugLater(getLatestMetricsPlug(), { taskResource: 'r' })).rejects.toThrow(
      'the service data is missing in this engine',
    )
    expect(checkPlug(plug, { from: 'old' })).toEqual([expect.stringContaining('from: ')])
  })
})
