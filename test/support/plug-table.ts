import { byName, code, table } from '../../src/core/plug/plug-page.ts'
import type { InputField, Plug } from '../../src/core/plug/plug.ts'

/** The table of plugs of the README, one row each by name: name, kind, states, properties, when busy, what it does. */
export function plugTable(plugs: readonly Plug[]): string {
  const rows = plugs.toSorted(byName).map((plug) => {
    const { name, kind, states, input, description = '' } = plug
    return [code(name), kind, states.map(code).join(', '), propertiesOf(input), whenBusy(plug), description]
  })
  return table(['plug', 'kind', 'states', 'properties', 'when busy', 'what it does'], rows)
}

/** What becomes of a call while earlier work of the task goes on. */
function whenBusy({ kind, reads, acts, touches }: Plug): string {
  if (kind === 'sensor' && acts === false) return reads === 'message' ? 'may begin ahead' : 'its turn'
  const order = touches === undefined ? 'in order per node' : 'in order per thing'
  return kind === 'sensor' ? `its turn, ${order}` : order
}

/** Properties that are not mandatory stand in brackets. */
function propertiesOf(input: Readonly<Record<string, InputField>>): string {
  return Object.entries(input)
    .map(([name, { mandatory }]) => (mandatory === true ? code(name) : `[${code(name)}]`))
    .join(', ')
}
