/** The command `diff` and its options. */
import { gather, PLUGS, type DefineCommand } from './command.ts'
import { ORDER_HELP } from './recording/play-order.ts'
import { withReadingFlags } from './recording/reading-flags.ts'
import type { DiffFlags } from './run-diff.ts'

/** `reflexarc diff OLD NEW`: what two rules, or a rule and its earlier firings, do differently over one recording, and why. */
export const defineDiff: DefineCommand = (program, start) => {
  withReadingFlags(program.command('diff'))
    .summary('run two rules over a recording and tell what they do differently')
    .description(
      'Runs two rules or templates side by side over one recording and prints the firings that only one of them has,\n' +
        'those that moved in time, and the first input at which they part. The exit code is 0 also when they differ,\n' +
        'unless --exit-code is given. Recordings are those of simulate.\n\n' +
        'With --firings in place of the second rule it compares what an earlier version printed (simulate --json) with what\n' +
        'this one does of the same rule and recording.',
    )
    .argument('<old>', 'rule or template, a JSON file; - is standard input')
    .argument('[new]', 'the other one; without it --firings')
    .option('--firings <file>', 'events that simulate --json printed; - is standard input')
    .option('--messages <file>', 'recording; - is standard input. Without it only the clock runs the rules')
    .option('--tolerance <duration>', 'firings of one destination this far apart are one that moved', '10m')
    .option('--exit-code', 'exit with 2 when there are differences')
    .option('--resource <id>', "resource of the tasks, and of messages that name none (default: the rule's own)")
    .option('--from <time>', 'begin here: earlier messages are left out (default: the first message)')
    .option('--until <time>', 'end here: later messages are left out (default: the last message)')
    .option('--set <name=value>', 'a variable of both tasks; the value is JSON, else text (repeatable)', gather, [])
    .option('--zone <zone>', 'zone of times without an offset, and of the times shown', 'UTC')
    .option('--seed <number>', 'seed of the randomness of plugs (default: 1)')
    .option('--order <order>', ORDER_HELP, 'time')
    .option('--all', 'print every difference, not only the first fifty')
    .option('--json', 'print one JSON object')
    .option(...PLUGS)
    .addHelpText(
      'after',
      '\nExample:\n  reflexarc diff fixtures/rules/overheating.json my-rule.json --messages fixtures/recordings/boiler.csv --resource boiler-1',
    )
    .action((old: string, fresh: string | undefined, flags: DiffFlags) =>
      start(async (terminal) => (await import('./run-diff.ts')).runDiff(old, fresh, flags, terminal)),
    )
}
