/** What `models predict` does. */
import { text } from 'node:stream/consumers'
import { AppError, messageOf } from '#kernel'
import { connect, type ConnectFlags } from '../functions/connect.ts'
import type { Terminal } from '../terminal.ts'

/** A prediction a line; with `--json` the answer as it is. */
export async function runPredict(name: string, instances: string, flags: ConnectFlags, terminal: Terminal): Promise<0> {
  const given = parsed(instances === '-' ? await text(process.stdin) : instances)
  const answer = await connect(flags, process.env).models.predict(
    name,
    Array.isArray(given) ? { instances: given } : (given as object),
  )
  if (flags.json === true || !('predictions' in answer)) terminal.out(`${JSON.stringify(answer)}\n`)
  else for (const one of answer.predictions) terminal.out(`${JSON.stringify(one)}\n`)
  return 0
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch (error) {
    throw new AppError('USAGE', `the instances are not JSON: ${messageOf(error)}`)
  }
}
