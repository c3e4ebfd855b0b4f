/** `reflexarc token`: creates a bearer token for the host that uses the same data folder. */
import { DATA, dataFolder, type DefineCommand, tenantProblems } from './command.ts'
import { existsSync } from 'node:fs'
import { AppError, durationMs, messageOf } from '#kernel'
import { type Environment, tokenKey } from '#host/spi'
import { Tokens } from '#host/running'
import type { Terminal } from './terminal.ts'

export const define: DefineCommand = (command, start) => {
  command
    .description('Prints a bearer token (JWT, HS256), signed with the key in the data folder of a host.')
    .option(...DATA)
    .option('--tenant <name>', 'tenant of the token', 'default')
    .option('--subject <name>', 'user of the token; recorded as the author of changes', 'token')
    .option('--expires <duration>', 'time for which the token is valid, such as 1h, 30d or PT50S', '1h')
    .addHelpText(
      'after',
      '\nExample:\n  curl -H "authorization: Bearer $(reflexarc token)" http://127.0.0.1:8080/api/tasks',
    )
    .action((flags: TokenFlags) => start((terminal) => runToken(flags, process.env, terminal, Date.now)))
}

export interface TokenFlags {
  data?: string
  tenant: string
  subject: string
  expires: string
}

const LONGEST = 10 * 366 * 86_400

/** Prints a token. Throws `USAGE` with all problems, `STORE` for an unusable folder. */
export async function runToken(
  flags: TokenFlags,
  env: Environment,
  terminal: Pick<Terminal, 'out'>,
  now: () => number,
): Promise<0> {
  const { tenant, subject, expires } = flags
  const folder = dataFolder(flags, env)
  const problems: string[] = []
  if (!existsSync(folder)) problems.push(`--data: the folder ${folder} does not exist; use the data folder of a host`)
  problems.push(...tenantProblems(tenant))
  if (subject.trim() === '' || subject.length > 200) problems.push('--subject: write a name of 1 to 200 characters')
  const lifetime = secondsOf(expires, problems)
  if (problems.length > 0) throw new AppError('USAGE', problems.join('\nerror: '))
  const token = await new Tokens(tokenKey(folder), now).issue({ tenant, subject, lifetime })
  terminal.out(`${token}\n`)
  return 0
}

function secondsOf(text: string, problems: string[]): number {
  try {
    const seconds = Math.floor(durationMs(text) / 1000)
    if (seconds >= 1 && seconds <= LONGEST) return seconds
    problems.push(`--expires: "${text}" is not between 1 s and 10 years`)
  } catch (error) {
    problems.push(`--expires: ${messageOf(error)}`)
  }
  return 0
}
