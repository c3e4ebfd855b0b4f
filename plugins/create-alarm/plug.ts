import {
  type AlarmPort,
  causeOf,
  definePlug,
  messageOf,
  type Plug,
  type PlugContext,
  requireService,
  resourceOf,
} from '../../src/plug.ts'

const shared = {
  name: 'createAlarm',
  version: '1.0.0',
  category: 'Alarms',
  input: {
    type: { type: 'string', mandatory: true, description: 'what kind of alarm', example: 'OVERHEATED' },
    text: {
      type: 'string',
      defaultValue: '',
      format: { type: 'template' },
      description: 'what to tell people',
      example: '{{stream_1.temperature}} degrees',
    },
    severity: {
      type: 'string',
      defaultValue: 'MINOR',
      format: { type: 'enum', values: ['CRITICAL', 'MAJOR', 'MINOR', 'WARNING'] },
      description: 'how bad it is',
      example: 'MAJOR',
    },
    resource: {
      type: 'string',
      format: { type: 'resource' },
      description: 'the source of the alarm; that of the node or of the task when left out',
      example: 'boiler-1',
    },
    properties: {
      type: 'object',
      description:
        'what else the alarm keeps; autoClearAfter, snoozeUntil, escalation and dedupKey mean what they do there',
      example: { autoClearAfter: 'PT1H' },
    },
  },
} as const

/** A sensor and an actuator that raise an alarm. */
export function createAlarmPlugs(alarms?: AlarmPort): readonly Plug[] {
  const raise = async (context: PlugContext<Properties>) => {
    const { task, properties } = context
    const source = resourceOf(context)
    const { type, text, severity } = properties
    const more = { ...properties.properties, task: task.TASK_ID }
    return requireService(alarms, 'alarms').raise({ source, type, text, severity, properties: more }, causeOf(context))
  }
  return [
    definePlug({
      ...shared,
      kind: 'sensor',
      acts: true,
      description: 'Raises an alarm, or counts it again when it is open: Success, else Error.',
      states: ['Success', 'Error'],
      output: {
        response: { type: 'object', description: 'the alarm' },
        error: { type: 'string', description: 'why there is none' },
      },
      async execute(context) {
        try {
          return { state: 'Success', rawData: { response: await raise(context) } }
        } catch (error) {
          return { state: 'Error', rawData: { error: messageOf(error) } }
        }
      },
    }),
    definePlug({
      ...shared,
      kind: 'actuator',
      description: 'Raises an alarm, or counts it again when it is open.',
      output: { response: { type: 'object', description: 'the alarm' } },
      async execute(context) {
        const response = await raise(context)
        return { message: `alarm ${String(response['id'])}`, rawData: { response } }
      },
    }),
  ]
}

interface Properties {
  readonly type: string
  readonly text: string
  readonly severity: string
  readonly resource: string | undefined
  readonly properties: Readonly<Record<string, unknown>> | undefined
}
