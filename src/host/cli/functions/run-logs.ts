/** What `functions logs` does. */
import type { Client } from '../../../client.ts'
import type { Terminal } from '../terminal.ts'
import { connect, type ConnectFlags } from './connect.ts'
import { isFunctionFolder, readFunctionFolder } from './read-folder.ts'

export type LogsFlags = ConnectFlags

/** With `--json` a line of JSON for each. */
export async function runLogs(target: string, flags: LogsFlags, terminal: Terminal): Promise<0> {
  const { functions } = connect(flags, process.env)
  const { name, version } = await versionOf(functions, target)
  const lines = await functions.log(name, version)
  for (const { time, level, text } of lines) {
    const at = new Date(time).toISOString()
    terminal.out(
      flags.json === true ? `${JSON.stringify({ time: at, level, text })}\n` : `${at} ${level.padEnd(5)} ${text}\n`,
    )
  }
  if (lines.length === 0) terminal.err(`${name}@${version} has written nothing since its host started\n`)
  return 0
}

async function versionOf(
  functions: Client['functions'],
  target: string,
): Promise<{ readonly name: string; readonly version: string }> {
  const { name, version } = (await isFunctionFolder(target))
    ? (await readFunctionFolder(target)).manifest
    : namedBy(target)
  return version === undefined ? functions.latest(name, { includeDraft: true }) : { name, version }
}

function namedBy(target: string): { readonly name: string; readonly version?: string } {
  const at = target.lastIndexOf('@')
  return at < 0 ? { name: target } : { name: target.slice(0, at), version: target.slice(at + 1) }
}
