/** Inputs that name one alarm, by its id or as the open one of a type and resource, and how it is found. */
import {
  type AlarmPort,
  AppError,
  type Plug,
  type PlugContext,
  RESOURCE_INPUT,
  resourceOf,
  touching,
  touchingAlarm,
} from '#plug'

const OPEN = ['ACTIVE', 'ACKNOWLEDGED']

export const ONE_ALARM = {
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
} as const

interface Named {
  readonly alarmId?: string | undefined
  readonly type?: string | undefined
  readonly resource?: string | undefined
}

/** An id does not reveal the source and the type. */
export function touchingOne(
  { alarmId, type, resource }: Named,
  context: Parameters<NonNullable<Plug['touches']>>[1],
): readonly string[] {
  return alarmId === undefined && type !== undefined
    ? touchingAlarm(resource, type, context)
    : touching('alarm', undefined)
}

/** Returns the id of the alarm; undefined if the open one was not found. Throws `PLUG_FAILED` if none is named. */
export async function findOne(port: AlarmPort, context: PlugContext<Named>): Promise<string | undefined> {
  const { alarmId, type } = context.properties
  if (alarmId !== undefined) return alarmId
  if (type === undefined) throw new AppError('PLUG_FAILED', 'alarmId and type are both missing; set one of them')
  const { alarms } = await port.find({ source: resourceOf(context), type: [type], status: OPEN })
  const [open] = alarms
  return open === undefined ? undefined : String(open['id'])
}

export function notOpen(context: PlugContext<Named>): AppError {
  return new AppError('PLUG_FAILED', `the alarm ${context.properties.type} of ${resourceOf(context)} is not open`)
}
