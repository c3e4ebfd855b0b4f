/** The fixed words of the alarms interface. */
import type { AlarmStatus, Severity } from './contract.ts'

export const SEVERITIES = ['CRITICAL', 'MAJOR', 'MINOR', 'WARNING'] as const satisfies readonly Severity[]
export const STATUSES = ['ACTIVE', 'ACKNOWLEDGED', 'CLEARED'] as const satisfies readonly AlarmStatus[]

export const RAISED = 'io.service.alarm.AlarmRaised'
export const OCCURRED_AGAIN = 'io.service.alarm.EventOccuredAgain'
export const UPDATED = 'io.service.alarm.AlarmUpdated'

export const RECORD_TEXTS: Readonly<Record<string, string>> = {
  [RAISED]: 'Alarm raised',
  [OCCURRED_AGAIN]: 'Alarm event occured again',
  [UPDATED]: 'Alarm updated',
}

export const STATUS_CHANGE = 'io.service.alarm.change.status'
export const SEVERITY_CHANGE = 'io.service.alarm.change.severity'
export const ATTRIBUTE_CHANGE = 'io.service.alarm.change.attribute'

/** The enumerated word in any letter case, as it is stored; undefined for others. */
export function wordIn<T extends string>(words: readonly T[], given: unknown): T | undefined {
  if (typeof given !== 'string') return undefined
  const upper = given.toUpperCase()
  return words.find((word) => word === upper)
}
