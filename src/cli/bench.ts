/** The command `bench` and its options. */
import type { BenchFlags } from './run-bench.ts'
import { gather, PLUGS, type DefineCommand } from './command.ts'
import { withReadingFlags } from './recording/reading-flags.ts'

/** `reflexarc bench RULE`: measures a rule over a recording. */
export const defineBench: DefineCommand = (program, start) => {
  withReadingFlags(program.command('bench'))
    .summary('measure a rule over a recording')
    .description(
      'Measures how many messages a second a rule takes, what share that is of a loop made of the same rule, how late\n' +
        'messages are at a fixed rate, and which way they took through the engine. The recording is played again and\n' +
        'again on its own time, each sample in a fresh process. Actuators that would change something outside are not\n' +
        'called. Ends with 1 when it could not be measured, and with 2 when --fail-over says that it became slower.\n\n' +
        'A recording is as for simulate.',
    )
    .argument('<rule>', 'rule or template, a JSON file; - is standard input')
    .requiredOption('--messages <file>', 'recording; - is standard input')
    .option(
      '--resource <id>',
      "resource of the task, and of messages that name none (default: the rule's own, or the only one)",
    )
    .option('--copies <n>', 'tasks of the rule, each with a resource and messages of its own', '1')
    .option('--listen <names>', 'subscribers to measure, one by one: none, fired, all, why', 'none,fired,why')
    .option('--rate <n>', 'messages a second at which lateness is measured (default: half of what a core takes)')
    .option('--rounds <n>', 'samples of each; a verdict needs 6', '6')
    .option('--seconds <s>', 'CPU time of a sample after its warm-up', '0.3')
    .option('--baseline <file>', 'result of an earlier run with --json, to compare with')
    .option(
      '--against <ref>',
      'a commit, branch or tag to compare with: the rule, its plugs and, in a checkout of this program, the program as they were there',
    )
    .option('--fail-over <percent>', 'end with 2 when a line is surely slower by more, such as 5%')
    .option('--set <name=value>', 'a variable of the task; the value is JSON, else text (repeatable)', gather, [])
    .option('--zone <zone>', 'zone of times without an offset', 'UTC')
    .option('--json', 'print everything that was measured as JSON')
    .option('--markdown', 'print the table as Markdown')
    .option('--svg <file>', 'write a plot of how late messages are')
    .option('--profile', 'write a CPU profile of each line into this folder')
    .option(...PLUGS)
    .addHelpText(
      'after',
      '\nExample:\n  reflexarc bench fixtures/rules/overheating.json --messages fixtures/recordings/boiler.csv',
    )
    .action((rule: string, flags: BenchFlags) =>
      start(async (terminal) => (await import('./run-bench.ts')).runBench(rule, flags, terminal)),
    )
}
