import { describe, expect, it } from 'vitest'
import { getLatestAlarmPlug } from '../../plugins/get-latest-alarm/plug.ts'
import { runPlugLater } from '../support/plug-context.ts'
import { sampleAlarms } from '../support/sample-alarms.ts'

describe('getLatestAlarm', () => {
  it.each(['ACTIVE', 'ACKNOWLEDGED', 'CLEARED'])('gives the status %s and what the alarm says', async (status) => {
    const alarms = sampleAlarms({ latest: { id: 'a', status, count: 3, self: '/alarm/alarms/a' } })
    const ran = await runPlugLater(getLatestAlarmPlug(alarms), { taskResource: 'boiler-1' })
    expect([ran.state, ran.rawData, alarms.asked]).toEqual([
      status,
      { id: 'a', status, count: 3 },
      [['latest', 'boiler-1']],
    ])
  })

  it('is Not Found when the resource has none', async () => {
    const ran = await runPlugLater(getLatestAlarmPlug(sampleAlarms()), { properties: { resource: 'r' } })
    expect([ran.state, ran.rawData]).toEqual(['Not Found', {}])
  })
})
