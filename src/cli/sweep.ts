/** The command `sweep` and its options. */
import { gather, PLUGS, type DefineCommand } from './command.ts'
import { ORDER_HELP } from './recording/play-order.ts'
import { withReadingFlags } from './recording/reading-flags.ts'
import type { SweepFlags } from './run-sweep.ts'

/** `reflexarc sweep RULE --set node.property=70..90/5`: how often a rule fires with each of several values. */
export const defineSweep: DefineCommand = (program, start) => {
  withReadingFlags(program.command('sweep'))
    .summary('run a rule over a recording with several values, and count what fires')
    .description(
      'Runs a rule or template once for each value of a property, all in one pass over the recording, and prints the\n' +
        'firings of each destination, in all and per day. Several --set make a grid of at most 1,000 runs.\n\n' +
        'What can be set: node.property, evictionTime, pollingPeriod and timeout of a node, node.invocationPolicy (the\n' +
        'seconds of all triggers into it), and a variable by its name. Recordings are those of simulate.',
    )
    .argument('<rule>', 'rule or template, a JSON file; - is standard input')
    .option('--set <path=values>', 'a range 70..90/5, a list 70,75,90, or one value (repeatable)', gather, [])
    .option('--messages <file>', 'recording; - is standard input. Without it only the clock runs the rule')
    .option('--resource <id>', "resource of the task, and of messages that name none (default: the rule's own)")
    .option('--from <time>', 'begin here: earlier messages are left out (default: the first message)')
    .option('--until <time>', 'end here: later messages are left out (default: the last message)')
    .option('--zone <zone>', 'zone of times without an offset, and of the times shown', 'UTC')
    .option('--seed <number>', 'seed of the randomness of plugs (default: 1)')
    .option('--order <order>', ORDER_HELP, 'time')
    .option('--json', 'print one JSON object')
    .option(...PLUGS)
    .addHelpText(
      'after',
      '\nExample:\n  reflexarc sweep fixtures/rules/overheating.json --set temperature.threshold=85..100/5 --messages fixtures/recordings/boiler.csv --resource boiler-1',
    )
    .action((rule: string, flags: SweepFlags) =>
      start(async (terminal) => (await import('./run-sweep.ts')).runSweep(rule, flags, terminal)),
    )
}
