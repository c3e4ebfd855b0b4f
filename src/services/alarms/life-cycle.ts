/** The life cycle of an alarm after ISA-18.2, and its relation to the statuses of the platform, as tables. */

export const STATUSES = ['ACTIVE', 'ACKNOWLEDGED', 'CLEARED'] as const
export type AlarmStatus = (typeof STATUSES)[number]

/** `returned`: the condition is over, but the alarm is not acknowledged. `normal`: the alarm is over, for good. */
export const LIFECYCLES = ['unacknowledged', 'acknowledged', 'returned', 'normal'] as const
export type Lifecycle = (typeof LIFECYCLES)[number]

/**
 * What keeps an alarm from people: its shelving by a person, a suppression by design, or a source that is out of
 * service.
 */
export const SUPPRESSIONS = ['none', 'shelved', 'suppressed', 'outOfService'] as const
export type Suppression = (typeof SUPPRESSIONS)[number]
export type Held = Exclude<Suppression, 'none'>

/** The status that clients of the platform see. Suppression never affects it; a `normal` alarm has none. */
export const STATUS_OF: Readonly<Record<Lifecycle, AlarmStatus>> = {
  unacknowledged: 'ACTIVE',
  acknowledged: 'ACKNOWLEDGED',
  returned: 'ACTIVE',
  normal: 'CLEARED',
}

/** The next state; `FINAL`: the change is rejected; `OVER`: `returned` for latching types, otherwise `normal`. */
type Next = Lifecycle | 'FINAL' | 'OVER'

/**
 * What each status in a PUT leads to, by state. A client that sends back the status it has read changes nothing, and
 * to acknowledge a returned alarm ends it. Suppression stays as it is.
 */
const PUT_STATUS: Readonly<Record<Lifecycle, Readonly<Record<AlarmStatus, Next>>>> = {
  unacknowledged: { ACTIVE: 'unacknowledged', ACKNOWLEDGED: 'acknowledged', CLEARED: 'OVER' },
  acknowledged: { ACTIVE: 'unacknowledged', ACKNOWLEDGED: 'acknowledged', CLEARED: 'normal' },
  returned: { ACTIVE: 'returned', ACKNOWLEDGED: 'normal', CLEARED: 'OVER' },
  normal: { ACTIVE: 'FINAL', ACKNOWLEDGED: 'FINAL', CLEARED: 'FINAL' },
}

/** What a raise leads to, by state; after `normal` it is another alarm. */
export const RAISE: Readonly<Record<Exclude<Lifecycle, 'normal'>, Lifecycle>> = {
  unacknowledged: 'unacknowledged',
  acknowledged: 'acknowledged',
  returned: 'unacknowledged',
}

export function afterPut(state: Lifecycle, status: AlarmStatus, isLatching: boolean): Lifecycle | 'FINAL' {
  const next = PUT_STATUS[state][status]
  if (next !== 'OVER') return next
  return isLatching ? 'returned' : 'normal'
}

/** The state that a stored status implies; an alarm that has returned is marked. */
export function lifecycleOf({
  status,
  hasReturned = false,
}: {
  readonly status: AlarmStatus
  readonly hasReturned?: boolean
}): Lifecycle {
  if (status === 'CLEARED') return 'normal'
  if (status === 'ACKNOWLEDGED') return 'acknowledged'
  return hasReturned ? 'returned' : 'unacknowledged'
}
