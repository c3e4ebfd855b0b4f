/** What `models list` does. */
import type { ModelInfo } from '#services/models/contract'
import { connect, type ConnectFlags } from '../functions/connect.ts'
import { tableLines } from '../report/table.ts'
import type { Terminal } from '../terminal.ts'

const HEAD = ['name', 'framework', 'version', 'status', 'changed'] as const

/** With `--json` a line of JSON for each. */
export async function runList(flags: ConnectFlags, terminal: Terminal): Promise<0> {
  const found = await connect(flags, process.env).models.list()
  if (flags.json === true) for (const one of found) terminal.out(`${JSON.stringify(one)}\n`)
  else if (found.length === 0) terminal.out('no models\n')
  else terminal.out(`${tableLines([HEAD, ...found.map(rowOf)], new Set()).join('\n')}\n`)
  return 0
}

function rowOf({
  name,
  framework,
  framework_version: of,
  version,
  remote,
  ready,
  failure,
  updatedOn,
}: ModelInfo): readonly string[] {
  const status = ready ? 'ready' : failure === undefined ? 'loading' : `failed: ${failure.slice(0, 60)}`
  const kind = remote === undefined ? (of ?? '') : `at ${remote.url}`
  return [name, `${framework} ${kind}`.trim(), version, status, updatedOn]
}
