/** A sensor and an actuator that shelve an alarm, found by id or by source and type. */
import { actingPlugs, type AlarmPort, causeOf, durationMs, requireService } from '#plug'
import { findOne, notOpen, ONE_ALARM, touchingOne } from '../update-alarm/one-alarm.ts'

export function shelveAlarmPlugs(alarms?: AlarmPort) {
  return actingPlugs({
    name: 'shelveAlarm',
    version: '1.0.0',
    category: 'Alarms',
    description:
      'Shelves an alarm for a time, so that it is counted without announcements: the one with an id, or the open one of a type',
    input: {
      ...ONE_ALARM,
      duration: {
        type: 'string',
        mandatory: true,
        format: { type: 'duration' },
        description: 'how long from now',
        example: 'PT1H',
      },
      reason: {
        type: 'string',
        mandatory: true,
        format: { type: 'template' },
        description: 'why, for people',
        example: 'the boiler heats up',
      },
    },
    touches: touchingOne,
    output: { response: { type: 'object', description: 'the alarm' } },
    async perform(context) {
      const { duration, reason } = context.properties
      const port = requireService(alarms, 'alarms')
      const id = await findOne(port, context)
      if (id === undefined) throw notOpen(context)
      const response = await port.update(
        id,
        { shelve: { until: context.now + durationMs(duration), reason } },
        causeOf(context),
      )
      return { message: `alarm ${id}`, rawData: { response } }
    },
  })
}
