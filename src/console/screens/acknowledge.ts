/** Changes the status of an alarm: shown at once, and put back with the reason if the host rejects it. */
import type { Alarm } from '#services/alarms/contract'
import { loadAlarms, openAlarms } from '../open-alarms.ts'
import { done } from '../parts/undo.tsx'
import { api } from '../session.ts'
import { messageOf } from '../words/errors.ts'

export async function changeStatus(alarm: Alarm, status: Alarm['status']): Promise<void> {
  const { id, status: before } = alarm
  const list = openAlarms.value ?? []
  openAlarms.value =
    status === 'CLEARED'
      ? list.filter((one) => one.id !== id)
      : list.map((one) => (one.id === id ? { ...one, status } : one))
  try {
    await api.alarms.update(id, { status })
    const undo = (): void => void putBack(id, before)
    // a cleared alarm is final
    if (status === 'CLEARED') done('The alarm is cleared')
    else done('The alarm is acknowledged', undo)
  } catch (thrown) {
    done(`The alarm stays as it was: ${messageOf(thrown)}`)
  }
  await loadAlarms()
}

export function acknowledge(alarm: Alarm): Promise<void> {
  return changeStatus(alarm, 'ACKNOWLEDGED')
}

async function putBack(id: string, status: Alarm['status']): Promise<void> {
  try {
    await api.alarms.update(id, { status })
    await loadAlarms()
  } catch (thrown) {
    done(messageOf(thrown))
  }
}
