/** What `functions logs` does. */
import type { Terminal } from '../terminal.ts'
import { connect, type ConnectFlags } from './connect.ts'
import { findFunction } from './find-function.ts'

export type LogsFlags = ConnectFlags

/** With `--json` a line of JSON for each. */
export async function runLogs(target: string, flags: LogsFlags, terminal: Terminal): Promise<0> {
  const client = connect(flags, process.env)
  const { type, name, version: named } = await findFunction(client, target)
  const functions = client.functions[type]
  const version = named ?? (await functions.latest(name, { includeDraft: true })).version
  const lines = await functions.log(name, version)
  for (const { time, level, text } of lines) {
    const at = new Date(time).toISOString()
    const line = flags.json === true ? JSON.stringify({ time: at, level, text }) : `${at} ${level.padEnd(5)} ${text}`
    terminal.out(`${line}\n`)
  }
  if (lines.length === 0) terminal.err(`${name}@${version} has written nothing since its host started\n`)
  return 0
}
