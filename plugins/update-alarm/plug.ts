import {
  type AlarmPort,
  AppError,
  causeOf,
  definePlug,
  messageOf,
  type Plug,
  type PlugContext,
  requireService,
} from '../../src/plug.ts'

const shared = {
  name: 'updateAlarm',
  version: '1.0.0',
  category: 'Alarms',
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
} as const

/** A sensor and an actuator that change status and severity of an alarm. */
export function updateAlarmPlugs(alarms?: AlarmPort): readonly Plug[] {
  const update = async (context: PlugContext<Properties>) => {
    const { alarmId, status, severity } = context.properties
    if (status === undefined && severity === undefined) {
      throw new AppError('PLUG_FAILED', 'updateAlarm has nothing to change; give a status, a severity, or both')
    }
    const change = { ...(status !== undefined && { status }), ...(severity !== undefined && { severity }) }
    return requireService(alarms, 'alarms').update(alarmId, change, causeOf(context))
  }
  return [
    definePlug({
      ...shared,
      kind: 'sensor',
      acts: true,
      description: 'Changes status and severity of an alarm: Success, else Error.',
      states: ['Success', 'Error'],
      output: {
        response: { type: 'object', description: 'the alarm' },
        error: { type: 'string', description: 'why it was not changed' },
      },
      async execute(context) {
        try {
          return { state: 'Success', rawData: { response: await update(context) } }
        } catch (error) {
          return { state: 'Error', rawData: { error: messageOf(error) } }
        }
      },
    }),
    definePlug({
      ...shared,
      kind: 'actuator',
      description: 'Changes status and severity of an alarm.',
      output: { response: { type: 'object', description: 'the alarm' } },
      async execute(context) {
        const response = await update(context)
        return { message: `alarm ${String(response['id'])}`, rawData: { response } }
      },
    }),
  ]
}

interface Properties {
  readonly alarmId: string
  readonly status: string | undefined
  readonly severity: string | undefined
}
