/** Waiting for plugs in real time, but not for ever. */
import { interval, last, take, type Subscription } from 'rxjs'
import type { CoreEngine } from '#core'

/** Turns that the loop must at least have made: what it is busy with itself is not held against a plug. */
const TURNS = 20

/** Tells after so many ms, unless it is unsubscribed; later when the loop is busy. */
export function afterPatience(ms: number, tell: () => void): Subscription {
  const turns = ms === 0 ? 1 : TURNS
  return interval(ms / turns)
    .pipe(take(turns), last())
    .subscribe(tell)
}

/** False when calls are still open after so many ms. */
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
