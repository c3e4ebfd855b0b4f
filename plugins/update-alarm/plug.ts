/** A sensor and an actuator that change status and severity of an alarm. */
import { actingPlugs, type AlarmPort, AppError, causeOf, type Plug, requireService, touching } from '../../src/plug.ts'

/** A sensor and an actuator that change status and severity of an alarm. */
export function updateAlarmPlugs(alarms?: AlarmPort): readonly Plug[] {
  return actingPlugs({
    name: 'updateAlarm',
    version: '1.0.0',
    category: 'Alarms',
    description: 'Changes status and severity of an alarm',
    input: {
      alarmId: {
        type: 'string',
        mandatory: true,
        description: 'the id of the alarm; ${nodes.<label>.rawData.response.id} is that of a createAlarm before',
        example: '0b6c1f0e-7f0e-4a53-9a3e-5f5b8f6f3c11',
      },
      status: {
        type: 'string',
        format: { type: 'enum', values: ['ACTIVE', 'ACKNOWLEDGED', 'CLEARED'] },
        description: 'what it becomes; stays when left out',
        example: 'ACKNOWLEDGED',
      },
      severity: {
        type: 'string',
        format: { type: 'enum', values: ['CRITICAL', 'MAJOR', 'MINOR', 'WARNING'] },
        description: 'what it becomes; stays when left out',
        example: 'CRITICAL',
      },
    },
    // an id does not say the source and the type
    touches: () => touching('alarm', undefined),
    output: { response: { type: 'object', description: 'the alarm' } },
    async perform(context) {
      const { alarmId, status, severity } = context.properties
      if (status === undefined && severity === undefined) {
        throw new AppError('PLUG_FAILED', 'updateAlarm has nothing to change; give a status, a severity, or both')
      }
      const change = { ...(status !== undefined && { status }), ...(severity !== undefined && { severity }) }
      const response = await requireService(alarms, 'alarms').update(alarmId, change, causeOf(context))
      return { message: `alarm ${String(response['id'])}`, rawData: { response } }
    },
  })
}
