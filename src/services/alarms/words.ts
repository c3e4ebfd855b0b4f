/** Names used in the interface of the alarms service. */
export const RAISED = 'io.service.alarm.AlarmRaised'
/** the platform spells it so */
export const OCCURRED_AGAIN = 'io.service.alarm.EventOccuredAgain'
export const UPDATED = 'io.service.alarm.AlarmUpdated'

export const RECORD_TEXTS: Readonly<Record<string, string>> = {
  [RAISED]: 'Alarm raised',
  [OCCURRED_AGAIN]: 'Alarm event occurred again',
  [UPDATED]: 'Alarm updated',
}

export const STATUS_CHANGE = 'io.service.alarm.change.status'
export const SEVERITY_CHANGE = 'io.service.alarm.change.severity'
export const ATTRIBUTE_CHANGE = 'io.service.alarm.change.attribute'
