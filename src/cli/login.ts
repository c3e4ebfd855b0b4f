/** `reflexarc login`: makes a one-time link that signs a browser in. */
import { DATA, type DefineCommand } from './command.ts'
import { connected } from './connected.ts'
import { typed } from '#services/shared/client'
import type { Environment } from '#host/spi'
import { type ConnectFlags, connectOperator, urlOf } from './functions/connect.ts'
import type { Terminal } from './terminal.ts'

export const define: DefineCommand = (command, start) => {
  connected(command)
    .description(
      'Prints a link that logs in one browser, with the rights of the key. The link works once, for 15 minutes. On the\n' +
        'machine of the host, its data folder (--data) replaces --key and --secret, with all rights.',
    )
    .option(...DATA)
    .option('--tenant <name>', 'with --data: tenant of the session (REFLEXARC_TENANT, default "default")')
    .addHelpText('after', '\nExample:\n  reflexarc login --data ./data')
    .action((flags: LoginFlags) => start((terminal) => runLogin(flags, process.env, terminal, Date.now)))
}

export interface LoginFlags extends ConnectFlags {
  data?: string
  tenant?: string
}

/** Longer than a link and its session, which end with the token, in seconds */
const SESSION_S = 13 * 3_600

interface Link {
  readonly link: string
  readonly path: string
  readonly expires: string
}

/** Throws `USAGE` for a missing host or credentials, and the errors of the host. */
export async function runLogin(
  flags: LoginFlags,
  env: Environment,
  terminal: Pick<Terminal, 'out'>,
  now: () => number,
): Promise<0> {
  const http = await connectOperator(flags, env, now, SESSION_S)
  const { path, expires } = await typed<Link>(http.json('POST', '/auth/v1/links'))
  const address = `${urlOf(flags, env)}${path}`
  terminal.out(flags.json === true ? `${JSON.stringify({ address, expires })}\n` : `${address}\n`)
  return 0
}
