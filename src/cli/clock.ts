/** The command `clock` and its options. */
import type { DefineCommand } from './command.ts'
import type { ClockFlags } from './run-clock.ts'

/** `reflexarc clock`: has the host that has the data folder follow the clock of its machine. */
export const defineClock: DefineCommand = (program, start) => {
  program
    .command('clock')
    .summary('have a host return to the time of its machine')
    .description(
      "Has the running host that has the data folder take the time of its machine's clock at once, forward or back. " +
        'Without it, a host whose clock was ahead for a while runs a tenth slower until both agree; ' +
        '/health reports the lead. Set the clock of the machine first.',
    )
    .requiredOption('--follow', 'take the time of the machine')
    .option('--data <folder>', 'the data folder of the host (REFLEXARC_DATA, default ./data)')
    .action((flags: ClockFlags) =>
      start(async (terminal) => (await import('./run-clock.ts')).runClock(flags, process.env, terminal)),
    )
}
