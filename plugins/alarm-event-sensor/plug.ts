/** A sensor for events of the alarms of its resource. */
import { definePlug, isPlainObject, ownValue, problemsOfCode, textList } from '#plug'

const RAISED = 'io.service.alarm.AlarmRaised'
const AGAIN = 'io.service.alarm.EventOccuredAgain'
const ANNOUNCED = 'io.service.alarm.AlarmAnnounced'
const COMMENTED = 'io.service.alarm.AlarmCommented'

export const alarmEventSensor = definePlug({
  name: 'AlarmEventSensor',
  version: '1.1.0',
  compatible: '>=1.0.0 <2',
  kind: 'sensor',
  description: 'Shows the last event of an alarm of its resource. Events that do not match its filters change nothing.',
  category: 'Alarms',
  channel: 'alarm',
  parameters: ['alarm', 'eventtype', 'eventtime', 'changes'],
  states: ['Created', 'Updated', 'Occurred again', 'Cleared', 'Announced', 'Commented'],
  input: {
    type: { type: 'any', description: 'alarm types: a text with commas, or a list', example: 'OVERHEATED' },
    status: { type: 'any', description: 'statuses, of the alarm after the event', example: ['ACTIVE', 'ACKNOWLEDGED'] },
    severity: { type: 'any', description: 'severities, of the alarm after the event', example: 'CRITICAL,MAJOR' },
    lifecycle: {
      type: 'any',
      description: 'unacknowledged, acknowledged, returned or normal, of the alarm after the event',
      example: 'unacknowledged',
    },
    suppression: {
      type: 'any',
      description: 'none, shelved, suppressed or outOfService, of the alarm after the event',
      example: 'none',
    },
  },
  output: {
    alarm: { type: 'object', description: 'the alarm after the event' },
    eventtype: { type: 'string', description: 'type of the event' },
    eventtime: { type: 'string', description: 'time of the event, ISO 8601' },
    changes: { type: 'array', description: 'for updates: attribute, oldValue, newValue and type of each change' },
  },
  check: ({ type, status, severity, lifecycle, suppression }) => [
    ...problemsOfCode('type', type, textList),
    ...problemsOfCode('status', status, wordsOf),
    ...problemsOfCode('severity', severity, wordsOf),
    ...problemsOfCode('lifecycle', lifecycle, textList),
    ...problemsOfCode('suppression', suppression, textList),
  ],
  prepare: ({ type, status, severity, lifecycle, suppression }) => ({
    type: textList(type),
    lifecycle: textList(lifecycle),
    suppression: textList(suppression),
    status: wordsOf(status),
    severity: wordsOf(severity),
  }),
  execute(context) {
    const alarm = context.streamValue('alarm')
    const eventtype = context.streamValue('eventtype')
    if (!isPlainObject(alarm) || typeof eventtype !== 'string') return undefined
    const fits = FILTERS.every((name) => {
      const words = context.prepared[name]
      const value = alarm[name]
      return words.length === 0 || (typeof value === 'string' && words.includes(value))
    })
    if (!fits) return undefined
    const changes = context.streamValue('changes')
    const eventtime = context.streamValue('eventtime')
    return {
      state: stateOf(eventtype, changes),
      rawData: { alarm, eventtype, eventtime, ...(Array.isArray(changes) && { changes }) },
    }
  },
})

const FILTERS = ['type', 'status', 'severity', 'lifecycle', 'suppression'] as const

type State = 'Created' | 'Updated' | 'Occurred again' | 'Cleared' | 'Announced' | 'Commented'

function stateOf(eventtype: string, changes: unknown): State {
  if (eventtype === RAISED) return 'Created'
  if (eventtype === AGAIN) return 'Occurred again'
  if (eventtype === ANNOUNCED) return 'Announced'
  if (eventtype === COMMENTED) return 'Commented'
  const isCleared =
    Array.isArray(changes) && changes.some((change: unknown) => ownValue(change, 'newValue') === 'CLEARED')
  return isCleared ? 'Cleared' : 'Updated'
}

function wordsOf(value: unknown): readonly string[] {
  return textList(value).map((word) => word.toUpperCase())
}
