/** What `functions logs` does. */
import { AppError } from '#kernel'
import type { Client } from '#client'
import type { Terminal } from '../terminal.ts'
import { visible } from '../visible.ts'
import { connect, type ConnectFlags } from './connect.ts'
import { findFunction } from './find-function.ts'

export interface LogsFlags extends ConnectFlags {
  readonly follow?: boolean
}

/** With `--json` a line of JSON for each. `stop`: ends following. */
export async function runLogs(target: string, flags: LogsFlags, terminal: Terminal, stop: AbortSignal): Promise<0> {
  const client = connect(flags, process.env)
  const { type, name, version: named } = await findFunction(client, target)
  const functions = client.functions[type]
  const version = named ?? (await functions.latest(name, { includeDraft: true })).version
  if (flags.follow === true) {
    if (type !== 'webscripts') throw new AppError('USAGE', `--follow: ${name} is not a webscript; omit it`)
    return follow(client, { name, version: named }, flags, terminal, stop)
  }
  const lines = await functions.log(name, version)
  for (const { time, level, text } of lines) {
    const at = new Date(time).toISOString()
    const shown = `${at} ${level.padEnd(5)} ${visible(text)}`
    terminal.out(`${flags.json === true ? JSON.stringify({ time: at, level, text }) : shown}\n`)
  }
  if (lines.length === 0) terminal.err(`${name}@${version} has written nothing since its host started\n`)
  return 0
}

/** Prints stored calls and lines, then new ones. */
async function follow(
  client: Client,
  { name, version }: { readonly name: string; readonly version: string | undefined },
  flags: LogsFlags,
  terminal: Terminal,
  stop: AbortSignal,
): Promise<0> {
  try {
    for await (const line of client.webscripts.tail(name, { after: 0, version, signal: stop })) {
      const { timestamp, level, kind, message } = line
      const shown = `${timestamp} ${level.padEnd(5)} ${kind.padEnd(8)} ${visible(message)}`
      terminal.out(`${flags.json === true ? JSON.stringify(line) : shown}\n`)
      if (terminal.closed) break
      if (terminal.full) await terminal.drained()
    }
  } catch (error) {
    if (!stop.aborted) throw error
  }
  return 0
}
