/** Whether the host answers, and what its clock says. */
import { computed, signal } from '@preact/signals'

/** ms by which the host's clock is ahead of this machine's */
const offset = signal(0)
const ticking = signal(Date.now())
/** epoch ms of the first failed request since the last answer */
const failedSince = signal<number | null>(null)
/** epoch ms by this machine's clock of the next attempt */
const nextAttempt = signal<number | null>(null)

/** The host's time, epoch ms; changes once a second. */
export const now = computed(() => ticking.value + offset.value)

/** Whether the connection is lost for longer than two seconds, since when, and when it is tried again. */
export const lost = computed(() => {
  const since = failedSince.value
  if (since === null || ticking.value - since < 2_000) return null
  const next = nextAttempt.value
  return {
    since: since + offset.value,
    seconds: next === null ? 0 : Math.max(0, Math.ceil((next - ticking.value) / 1_000)),
  }
})

/** Number of the times that the connection came back: what was loaded before may be out of date. */
export const restored = signal(0)

/** Differences below that are the rounding of the header and the way of the answer. */
const CLOCK_STEP = 2_000

export function noteAnswer(answer: Response): void {
  const time = Date.parse(answer.headers.get('date') ?? '')
  const difference = time - Date.now()
  if (Number.isFinite(difference) && Math.abs(difference - offset.value) > CLOCK_STEP) offset.value = difference
  if (answer.status === 502 || answer.status === 503) return noteFailure()
  if (failedSince.value === null) return
  failedSince.value = null
  nextAttempt.value = null
  restored.value++
}

export function noteFailure(): void {
  failedSince.value ??= Date.now()
}

/** Resolves after the pause before attempt `number`: 1 s, 2 s, 4 s ... at most 15 s, or at once when the network returns. */
export function pauseBefore(number: number, signal: AbortSignal): Promise<void> {
  const ms = Math.min(15_000, 1_000 * 2 ** Math.min(number, 4))
  nextAttempt.value = Date.now() + ms
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer)
      removeEventListener('online', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    addEventListener('online', done)
    signal.addEventListener('abort', done, { once: true })
  })
}

export function startClock(): void {
  setInterval(() => (ticking.value = Date.now()), 1_000)
}
