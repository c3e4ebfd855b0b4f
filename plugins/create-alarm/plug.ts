/** A sensor and an actuator that raise an alarm, or increase its count while it is open. */
import {
  actingPlugs,
  type AlarmPort,
  causeOf,
  ownValue,
  problemsOfIssues,
  requireService,
  RESOURCE_INPUT,
  resourceOf,
  touching,
  touchingAlarm,
} from '#plug'

const OWN = { type: 'type', text: 'text', severity: 'severity', timestamp: 'timestamp' }

export function createAlarmPlugs(alarms?: AlarmPort) {
  return actingPlugs({
    name: 'createAlarm',
    version: '1.1.0',
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
      onRepeat: {
        type: 'string',
        format: { type: 'enum', values: ['count', 'highest', 'replace'] },
        description:
          'what a repeat changes on the open alarm: only its count (default); to a higher severity, with the text; or severity and text',
        example: 'highest',
      },
      timestamp: {
        type: 'any',
        description: 'time of the alarm, in epoch milliseconds or ISO 8601; default: now',
        example: '2026-01-05T08:00:00Z',
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
    check: ({ type, text, severity, timestamp, properties }) => {
      const known = {
        ...(type !== undefined && { type }),
        ...(text !== undefined && { text }),
        ...(severity !== undefined && { severity }),
        ...(timestamp !== undefined && { timestamp }),
        ...(properties !== undefined && { properties }),
      }
      return problemsOfIssues(alarms?.check?.(known) ?? [], 'properties', OWN)
    },
    async perform(context) {
      const { type, text, severity, onRepeat, timestamp, properties } = context.properties
      const alarm = {
        source: resourceOf(context),
        type,
        text,
        severity,
        ...(onRepeat !== undefined && { onRepeat }),
        ...(timestamp !== undefined && { timestamp }),
      }
      const more = { ...properties, task: context.task.TASK_ID }
      const response = await requireService(alarms, 'alarms').raise({ ...alarm, properties: more }, causeOf(context))
      return { message: `alarm ${String(response['id'])}`, rawData: { response } }
    },
  })
}
