/** A host whose replay number is not that of the others does not start. */
import { checkReplay, type Program, TTL_MS } from '#cluster'
import { AppError } from '#kernel'
import type { Store } from '#storage'
import { machineTimers, type Timers } from '../timers.ts'

/** ms between two looks */
const PAUSE_MS = 250

/** Waits for as long as hosts may seem to be there that are not. `STORE` with what to do. */
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
