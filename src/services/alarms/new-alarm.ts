/** Parses the body that raises an alarm. */
import { AppError, isPlainObject, type Issue, type Json, refusedBy } from '#kernel'
import { type AlarmExtras, EXTRAS, NewAlarm, type Severity } from './alarm-schema.ts'
import type { AlarmStatus } from './life-cycle.ts'
import { MAX_SEARCHED, searchTexts } from './search-texts.ts'

/** A raised alarm in its stored form. Times are epoch ms. */
export interface RaisedAlarm extends AlarmExtras {
  readonly type: string
  readonly text: string
  readonly severity: Severity
  readonly source: Readonly<Record<string, Json>> & { readonly id: string }
  readonly status: AlarmStatus
  readonly timestamp?: number
  readonly assignee?: string
  readonly properties?: Readonly<Record<string, Json>>
  readonly snoozeUntil?: number
}

const MAX_BODY = 65_536

export function readAlarm(body: unknown, now: number): RaisedAlarm {
  const alarm = NewAlarm.read(body)
  const properties = propertiesOf(alarm)
  requireSize(body, properties)
  const { type, text, severity, source, status = 'ACTIVE', timestamp, assignee, snoozeUntil } = alarm
  return {
    type,
    text,
    severity,
    source,
    status,
    ...(timestamp !== undefined && { timestamp }),
    ...(typeof assignee === 'string' && { assignee }),
    ...(Object.keys(properties).length > 0 && { properties }),
    ...(typeof snoozeUntil === 'number' && snoozeUntil > now && { snoozeUntil }),
    ...extrasOf(alarm),
  }
}

export function issuesOfAlarm(body: unknown, now: number): readonly Issue[] {
  return refusedBy(() => readAlarm(isPlainObject(body) ? { ...COMPLETE, ...body } : body, now))
}

const COMPLETE = { type: 'x', text: 'x', severity: 'MINOR', source: { id: 'x' } }
const OWN: ReadonlySet<string> = new Set(Object.keys(NewAlarm.schema.properties))
const EXTRA_NAMES = Object.keys(EXTRAS) as readonly (keyof AlarmExtras)[]

export function extrasOf(alarm: AlarmExtras): AlarmExtras {
  const extras: { -readonly [Name in keyof AlarmExtras]: unknown } = {}
  for (const name of EXTRA_NAMES) if (alarm[name] !== undefined) extras[name] = alarm[name]
  return extras as AlarmExtras
}

function propertiesOf(alarm: object): Readonly<Record<string, Json>> {
  const properties: Record<string, Json> = {}
  for (const [name, value] of Object.entries(alarm))
    if (!OWN.has(name) && value !== undefined) properties[name] = value as Json
  return properties
}

function requireSize(body: unknown, properties: Readonly<Record<string, Json>>): void {
  const { length } = JSON.stringify(body)
  if (length > MAX_BODY) {
    throw new AppError('TOO_LARGE', `the alarm has ${length} characters; at most ${MAX_BODY} are accepted`)
  }
  const { length: count } = searchTexts(properties)
  if (count > MAX_SEARCHED) {
    throw new AppError('TOO_LARGE', `the alarm has ${count} additional values; at most ${MAX_SEARCHED} are accepted`)
  }
}
