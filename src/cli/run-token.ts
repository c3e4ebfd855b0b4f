/** What `token` does. */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { AppError, durationMs, messageOf } from '#kernel'
import { type Environment, isTenant, OPTIONS, tokenKey } from '#host/spi'
import { Tokens } from '#host/running'
import type { Terminal } from './terminal.ts'

/** Options as the command line gives them. */
export interface TokenFlags {
  data?: string
  tenant: string
  subject: string
  expires: string
}

const LONGEST = 10 * 366 * 86_400

/** Prints a token. Throws `USAGE` with all that is wrong, `STORE` for a folder that cannot be used. */
export async function runToken(
  flags: TokenFlags,
  env: Environment,
  terminal: Pick<Terminal, 'out'>,
  now: () => number,
): Promise<0> {
  const { tenant, subject, expires } = flags
  const folder = resolve(flags.data ?? (env[OPTIONS.data.env] || OPTIONS.data.default))
  const problems: string[] = []
  if (!existsSync(folder)) problems.push(`--data: missing folder ${folder}; name the data folder of a host`)
  if (!isTenant(tenant))
    problems.push(
      `--tenant: "${tenant}" is not a valid tenant name; write letters, digits, dots, - or _, and none of ".", ".." and "webscripts"`,
    )
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
