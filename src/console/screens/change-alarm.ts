/** Changes an alarm: shown at once, with undo, and put back with the reason if the host rejects it. */
import type { Alarm } from '#services/alarms/contract'
import { now } from '../connection.ts'
import { loadAlarms, openAlarms } from '../open-alarms.ts'
import { done } from '../parts/undo.tsx'
import { api, session } from '../session.ts'
import { zone } from '../settings.ts'
import { messageOf } from '../words/errors.ts'
import { timeText } from '../words/times.ts'

/** null removes a field */
interface Change {
  readonly status?: Alarm['status']
  readonly assignee?: string | null
}

async function update(alarm: Alarm, change: Change, said: string): Promise<void> {
  const { id, status, assignee = null } = alarm
  const list = openAlarms.value ?? []
  const { assignee: _assignee, lifecycle: _lifecycle, ...rest } = alarm
  const next = Object.fromEntries(
    Object.entries({ ...rest, assignee, ...change }).filter(([, value]) => value !== null),
  ) as unknown as Alarm
  openAlarms.value =
    change.status === 'CLEARED' ? list.filter((one) => one.id !== id) : list.map((one) => (one.id === id ? next : one))
  try {
    await api.alarms.update(id, change)
    const before: Change = {
      ...(change.status !== undefined && { status }),
      ...(change.assignee !== undefined && { assignee }),
    }
    // a cleared alarm is final
    if (change.status === 'CLEARED') done(said)
    else done(said, () => void update(next, before, 'The alarm is as it was'))
  } catch (thrown) {
    done(`The alarm stays as it was: ${messageOf(thrown)}`)
  }
  await loadAlarms()
}

export function changeStatus(alarm: Alarm, status: 'ACKNOWLEDGED' | 'CLEARED'): Promise<void> {
  return update(alarm, { status }, `The alarm is ${status.toLowerCase()}`)
}

/** Assigns the alarm to the user of the session. */
export function assignToMe(alarm: Alarm): Promise<void> {
  const { user = '' } = session.value ?? {}
  return update(alarm, { assignee: user }, `The alarm is assigned to ${user}`)
}

/** Shelves the alarm: until then it needs no action, and repeats are only counted. */
export function shelve(alarm: Alarm, ms: number, reason: string): Promise<void> {
  const until = now.value + ms
  const said = `The alarm is shelved until ${timeText(until, zone.value, now.value)}`
  const shelving = { until: new Date(until).toISOString(), reason }
  return ask(
    () => api.alarms.shelve(alarm.id, shelving),
    said,
    () => void unshelve(alarm),
  )
}

export function unshelve({ id }: Alarm): Promise<void> {
  return ask(() => api.alarms.unshelve(id), 'The alarm is not shelved any more')
}

export function comment({ id }: Alarm, text: string): Promise<void> {
  return ask(() => api.alarms.comment(id, { text }), 'The comment is added')
}

async function ask(change: () => Promise<unknown>, said: string, undo?: () => void): Promise<void> {
  try {
    await change()
    done(said, undo)
  } catch (thrown) {
    done(`The alarm stays as it was: ${messageOf(thrown)}`)
  }
  await loadAlarms()
}
