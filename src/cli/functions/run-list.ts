/** What `functions list` does. */
import type { Client } from '#client'
import type { FunctionQuery, ListedFunction } from '#services/functions/contract'
import { FUNCTION_TYPES, type FunctionType, TYPE_NAMES } from '#services/functions'
import { tableLines } from '../report/table.ts'
import type { Terminal } from '../terminal.ts'
import { connect, type ConnectFlags } from './connect.ts'
import { findFunction } from './find-function.ts'

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
