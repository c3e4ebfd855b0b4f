/** A sensor and an actuator that acknowledge an alarm, found by id or by source and type. */
import { actingPlugs, type AlarmPort, causeOf, requireService } from '#plug'
import { findOne, notOpen, ONE_ALARM, touchingOne } from '../update-alarm/one-alarm.ts'

export function acknowledgeAlarmPlugs(alarms?: AlarmPort) {
  return actingPlugs({
    name: 'acknowledgeAlarm',
    version: '1.0.0',
    category: 'Alarms',
    description: 'Acknowledges an alarm: the one with an id, or the open one of a type',
    input: {
      ...ONE_ALARM,
      comment: {
        type: 'string',
        format: { type: 'template' },
        description: 'text for people',
        example: 'the pump was switched off',
      },
    },
    touches: touchingOne,
    output: { response: { type: 'object', description: 'the alarm' } },
    async perform(context) {
      const { comment } = context.properties
      const port = requireService(alarms, 'alarms')
      const id = await findOne(port, context)
      if (id === undefined) throw notOpen(context)
      const response = await port.update(
        id,
        { status: 'ACKNOWLEDGED', ...(comment !== undefined && { comment }) },
        causeOf(context),
      )
      return { message: `alarm ${id}`, rawData: { response } }
    },
  })
}
