/** The command `token` and its options. */
import type { DefineCommand } from './command.ts'
import type { TokenFlags } from './run-token.ts'

/** `reflexarc token`: a bearer token for the host that has the same data folder. */
export const defineToken: DefineCommand = (program, start) => {
  program
    .command('token')
    .summary('make a bearer token for a host')
    .description(
      'Prints a bearer token (JWT, HS256), signed with the key in the data folder of the host that it is for.',
    )
    .option('--data <folder>', 'the data folder of the host (REFLEXARC_DATA, default ./data)')
    .option('--tenant <name>', 'whose data it opens', 'default')
    .option('--subject <name>', 'who it is for; what they make carries this name', 'token')
    .option('--expires <duration>', 'how long it is good, such as 1h, 30d or PT50S', '1h')
    .addHelpText(
      'after',
      '\nExample:\n  curl -H "authorization: Bearer $(reflexarc token)" http://127.0.0.1:8080/api/tasks',
    )
    .action((flags: TokenFlags) =>
      start(async (terminal) => (await import('./run-token.ts')).runToken(flags, process.env, terminal, Date.now)),
    )
}
