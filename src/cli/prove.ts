/** The commands `prove` and `mutate` and their options. */
import { gather, type DefineCommand } from './command.ts'
import type { MutateFlags, ProveFlags } from './run-prove.ts'

const PROPERTIES = `
The file of properties is an ES module whose default export is a function. It is given everything of
reflexarc/testing, and fast-check as fc, and gives { properties, options }: what must hold, and what devices
send, as checkRule takes them. fixtures/properties/overheating.mjs is one to copy.`

/** `reflexarc prove RULE`: looks for messages at which a property of a rule does not hold. */
export const defineProve: DefineCommand = (program, start) => {
  program
    .command('prove')
    .summary('look for messages at which a property of a rule does not hold')
    .description(
      'Runs a rule over random messages for a while, and over cases that failed before, and holds properties against\n' +
        'every run. What fails is made as small as it gets. Ends with 2 when a property does not hold, or says nothing.\n' +
        PROPERTIES,
    )
    .argument('<rule>', 'rule or template, a JSON file; - is standard input')
    .requiredOption('--props <file>', 'properties, and what devices send')
    .option('--time <duration>', 'how long to look: 30s, 5m', '10s')
    .option('--length <messages>', 'then try all sequences of up to so many messages, for as long again')
    .option('--seed <number>', 'seed of the cases (default: another one each time)')
    .option('--save <folder>', 'keep failing cases there, and try those that are there first')
    .option('--json', 'print one JSON object')
    .option('--plugs <path>', 'ES module that exports plugs, or a folder of such (repeatable)', gather, [])
    .addHelpText(
      'after',
      '\nExample:\n  reflexarc prove fixtures/rules/overheating.json --props fixtures/properties/overheating.mjs --time 5s',
    )
    .action((rule: string, flags: ProveFlags) =>
      start(async (terminal) => (await import('./run-prove.ts')).runProve(rule, flags, terminal)),
    )
}

/** `reflexarc mutate RULE`: tells which changes of a rule its properties do not notice. */
export const defineMutate: DefineCommand = (program, start) => {
  program
    .command('mutate')
    .summary('tell which changes of a rule its properties do not notice')
    .description(
      'Changes one thing of a rule at a time (a limit, a gate, a state, a cool-down, a zone) and holds the properties\n' +
        'against each mutant. A mutant that survives shows what they do not look at.\n' +
        PROPERTIES,
    )
    .argument('<rule>', 'rule or template, a JSON file; - is standard input')
    .requiredOption('--test <file>', 'properties, and what devices send')
    .option('--cases <number>', 'cases for each mutant', '300')
    .option('--seed <number>', 'seed of the cases', '1')
    .option('--least <percent>', 'end with 2 when fewer mutants are killed', '0')
    .option('--json', 'print one JSON object')
    .option('--plugs <path>', 'ES module that exports plugs, or a folder of such (repeatable)', gather, [])
    .addHelpText(
      'after',
      '\nExample:\n  reflexarc mutate fixtures/rules/overheating.json --test fixtures/properties/overheating.mjs',
    )
    .action((rule: string, flags: MutateFlags) =>
      start(async (terminal) => (await import('./run-prove.ts')).runMutate(rule, flags, terminal)),
    )
}
