/** Waits for plugs in real time, up to a limit. */
import { interval, last, take, type Subscription } from 'rxjs'
import type { CoreEngine } from '#core'

/** Minimum number of event loop turns, so that a busy loop does not count against a plug. */
const TURNS = 20

/** Calls back after `ms`, or later if the loop is busy, unless unsubscribed first. */
export function afterPatience(ms: number, callback: () => void): Subscription {
  const turns = ms === 0 ? 1 : TURNS
  return interval(ms / turns)
    .pipe(take(turns), last())
    .subscribe(callback)
}

/** Waits up to `ms` for open calls. Returns false if any are still open. */
export async function isSettledWithin(engine: Pick<CoreEngine, 'openCalls' | 'settled'>, ms: number): Promise<boolean> {
  let giveUp: () => void = () => undefined
  const outOfPatience = new Promise<boolean>((resolve) => {
    giveUp = () => resolve(false)
  })
  const waiting = afterPatience(ms, giveUp)
  try {
    while (engine.openCalls > 0) {
      const isPatient = await Promise.race([engine.settled().then(() => true), outOfPatience])
      if (!isPatient) return false
    }
    return true
  } finally {
    waiting.unsubscribe()
  }
}
