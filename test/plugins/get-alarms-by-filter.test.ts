import { describe, expect, it } from 'vitest'
import { getAlarmsByFilterPlug } from '../../plugins/get-alarms-by-filter/plug.ts'
import { checkPlug, runPlugLater } from '../support/plug-context.ts'
import { sampleAlarms } from '../support/sample-alarms.ts'

describe('getAlarmsByFilter', () => {
  it.each([
    [{}, { history: false }],
    [
      { resource: 'r', history: true },
      { source: 'r', history: true },
    ],
    [
      { status: 'ACTIVE, ACKNOWLEDGED,', type: ['A,B'] },
      { status: ['ACTIVE', 'ACKNOWLEDGED'], type: ['A,B'], history: false },
    ],
    [{ status: '', type: [] }, { history: false }],
  ])('with %j asks for %j', async (properties, filter) => {
    const alarms = sampleAlarms({ total: 2 })
    const ran = await runPlugLater(getAlarmsByFilterPlug(alarms), { properties })
    expect([ran.state, ran.rawData, alarms.asked]).toEqual(['Found', { total: 2, alarms: [] }, [['find', filter]]])
  })

  it('is Not Found without any', async () => {
    expect((await runPlugLater(getAlarmsByFilterPlug(sampleAlarms()))).state).toBe('Not Found')
  })

  it('says what a filter is', () => {
    expect(checkPlug(getAlarmsByFilterPlug(), { status: 5, type: [1] })).toEqual([
      'status: the value is not a text or a list of texts; use a text with commas, or a list of texts',
      'type: the value is not a text or a list of texts; use a text with commas, or a list of texts',
    ])
  })
})
