/** The command `check` and its options. */
import { PLUGS, type DefineCommand } from './command.ts'
import type { CheckOptions } from './run-check.ts'

/** `reflexarc check RULE...`: every problem of rule or template files at once; exit code 1 when there is an ERROR. */
export const defineCheck: DefineCommand = (program, start) => {
  program
    .command('check')
    .summary('say what is wrong with rules and templates, all at once')
    .description(
      'Checks rule or template files and prints every problem at once: where, what is wrong, what would be right.',
    )
    .argument('<rule...>', 'JSON files; - is standard input')
    .option(...PLUGS)
    .option('--strict', 'a property that its plug does not declare is an error')
    .option('--json', 'print [{ file, issues }]')
    .addHelpText('after', '\nExample:\n  reflexarc check fixtures/rules/overheating.json')
    .action((files: readonly string[], options: CheckOptions) =>
      start(async (terminal) => (await import('./run-check.ts')).runCheck(files, options, terminal)),
    )
}
