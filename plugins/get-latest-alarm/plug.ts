/** A sensor that shows the status of the newest alarm of a resource. */
import { type AlarmPort, definePlug, type Plug, requireService, resourceOf } from '#plug'

/** A sensor that gives the newest alarm of a resource. */
export function getLatestAlarmPlug(alarms?: AlarmPort): Plug {
  return definePlug({
    name: 'getLatestAlarm',
    version: '1.0.0',
    kind: 'sensor',
    description: 'The status of the newest alarm of a resource, or Not Found. It fails when alarms cannot be asked.',
    category: 'Alarms',
    parameters: [],
    states: ['ACTIVE', 'ACKNOWLEDGED', 'CLEARED', 'Not Found'],
    input: {
      resource: {
        type: 'string',
        format: { type: 'resource' },
        description: 'the source of the alarm; that of the node or of the task when left out',
        example: 'boiler-1',
      },
    },
    output: {
      id: { type: 'string', description: 'its id' },
      type: { type: 'string', description: 'what kind of alarm' },
      text: { type: 'string', description: 'its text' },
      status: { type: 'string', description: 'ACTIVE, ACKNOWLEDGED or CLEARED' },
      severity: { type: 'string', description: 'CRITICAL, MAJOR, MINOR or WARNING' },
      count: { type: 'integer', description: 'how often it was raised' },
      timestamp: { type: 'string', description: 'its time, ISO 8601' },
      source: { type: 'object', description: 'the source, with its id' },
      assignee: { type: 'string', description: 'who cares for it' },
    },
    async execute(context) {
      const alarm = await requireService(alarms, 'alarms').latest(resourceOf(context))
      if (alarm === undefined) return { state: 'Not Found', rawData: {} }
      const rawData = Object.fromEntries(SHOWN.flatMap((name) => (name in alarm ? [[name, alarm[name]]] : [])))
      const { status } = alarm
      return { state: status === 'ACTIVE' || status === 'ACKNOWLEDGED' ? status : 'CLEARED', rawData }
    },
  })
}

const SHOWN = ['id', 'type', 'text', 'status', 'severity', 'count', 'timestamp', 'source', 'assignee'] as const
