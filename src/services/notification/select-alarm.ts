/** Decides whether a policy is about an alarm. */
import { ownValue } from '#kernel'
import type { NotifiedAlarm } from './notification-record.ts'
import type { Selection } from './policy-schema.ts'

export interface Selectable {
  readonly alarm: NotifiedAlarm
  /** all fields of the source */
  readonly source: Readonly<Record<string, unknown>>
}

export function isSelected(selection: Selection | undefined, { alarm, source }: Selectable): boolean {
  if (selection === undefined) return true
  const { severities, types, resources, prefix, tags } = selection
  return (
    (severities === undefined || severities.some((one) => one === alarm.severity)) &&
    (types === undefined || types.includes(alarm.type)) &&
    (resources === undefined || resources.includes(alarm.source)) &&
    (prefix === undefined || alarm.source.startsWith(prefix)) &&
    (tags === undefined || Object.entries(tags).every(([name, value]) => String(ownValue(source, name)) === value))
  )
}
