/** What `functions secrets` does: names of secrets are shown, values are read and never printed. */
import { textAt } from '../recording/source.ts'
import { tableLines } from '../report/table.ts'
import type { Terminal } from '../terminal.ts'
import { connect, type ConnectFlags } from './connect.ts'

export async function listSecrets(flags: ConnectFlags, terminal: Terminal): Promise<0> {
  const found = await connect(flags, process.env).vault.list()
  if (flags.json === true) for (const one of found) terminal.out(`${JSON.stringify(one)}\n`)
  else if (found.length === 0) terminal.out('no secrets\n')
  else {
    const rows = found.map(({ name, updatedAt, updatedBy }) => [name, updatedAt, updatedBy])
    terminal.out(`${tableLines([['name', 'given', 'by'], ...rows]).join('\n')}\n`)
  }
  return 0
}

/** `file`: with the value; `-` or absent: stdin. `NOT_FOUND` for an unreadable one. */
export async function putSecret(
  name: string,
  file: string | undefined,
  flags: ConnectFlags,
  terminal: Terminal,
): Promise<0> {
  const { vault } = connect(flags, process.env)
  const value = (await textAt(file ?? '-')).replace(/\r?\n$/, '')
  const { secret, created } = await vault.put(name, value)
  const said = created ? 'is there' : 'has another value'
  terminal.out(flags.json === true ? `${JSON.stringify(secret)}\n` : `${name} ${said}\n`)
  return 0
}

export async function deleteSecret(name: string, flags: ConnectFlags, terminal: Terminal): Promise<0> {
  await connect(flags, process.env).vault.remove(name)
  terminal.out(flags.json === true ? `${JSON.stringify({ name, removed: true })}\n` : `${name} is removed\n`)
  return 0
}
