/** A sensor and an actuator that change the status and severity of an alarm, found by id or by source and type. */
import {
  actingPlugs,
  type AlarmPort,
  AppError,
  causeOf,
  type Plug,
  requireService,
  RESOURCE_INPUT,
  resourceOf,
  touching,
  touchingAlarm,
} from '#plug'

const OPEN = ['ACTIVE', 'ACKNOWLEDGED']

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
        description: 'id of the alarm, such as ${nodes.<label>.rawData.response.id} of an earlier createAlarm',
        example: '0b6c1f0e-7f0e-4a53-9a3e-5f5b8f6f3c11',
      },
      type: { type: 'string', description: 'type of the alarm; ignored with an id', example: 'OVERHEATED' },
      resource: {
        ...RESOURCE_INPUT,
        description: 'with type: source of the alarm; default: the resource of the node or task',
      },
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
    // an id does not reveal the source and the type
    touches: ({ alarmId, type, resource }, context) =>
      alarmId === undefined && type !== undefined
        ? touchingAlarm(resource, type, context)
        : touching('alarm', undefined),
    output: { response: { type: 'object', description: 'the alarm; absent when a clear did not find an open one' } },
    async perform(context) {
      const { alarmId, type, status, severity } = context.properties
      if (status === undefined && severity === undefined) {
        throw new AppError('PLUG_FAILED', 'status and severity are both missing; set one of them or both')
      }
      if (alarmId === undefined && type === undefined) {
        throw new AppError('PLUG_FAILED', 'alarmId and type are both missing; set one of them')
      }
      const port = requireService(alarms, 'alarms')
      const id = alarmId ?? (await openAlarm(port, resourceOf(context), type ?? ''))
      if (id === undefined) {
        // a call repeated after a crash may already have cleared the alarm
        if (status === 'CLEARED') return { message: 'the alarm is not open', rawData: {} }
        throw new AppError('PLUG_FAILED', `the alarm ${type} of ${resourceOf(context)} is not open`)
      }
      const change = { ...(status !== undefined && { status }), ...(severity !== undefined && { severity }) }
      const response = await port.update(id, change, causeOf(context))
      return { message: `alarm ${String(response['id'])}`, rawData: { response } }
    },
  })
}

async function openAlarm(port: AlarmPort, source: string, type: string): Promise<string | undefined> {
  const { alarms } = await port.find({ source, type: [type], status: OPEN })
  const [open] = alarms
  return open === undefined ? undefined : String(open['id'])
}
