/** Whether the host answers, and what its clock says. */
import { computed, signal } from '@preact/signals'

/** ms by which the host's clock is ahead of this machine's */
const offset = signal(0)
const ticking = signal(Date.now())
/** the first failed request since the last answer, epoch ms; busy: the host answered that it cannot answer */
const failure = signal<{ readonly since: number; readonly isBusy: boolean } | null>(null)
/** epoch ms by this machine's clock of the next attempt */
const nextAttempt = signal<number | null>(null)

/** The host's time, epoch ms; changes once a second. */
export const now = computed(() => ticking.value + offset.value)

/** A failure that is shorter is not stated, ms. */
const PATIENCE = 2_000

/** Whether the connection is lost for longer than two seconds, since when, and when it is tried again. */
export const lost = computed(() => {
  const failed = failure.value
  if (failed === null || ticking.value - failed.since < PATIENCE) return null
  const next = nextAttempt.value
  return {
    since: failed.since + offset.value,
    isBusy: failed.isBusy,
    seconds: next === null ? 0 : Math.max(0, Math.ceil((next - ticking.value) / 1_000)),
  }
})

/** Number of the times that the connection came back: what was loaded before may be out of date. */
export const restored = signal(0)
/** The last time without a connection, by the host's clock; events in it are caught up with. */
export const gap = signal<{ readonly from: number; readonly until: number } | null>(null)

/** Differences below that are the rounding of the header and the way of the answer. */
const CLOCK_STEP = 2_000

export function noteAnswer(answer: Response): void {
  const time = Date.parse(answer.headers.get('date') ?? '')
  const difference = time - Date.now()
  if (Number.isFinite(difference) && Math.abs(difference - offset.value) > CLOCK_STEP) offset.value = difference
  if (answer.status === 502 || answer.status === 503) return noteFailure(true)
  const { value: failed } = failure
  if (failed === null) return
  failure.value = null
  nextAttempt.value = null
  // one route that answers 503 for a moment leaves the others as they are
  if (failed.isBusy && Date.now() - failed.since < PATIENCE) return
  gap.value = { from: failed.since + offset.value, until: Date.now() + offset.value }
  restored.value++
}

export function noteFailure(isBusy = false): void {
  failure.value ??= { since: Date.now(), isBusy }
}

/** Notes that attempt `number` follows after a pause of 1 s, 2 s, 4 s ... at most 15 s, and returns the pause in ms. */
export function planAttempt(number: number): number {
  const ms = Math.min(15_000, 1_000 * 2 ** Math.min(number, 4))
  nextAttempt.value = Date.now() + ms
  return ms
}

/** Keeps the time, and asks whether the host is well after a failure. Returns how to stop. */
export function startClock(probe: () => Promise<Response>): () => void {
  let failures = 0
  let next = 0
  const tick = async (): Promise<void> => {
    ticking.value = Date.now()
    if (failure.value === null) failures = next = 0
    else if (ticking.value >= next) {
      next = Infinity
      try {
        noteAnswer(await probe())
      } catch {
        noteFailure()
      }
      next = failure.value === null ? 0 : Date.now() + planAttempt(failures++)
    }
  }
  const timer = setInterval(() => void tick(), 1_000)
  return () => clearInterval(timer)
}
