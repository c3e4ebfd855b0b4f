/** A sensor and an actuator that raise an alarm, or increase its count while it is open. */
import {
  actingPlugs,
  type AlarmPort,
  causeOf,
  ownValue,
  type Plug,
  problemsOfIssues,
  requireService,
  RESOURCE_INPUT,
  resourceOf,
  touching,
  touchingAlarm,
} from '#plug'

const OWN = { type: 'type', text: 'text', severity: 'severity' }

export function createAlarmPlugs(alarms?: AlarmPort): readonly Plug[] {
  return actingPlugs({
    name: 'createAlarm',
    version: '1.0.0',
    compatible: '>=1.0.0 <2',
    category: 'Alarms',
    description: 'Raises an alarm, or increments its count while it is open',
    input: {
      type: { type: 'string', mandatory: true, description: 'type of the alarm', example: 'OVERHEATED' },
      text: {
        type: 'string',
        defaultValue: '',
        format: { type: 'template' },
        description: 'text for people',
        example: '{{stream_1.temperature}} degrees',
      },
      severity: {
        type: 'string',
        defaultValue: 'MINOR',
        format: { type: 'enum', values: ['CRITICAL', 'MAJOR', 'MINOR', 'WARNING'] },
        description: 'severity of the alarm',
        example: 'MAJOR',
      },
      resource: { ...RESOURCE_INPUT, description: 'source of the alarm; default: the resource of the node or task' },
      properties: {
        type: 'object',
        description:
          'further properties of the alarm; autoClearAfter, snoozeUntil, escalation and dedupKey work as in the API',
        example: { autoClearAfter: 'PT1H' },
      },
    },
    output: { response: { type: 'object', description: 'the alarm' } },
    touches({ type, resource, properties }, context) {
      const key = ownValue(properties, 'dedupKey')
      const things = touchingAlarm(resource, type, context)
      // alarms with equal keys are the same alarm, whatever their source and type
      return typeof key === 'string' ? [...things, ...touching('alarm', key)] : things
    },
    check: ({ type, text, severity, properties }) => {
      const known = {
        ...(type !== undefined && { type }),
        ...(text !== undefined && { text }),
        ...(severity !== undefined && { severity }),
        ...(properties !== undefined && { properties }),
      }
      return problemsOfIssues(alarms?.check?.(known) ?? [], 'properties', OWN)
    },
    async perform(context) {
      const { type, text, severity, properties } = context.properties
      const alarm = { source: resourceOf(context), type, text, severity }
      const more = { ...properties, task: context.task.TASK_ID }
      const response = await requireService(alarms, 'alarms').raise({ ...alarm, properties: more }, causeOf(context))
      return { message: `alarm ${String(response['id'])}`, rawData: { response } }
    },
  })
}
