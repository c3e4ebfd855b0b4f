/** A sensor that shows the status of the newest alarm of a resource. */
import { type AlarmPort, definePlug, requireService, RESOURCE_INPUT, resourceOf } from '#plug'

export function getLatestAlarmPlug(alarms?: AlarmPort) {
  return definePlug({
    name: 'getLatestAlarm',
    version: '1.0.0',
    kind: 'sensor',
    description: 'The status of the newest alarm of a resource, or Not Found. Fails when alarms are unavailable.',
    category: 'Alarms',
    parameters: [],
    states: ['ACTIVE', 'ACKNOWLEDGED', 'CLEARED', 'Not Found'],
    input: {
      resource: { ...RESOURCE_INPUT, description: 'source of the alarm; default: the resource of the node or task' },
    },
    output: {
      id: { type: 'string', description: 'its id' },
      type: { type: 'string', description: 'type of the alarm' },
      text: { type: 'string', description: 'its text' },
      status: { type: 'string', description: 'ACTIVE, ACKNOWLEDGED or CLEARED' },
      severity: { type: 'string', description: 'CRITICAL, MAJOR, MINOR or WARNING' },
      count: { type: 'integer', description: 'number of times it was raised' },
      timestamp: { type: 'string', description: 'its time, ISO 8601' },
      source: { type: 'object', description: 'the source, with its id' },
      assignee: { type: 'string', description: 'person in charge' },
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
