/** `reflexarc clock`: makes the host of a data folder follow the clock of its machine. */
import { DATA, dataFolder, type DefineCommand } from './command.ts'
import { existsSync } from 'node:fs'
import { AppError } from '#kernel'
import {
  type Environment,
  isOrdered,
  LOOK_MS,
  machineTimers,
  orderFollowing,
  type Timers,
  withdrawOrder,
} from '#host/spi'
import type { Terminal } from './terminal.ts'

export const define: DefineCommand = (command, start) => {
  command
    .description(
      "Sets the time of the host that uses the data folder to its machine's clock at once, forward or back. " +
        'Without it, a host whose clock was ahead for a while runs a tenth slower until both agree; ' +
        '/health reports the lead. Set the clock of the machine first.',
    )
    .requiredOption('--follow', 'follow the clock of the machine')
    .option(...DATA)
    .action((flags: ClockFlags) => start((terminal) => runClock(flags, process.env, terminal)))
}

export interface ClockFlags {
  follow: boolean
  data?: string
}

/** Time in ms to wait for a response; without one, no host uses the folder */
const PATIENCE_MS = 10 * LOOK_MS
const POLL_MS = 50

/** Resolves when the host follows. Throws `USAGE` for a missing folder, `STORE` if no host responds. */
export async function runClock(
  { data }: ClockFlags,
  env: Environment,
  terminal: Pick<Terminal, 'out'>,
  timers: Pick<Timers, 'after' | 'elapsed'> = machineTimers,
): Promise<0> {
  const folder = dataFolder({ data }, env)
  if (!existsSync(folder)) {
    throw new AppError('USAGE', `--data: the folder ${folder} does not exist; use the data folder of a host`)
  }
  orderFollowing(folder)
  const until = timers.elapsed() + PATIENCE_MS
  while (isOrdered(folder)) {
    if (timers.elapsed() >= until) {
      withdrawOrder(folder)
      const seconds = PATIENCE_MS / 1000
      throw new AppError(
        'STORE',
        `no host responded within ${seconds} s: set --data to the data folder of a running host`,
      )
    }
    await new Promise<void>((resolved) => timers.after(POLL_MS, resolved))
  }
  terminal.out('the host follows the clock of its machine; its log and /health report the difference\n')
  return 0
}
