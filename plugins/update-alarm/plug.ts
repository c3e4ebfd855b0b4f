/** A sensor and an actuator that change status and severity of an alarm. */
import {
  actingPlugs,
  type AlarmPort,
  AppError,
  causeOf,
  type Plug,
  requireService,
  resourceOf,
  touching,
  touchingAlarm,
} from '#plug'

const OPEN = ['ACTIVE', 'ACKNOWLEDGED']

/** A sensor and an actuator that change status and severity of an alarm, by its id or by its source and type. */
export function updateAlarmPlugs(alarms?: AlarmPort): readonly Plug[] {
  return actingPlugs({
    name: 'updateAlarm',
    version: '1.1.0',
    compatible: '>=1.0.0 <2',
    category: 'Alarms',
    description: 'Changes status and severity of an alarm: the one with an id, or the open one of a type',
    input: {
      alarmId: {
        type: 'string',
        description: 'the id of the alarm; ${nodes.<label>.rawData.response.id} is that of a createAlarm before',
        example: '0b6c1f0e-7f0e-4a53-9a3e-5f5b8f6f3c11',
      },
      type: { type: 'string', description: 'what kind of alarm; not looked at beside an id', example: 'OVERHEATED' },
      resource: {
        type: 'string',
        format: { type: 'resource' },
        description: 'beside type: the source of the alarm; that of the node or of the task when left out',
        example: 'boiler-1',
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
    touches: ({ alarmId, type, resource }, context) =>
      alarmId === undefined && type !== undefined
        ? touchingAlarm(resource, type, context)
        : touching('alarm', undefined),
    output: { response: { type: 'object', description: 'the alarm; absent when none was open to be cleared' } },
    async perform(context) {
      const { alarmId, type, status, severity } = context.properties
      if (status === undefined && severity === undefined) {
        throw new AppError('PLUG_FAILED', 'updateAlarm has nothing to change; give a status, a severity, or both')
      }
      if (alarmId === undefined && type === undefined) {
        throw new AppError('PLUG_FAILED', 'updateAlarm has no alarm to change; give its alarmId or its type')
      }
      const port = requireService(alarms, 'alarms')
      const id = alarmId ?? (await openAlarm(port, resourceOf(context), type ?? ''))
      if (id === undefined) {
        // A call that is made again after a crash may have cleared it before.
        if (status === 'CLEARED') return { message: 'no alarm is open', rawData: {} }
        throw new AppError('PLUG_FAILED', `no alarm ${type} of ${resourceOf(context)} is open`)
      }
      const change = { ...(status !== undefined && { status }), ...(severity !== undefined && { severity }) }
      const response = await port.update(id, change, causeOf(context))
      return { message: `alarm ${String(response['id'])}`, rawData: { response } }
    },
  })
}

/** The id of the alarm of a source and type that is not cleared: there is at most one. */
async function openAlarm(port: AlarmPort, source: string, type: string): Promise<string | undefined> {
  const { alarms } = await port.find({ source, type: [type], status: OPEN })
  const [open] = alarms
  return open === undefined ? undefined : String(open['id'])
}
