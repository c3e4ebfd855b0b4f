/** Stops the start of a host whose replay number differs from the cluster's. */
import { checkReplay, type Program, TTL_MS } from '#cluster'
import { AppError } from '#kernel'
import type { Store } from '#storage'
import { machineTimers, type Timers } from '../timers.ts'

/** Interval between checks in ms */
const PAUSE_MS = 250

/** Waits until hosts that are gone have expired. Throws `STORE` with instructions if the numbers still differ. */
export async function requireReplay(store: Store, program: Program, timers: Timers = machineTimers): Promise<void> {
  const until = timers.elapsed() + TTL_MS + PAUSE_MS
  for (;;) {
    const { problems, passes } = await checkReplay(store, program)
    if (problems.length === 0) return
    if (!passes || timers.elapsed() > until) {
      throw new AppError('STORE', `This host cannot join the cluster: ${problems.join('; ')}`)
    }
    await new Promise<void>((resolve) => timers.after(PAUSE_MS, resolve))
  }
}
