/** The command `next` and its options. */
import type { DefineCommand } from './command.ts'
import type { NextFlags } from './run-next.ts'

/** `reflexarc next EXPR`: the next runs of a cron expression or recurrence rule, and what the clocks do to them. */
export const defineNext: DefineCommand = (program, start) => {
  program
    .command('next')
    .summary('list the next runs of a cron expression or recurrence rule')
    .description(
      'Lists the next runs of a cron expression (Quartz with 6 or 7 fields, unix with 5, @daily) or an RFC 5545 rule, marks\n' +
        'what the changes of the clocks do to it within two years, and tries a downtime under each misfire policy.\n\n' +
        'Times are ISO 8601, YYYY-MM-DD HH:MM:SS, or epoch numbers; without an offset they are read in the zone.\n' +
        'A rule may have lines of its own for DTSTART, RDATE and EXDATE; write \\n between them.',
    )
    .argument(
      '<expression...>',
      'such as "0 30 2 * * ?" or "FREQ=DAILY;BYHOUR=2"; quote it, or the shell reads its stars',
    )
    .option('--zone <zone>', 'IANA name or offset (default: that of DTSTART, else UTC)')
    .option('-n, --count <number>', 'how many runs, 1 to 10000', '10')
    .option('--from <time>', 'list runs from here on (default: now)')
    .option('--down <from..to>', 'show what runs late and what is skipped when the process is down between two times')
    .option('--dst-gap <policy>', 'a time that the clocks skip: shift or skip (default: shift)')
    .option(
      '--dst-overlap <policy>',
      'a time that comes twice: first, second or both (default: first, or both when it runs every hour)',
    )
    .option('--changes', 'with --json: add a line { changes } for the days on which the clocks change')
    .option('--json', 'print one run a line: { at, scheduledAt, note? }; with --down a last line { downtime }')
    .addHelpText('after', '\nExample:\n  reflexarc next "0 30 2 * * ?" --zone Europe/Brussels --from 2026-03-28 -n 3')
    .action((expression: readonly string[], flags: NextFlags) =>
      start(async (terminal) =>
        (await import('./run-next.ts')).runNext(expression.join(' '), flags, terminal, Date.now()),
      ),
    )
}
