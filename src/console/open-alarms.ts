/** The open alarms, for all screens: loaded once, then kept up to date by the stream of their events. */
import { computed, effect, signal } from '@preact/signals'
import type { Alarm } from '#services/alarms/contract'
import { API } from './base.ts'
import { now, restored } from './connection.ts'
import { follow } from './loading.ts'
import { api, may, session, sessionFetch } from './session.ts'
import { bySeverity, needsAction } from './words/alarms.ts'
import { messageOf } from './words/errors.ts'

/** undefined until the first answer */
export const openAlarms = signal<readonly Alarm[] | undefined>(undefined)
export const openTotal = signal(0)
export const alarmsError = signal<string | undefined>(undefined)
/** changes with each event, so that lists of others follow */
export const alarmRound = signal(0)

const MOST = 500

export const unacknowledged = computed(() =>
  (openAlarms.value ?? []).filter((alarm) => needsAction(alarm, now.value)).sort(bySeverity),
)

export async function loadAlarms(): Promise<void> {
  try {
    const page = await api.alarms.list({ status: ['ACTIVE', 'ACKNOWLEDGED'], size: MOST, history: false })
    openAlarms.value = page.alarms
    openTotal.value = page.total
    alarmsError.value = undefined
  } catch (thrown) {
    alarmsError.value = messageOf(thrown)
  }
}

/** Bursts of events lead to one request. */
const PAUSE = 300

async function readEvents(signal: AbortSignal, noted: () => void): Promise<void> {
  const headers = { accept: 'text/event-stream' }
  const answer = await sessionFetch(`${API}/alarm/events`, { headers, signal })
  const reader = answer.ok ? answer.body?.getReader() : undefined
  // what happened before the stream began
  noted()
  for (;;) {
    const part = await reader?.read()
    if (part === undefined || part.done) return
    if (new TextDecoder().decode(part.value).includes('data:')) noted()
  }
}

/** Follows the alarms while a user is logged in. */
export function startAlarms(): void {
  effect(() => {
    if (!session.value || !may('read')) return
    const ending = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const noted = (): void => {
      timer ??= setTimeout(() => {
        timer = undefined
        alarmRound.value++
        void loadAlarms()
      }, PAUSE)
    }
    void loadAlarms()
    void follow((signal) => readEvents(signal, noted), ending.signal)
    const stop = restored.subscribe(noted)
    return () => {
      ending.abort()
      clearTimeout(timer)
      stop()
    }
  })
}
