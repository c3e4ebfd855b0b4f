/** The body of an update: what an alarm is to be from then on. */
import { BodyReader } from './body-reader.ts'
import type { AlarmStatus, Severity } from './contract.ts'
import { SEVERITIES, STATUSES } from './words.ts'

/** Absent members stay; null takes away. Plain JSON. */
export interface AlarmChange {
  readonly severity?: Severity
  readonly status?: AlarmStatus
  readonly assignee?: string | null
  /** epoch ms */
  readonly snoozeUntil?: number | null
}

const NAMES = ['severity', 'status', 'assignee', 'snoozeUntil'] as const

/** `VALIDATION` with all problems, also when nothing is to change. Other members say nothing. */
export function readChange(body: unknown, what = 'the update'): AlarmChange {
  const reader = BodyReader.of(body, what)
  const change = changeOf(reader)
  reader.done(what)
  return change
}

export function changeOf(reader: BodyReader): AlarmChange {
  if (!NAMES.some((name) => reader.has(name))) {
    reader.wrong('', 'has nothing to change', `give at least one of ${NAMES.join(', ')}`)
  }
  const severity = reader.word('severity', SEVERITIES)
  const status = reader.word('status', STATUSES)
  const assignee = reader.isNull('assignee') ? '' : reader.text('assignee', 500)
  const snoozeUntil = reader.isNull('snoozeUntil') ? null : reader.time('snoozeUntil')
  return {
    ...(severity && { severity }),
    ...(status && { status }),
    ...(assignee !== undefined && { assignee: assignee === '' ? null : assignee }),
    ...(snoozeUntil !== undefined && { snoozeUntil }),
  }
}
