/** A sensor and an actuator that comment on an alarm, found by id or by source and type. */
import { actingPlugs, type AlarmPort, causeOf, requireService } from '#plug'
import { findOne, notOpen, ONE_ALARM, touchingOne } from '../update-alarm/one-alarm.ts'

export function commentAlarmPlugs(alarms?: AlarmPort) {
  return actingPlugs({
    name: 'commentAlarm',
    version: '1.0.0',
    category: 'Alarms',
    description: 'Adds a comment to an alarm: the one with an id, or the open one of a type',
    input: {
      ...ONE_ALARM,
      text: {
        type: 'string',
        mandatory: true,
        format: { type: 'template' },
        description: 'text for people',
        example: '{{temperature}} degrees after the pump was switched off',
      },
    },
    touches: touchingOne,
    output: { response: { type: 'object', description: 'the alarm' } },
    async perform(context) {
      const { text } = context.properties
      const port = requireService(alarms, 'alarms')
      const id = await findOne(port, context)
      if (id === undefined) throw notOpen(context)
      const response = await port.update(id, { comment: text }, causeOf(context))
      return { message: `alarm ${id}`, rawData: { response } }
    },
  })
}
