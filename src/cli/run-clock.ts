/** What `clock` does. */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { AppError } from '#kernel'
import {
  type Environment,
  isOrdered,
  LOOK_MS,
  machineTimers,
  OPTIONS,
  orderFollowing,
  type Timers,
  withdrawOrder,
} from '#host/spi'
import type { Terminal } from './terminal.ts'

/** Options as the command line gives them. */
export interface ClockFlags {
  follow: boolean
  data?: string
}

/** ms after which no host has the folder */
const PATIENCE_MS = 10 * LOOK_MS
const POLL_MS = 50

/** Resolves when the host has done it. `USAGE` for a folder that is not there, `STORE` when no host takes the order. */
export async function runClock(
  { data }: ClockFlags,
  env: Environment,
  terminal: Pick<Terminal, 'out'>,
  timers: Pick<Timers, 'after' | 'elapsed'> = machineTimers,
): Promise<0> {
  const folder = resolve(data ?? (env[OPTIONS.data.env] || OPTIONS.data.default))
  if (!existsSync(folder)) {
    throw new AppError('USAGE', `--data: missing folder ${folder}; name the data folder of a host`)
  }
  orderFollowing(folder)
  const until = timers.elapsed() + PATIENCE_MS
  while (isOrdered(folder)) {
    if (timers.elapsed() >= until) {
      withdrawOrder(folder)
      const seconds = PATIENCE_MS / 1000
      throw new AppError('STORE', `no host took the order within ${seconds} s: name the data folder of one that runs`)
    }
    await new Promise<void>((resolved) => timers.after(POLL_MS, resolved))
  }
  terminal.out('the host has the time of its machine; its log and /health tell how it stands\n')
  return 0
}
