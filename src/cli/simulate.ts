/** The command `simulate` and its options. */
import { gather, PLUGS, type DefineCommand } from './command.ts'
import { ORDER_HELP } from './recording/play-order.ts'
import { withReadingFlags } from './recording/reading-flags.ts'
import type { SimulateFlags } from './simulate-options.ts'

/** `reflexarc simulate RULE`: runs a rule over a recording in virtual time and tells what fired, and why. */
export const defineSimulate: DefineCommand = (program, start) => {
  withReadingFlags(program.command('simulate'))
    .summary('run a rule over a recording, in virtual time')
    .description(
      'Runs a rule or template over recorded messages in virtual time and prints what fired.\n' +
        'The whole recording is checked before anything runs.\n\n' +
        'A recording is NDJSON (one message a line: resource, timestamp, values) or CSV with a header row and a column\n' +
        'timestamp; a column resource is used when there, every other column is a value. Its first character decides.\n' +
        'A column is numbers when each of its cells is one such as -12.50, else text (--types names it).\n' +
        'Times are ISO 8601, YYYY-MM-DD HH:MM:SS, or epoch milliseconds (--unit names another unit).',
    )
    .argument('<rule>', 'rule or template, a JSON file; - is standard input')
    .option('--messages <file>', 'recording; - is standard input. Without it only the clock runs the rule')
    .option('--resource <id>', "resource of the task, and of messages that name none (default: the rule's own)")
    .option('--from <time>', 'begin here: earlier messages are left out (default: the first message)')
    .option('--until <time>', 'end here: later messages are left out (default: the last message)')
    .option('--set <name=value>', 'a variable of the task; the value is JSON, else text (repeatable)', gather, [])
    .option('--zone <zone>', 'zone of times without an offset, and of the times shown', 'UTC')
    .option('--seed <number>', 'seed of the randomness of plugs (default: 1)')
    .option(
      '--latency <name=duration>',
      'answers of that plug or node come so much later: 200ms, 1.5s or PT1M (repeatable)',
      gather,
      [],
    )
    .option('--order <order>', ORDER_HELP, 'time')
    .option('--down <from..to>', 'the host is away then: what comes meanwhile is delivered at its end')
    .option('--why', 'show the chain behind each firing: data, sensors, gates, trigger')
    .option('--all', 'print every firing, not only the first and last hundred')
    .option('--json', 'print one event a line, with the reasons of each firing')
    .option(...PLUGS)
    .option(
      '--model <name=file>',
      'booster of XGBoost that predict and classify ask by that name (repeatable)',
      gather,
      [],
    )
    .addHelpText(
      'after',
      '\nExample:\n  reflexarc simulate fixtures/rules/overheating.json --messages fixtures/recordings/boiler.csv --resource boiler-1 --why',
    )
    .action((rule: string, flags: SimulateFlags) =>
      start(async (terminal) => (await import('./run-simulation.ts')).runSimulation(rule, flags, terminal)),
    )
}
