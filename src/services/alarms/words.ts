/** Names used in the interface of the alarms service. */
export const RAISED = 'io.service.alarm.AlarmRaised'
/** the platform spells it so */
export const OCCURRED_AGAIN = 'io.service.alarm.EventOccuredAgain'
export const UPDATED = 'io.service.alarm.AlarmUpdated'

/** an open alarm is not held back any more, so people should see it */
export const ANNOUNCED = 'io.service.alarm.AlarmAnnounced'
export const COMMENTED = 'io.service.alarm.AlarmCommented'

export const RECORD_TEXTS: Readonly<Record<string, string>> = {
  [RAISED]: 'Alarm raised',
  [OCCURRED_AGAIN]: 'Alarm event occurred again',
  [UPDATED]: 'Alarm updated',
  [COMMENTED]: 'Alarm commented',
}

export const STATUS_CHANGE = 'io.service.alarm.change.status'
export const SEVERITY_CHANGE = 'io.service.alarm.change.severity'
export const ATTRIBUTE_CHANGE = 'io.service.alarm.change.attribute'

/** The user of changes that become due by themselves. */
export const HOST_ITSELF = 'system/alarms'
