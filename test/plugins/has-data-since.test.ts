import { describe, expect, it } from 'vitest'
import { hasDataSincePlug } from '../../plugins/has-data-since/plug.ts'
import { checkPlug, runPlugLater } from '../support/plug-context.ts'
import { plugServices } from '../support/plug-services.ts'

const data = {
  ...plugServices().data,
  latest: async () => [
    { metric: 'a', time: 1_000, value: 1 },
    { metric: 'b', time: 3_000, value: 2 },
  ],
}
const plug = hasDataSincePlug(data)

describe('hasDataSince', () => {
  it.each([
    ['an age that it has just reached', { metric: 'a', since: 'PT4S' }, 'True', 1_000],
    ['an age that is too short', { metric: 'a', since: '3s' }, 'False', 1_000],
    ['a time that it has just reached', { metric: 'a', since: '1000' }, 'True', 1_000],
    ['a time after it', { metric: 'a', since: 1001 }, 'False', 1_000],
    ['any metric', { since: 2_000 }, 'True', 3_000],
  ])('%s', async (_, properties, state, lastTimestamp) => {
    const ran = await runPlugLater(plug, { properties, nodeResource: 'r', now: 5_000 })
    expect(ran).toMatchObject({ state, rawData: { lastTimestamp } })
  })

  it('counts an age from the end of a downtime, unless the age had passed before', async () => {
    const properties = { metric: 'a', since: '4s' }
    const call = { properties, nodeResource: 'r', downtime: { policy: 'restart', from: 3_000, until: 9_000 } } as const
    const over = { ...call, properties: { metric: 'a', since: '2s' } }
    const ran = [
      { ...call, now: 13_000 },
      { ...call, now: 13_001 },
      { ...over, now: 10_000 },
    ].map((one) => runPlugLater(plug, one))
    expect((await Promise.all(ran)).map(({ state }) => state)).toEqual(['True', 'False', 'False'])
  })

  it('returns False for an unknown metric', async () => {
    const ran = await runPlugLater(plug, { properties: { metric: 'c', since: '1d' }, nodeResource: 'r', now: 5_000 })
    expect(ran).toMatchObject({ state: 'False', rawData: {} })
  })

  it('fails without a data service, and rejects anything but a time or an age', async () => {
    const properties = { since: '1h', resource: 'r' }
    await expect(runPlugLater(hasDataSincePlug(), { properties })).rejects.toThrow(
      'the service data is missing in this engine',
    )
    for (const since of ['yesterday', '9999999999999999']) {
      expect(checkPlug(plug, { since })).toEqual([expect.stringContaining('since: ')])
    }
  })
})
