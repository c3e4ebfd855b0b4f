/** The command `convert` and its options. */
import type { DefineCommand } from './command.ts'
import type { ConvertFlags } from './run-convert.ts'

/** `reflexarc convert TEMPLATE --payload FILE`: what a converter makes of a payload, or the place of what is wrong. */
export const defineConvert: DefineCommand = (program, start) => {
  program
    .command('convert')
    .summary('try a converter: what its template makes of a payload')
    .description(
      'Renders a Velocity template over a payload as the converter service does, and prints the messages that it makes,\n' +
        'or the place of what is wrong with it.',
    )
    .argument('<template>', 'file with the template; - is standard input')
    .requiredOption('--payload <file>', 'JSON that the device sends; - is standard input')
    .option('--text', 'print the rendered text as it is')
    .option('--compat <version>', 'version of Apache Velocity whose ways it follows: 1.7 or 2.4', '1.7')
    .option('--topic <part...>', 'what wildcards of the topic stand for, for $topic')
    .addHelpText(
      'after',
      '\nExample:\n  reflexarc convert fixtures/converters/senml-pack.vm --payload fixtures/converters/senml-pack.payload.json',
    )
    .action((template: string, flags: ConvertFlags) =>
      start(async (terminal) => (await import('./run-convert.ts')).runConvert(template, flags, terminal)),
    )
}
