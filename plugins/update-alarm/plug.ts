/** A sensor and an actuator that change the status and severity of an alarm, found by id or by source and type. */
import { actingPlugs, type AlarmPort, AppError, causeOf, requireService } from '#plug'
import { findOne, notOpen, ONE_ALARM, touchingOne } from './one-alarm.ts'

export function updateAlarmPlugs(alarms?: AlarmPort) {
  return actingPlugs({
    name: 'updateAlarm',
    version: '1.1.0',
    compatible: '>=1.0.0 <2',
    category: 'Alarms',
    description: 'Changes status and severity of an alarm: the one with an id, or the open one of a type',
    input: {
      ...ONE_ALARM,
      status: {
        type: 'string',
        format: { type: 'enum', values: ['ACTIVE', 'ACKNOWLEDGED', 'CLEARED'] },
        description: 'new value; default: unchanged',
        example: 'ACKNOWLEDGED',
      },
      severity: {
        type: 'string',
        format: { type: 'enum', values: ['CRITICAL', 'MAJOR', 'MINOR', 'WARNING'] },
        description: 'new value; default: unchanged',
        example: 'CRITICAL',
      },
    },
    touches: touchingOne,
    output: { response: { type: 'object', description: 'the alarm; absent when a clear did not find an open one' } },
    async perform(context) {
      const { status, severity } = context.properties
      if (status === undefined && severity === undefined) {
        throw new AppError('PLUG_FAILED', 'status and severity are both missing; set one of them or both')
      }
      const port = requireService(alarms, 'alarms')
      const id = await findOne(port, context)
      if (id === undefined) {
        // a call repeated after a crash may already have cleared the alarm
        if (status === 'CLEARED') return { message: 'the alarm is not open', rawData: {} }
        throw notOpen(context)
      }
      const change = { ...(status !== undefined && { status }), ...(severity !== undefined && { severity }) }
      const response = await port.update(id, change, causeOf(context))
      return { message: `alarm ${String(response['id'])}`, rawData: { response } }
    },
  })
}
