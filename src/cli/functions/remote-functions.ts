/** Implements the commands for functions and secrets on a host: list, logs, deploy and secrets. */
import type { Client } from '#client'
import type { FunctionQuery, ListedFunction, FunctionVersion } from '#services/functions/contract'
import { FUNCTION_TYPES, type FunctionType, TYPE_NAMES } from '#services/functions'
import { tableLines } from '../report/table.ts'
import type { Terminal } from '../terminal.ts'
import { connect, type ConnectFlags } from './connect.ts'
import { AppError } from '#kernel'
import { visible } from '../visible.ts'
import { deployFolder, followChange, reportDeployed } from './deploy-folder.ts'
import { readFunctionFolder, isFunctionFolder } from './read-folder.ts'
import { textAt } from '../recording/source.ts'

const PAGE = 100
const HEAD = ['type', 'name', 'version', 'status', 'runtime', 'changed'] as const

export async function runList(target: string | undefined, flags: ConnectFlags, terminal: Terminal): Promise<0> {
  const client = connect(flags, process.env)
  const found = await (target === undefined ? latestOfAll(client) : versionsOf(client, target))
  if (flags.json === true) for (const { record } of found) terminal.out(`${JSON.stringify(record)}\n`)
  else if (found.length === 0) terminal.out('no functions\n')
  else terminal.out(`${tableLines([HEAD, ...found.map(rowOf)]).join('\n')}\n`)
  return 0
}

async function latestOfAll(client: Client): Promise<readonly ListedFunction[]> {
  const found: ListedFunction[] = []
  for (const type of FUNCTION_TYPES) found.push(...(await pagesOf(client, type, {})))
  return found
}

async function versionsOf(client: Client, target: string): Promise<readonly ListedFunction[]> {
  const { type, name } = await findFunction(client, target)
  return pagesOf(client, type, { exactName: name })
}

async function pagesOf(
  { functions }: Client,
  type: FunctionType,
  query: FunctionQuery,
): Promise<readonly ListedFunction[]> {
  const found: ListedFunction[] = []
  for (let page = 0; ; page++) {
    const { entities } = await functions[type].list({ ...query, showRelated: 'none', limit: PAGE, page })
    found.push(...entities)
    if (entities.length < PAGE) return found
  }
}

function rowOf({ type, name, version, status, draft, deprecated, record }: ListedFunction): readonly string[] {
  const { runtime, updatedAt } = record as { readonly runtime: { readonly name: string }; readonly updatedAt: string }
  const flags = [...(draft ? ['draft'] : []), ...(deprecated ? ['deprecated'] : [])]
  return [TYPE_NAMES[type].noun, name, version, [status, ...flags].join(', '), runtime.name, updatedAt]
}

export interface LogsFlags extends ConnectFlags {
  readonly follow?: boolean
}

/** Prints logs; with `--json`, one line of JSON each. `stop`: ends following. */
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
  if (lines.length === 0) terminal.err(`${name}@${version} has not logged anything since the start of the host\n`)
  return 0
}

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

export interface DeployFlags extends ConnectFlags {
  draft?: boolean
  publish?: boolean
  comment?: string
}

/** Deploys a folder. Returns 1 if the version does not run. */
export async function runDeploy(folder: string, flags: DeployFlags, terminal: Terminal): Promise<0 | 1> {
  const client = connect(flags, process.env)
  const read = await readFunctionFolder(folder)
  const { draft = false, publish = false, comment } = flags
  const functions = client.functions[read.type]
  let deployed = await deployFolder(client, read, { draft, comment }, terminal)
  const { name, version, draft: isDraft } = deployed.version
  if (publish && isDraft && deployed.problem === undefined) {
    deployed = {
      ...(await followChange(functions, await functions.publish(name, version), terminal)),
      buildLog: deployed.buildLog,
    }
  }
  const code = reportDeployed(deployed, flags.json === true, terminal)
  if (read.type === 'webscripts' && code === 0) await tellAddress(client, deployed.version, terminal)
  return code
}

async function tellAddress(
  { webscripts }: Client,
  { name, version, draft }: FunctionVersion,
  terminal: Terminal,
): Promise<void> {
  const { href, secret, private: isPrivate } = await webscripts.get(name, version)
  const shown = [
    ...(isPrivate && secret !== undefined ? [`-H 'authorization: hmac-sha256 ${secret}'`] : []),
    ...(draft ? [`-H 'x-webscript-version: ${version}'`] : []),
  ]
  terminal.err(`${['curl', ...shown, href].join(' ')}\n`)
}

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

/** Stores a secret. `file`: contains the value; `-` or absent: stdin. Throws `NOT_FOUND` for an unreadable file. */
export async function putSecret(
  name: string,
  file: string | undefined,
  flags: ConnectFlags,
  terminal: Terminal,
): Promise<0> {
  const { vault } = connect(flags, process.env)
  const value = (await textAt(file ?? '-')).replace(/\r?\n$/, '')
  const { secret, created } = await vault.put(name, value)
  const said = created ? 'is there' : 'was changed'
  terminal.out(flags.json === true ? `${JSON.stringify(secret)}\n` : `${name} ${said}\n`)
  return 0
}

export async function deleteSecret(name: string, flags: ConnectFlags, terminal: Terminal): Promise<0> {
  await connect(flags, process.env).vault.remove(name)
  terminal.out(flags.json === true ? `${JSON.stringify({ name, removed: true })}\n` : `${name} was removed\n`)
  return 0
}

interface FoundFunction {
  readonly type: FunctionType
  readonly name: string
  readonly version?: string | undefined
}

async function findFunction({ functions }: Client, target: string): Promise<FoundFunction> {
  if (await isFunctionFolder(target)) {
    const { type, manifest } = await readFunctionFolder(target)
    return { type, name: manifest.name, version: manifest.version }
  }
  const at = target.lastIndexOf('@')
  const [name, version] = at < 0 ? [target, undefined] : [target.slice(0, at), target.slice(at + 1)]
  for (const type of FUNCTION_TYPES) {
    const { count } = await functions[type].list({ exactName: name, status: ['any'], limit: 1 })
    if (count > 0) return { type, name, version }
  }
  throw new AppError('NOT_FOUND', `the host has no function ${name.slice(0, 100)}`)
}
