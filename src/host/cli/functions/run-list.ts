/** What `functions list` does. */
import type { ListedFunction } from '../../../services/functions/contract.ts'
import { tableLines } from '../report/table.ts'
import type { Terminal } from '../terminal.ts'
import { connect, type ConnectFlags } from './connect.ts'
import { isFunctionFolder, readFunctionFolder } from './read-folder.ts'

const PAGE = 100

/** With `--json` a line of JSON for each: the version as the registry shows it. */
export async function runList(target: string | undefined, flags: ConnectFlags, terminal: Terminal): Promise<0> {
  const { functions } = connect(flags, process.env)
  const exactName = target === undefined ? undefined : await nameOf(target)
  const found: ListedFunction[] = []
  for (let page = 0; ; page++) {
    const query = exactName === undefined ? { includeDraft: false } : { exactName }
    const { entities } = await functions.list({ ...query, showRelated: 'none', limit: PAGE, page })
    found.push(...entities)
    if (entities.length < PAGE) break
  }
  if (flags.json === true) for (const { record } of found) terminal.out(`${JSON.stringify(record)}\n`)
  else if (found.length === 0) terminal.out(exactName === undefined ? 'no functions\n' : `no function ${exactName}\n`)
  else
    terminal.out(
      `${tableLines([['name', 'version', 'status', 'runtime', 'changed'], ...found.map(rowOf)], new Set()).join('\n')}\n`,
    )
  return 0
}

async function nameOf(target: string): Promise<string> {
  return (await isFunctionFolder(target)) ? (await readFunctionFolder(target)).manifest.name : target
}

function rowOf({ name, version, status, draft, deprecated, record }: ListedFunction): readonly string[] {
  const { runtime, updatedAt } = record as { readonly runtime: { readonly name: string }; readonly updatedAt: string }
  const flags = [...(draft ? ['draft'] : []), ...(deprecated ? ['deprecated'] : [])]
  return [name, version, [status, ...flags].join(', '), runtime.name, updatedAt]
}
