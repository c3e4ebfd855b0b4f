/** Names the kinds of calls that are asynchronous; the log records each kind when it first occurs. */
import type { Execution } from '#core/spi'
import { isSimulated } from './shadow-plugs.ts'

/** Returns `sensor:name:version`, with `:asks` appended for calls that request data first. */
export function laterKind({ node: { call } }: Execution): string {
  return call.needs === undefined ? plugOf(call) : `${plugOf(call)}:asks`
}

export function isLater({ node: { call } }: Execution, kinds: ReadonlySet<string>): boolean {
  const plug = plugOf(call)
  const isNow = isSimulated(call.plug)
  if (!isNow && (kinds.has(plug) || call.plug.execute.constructor.name === 'AsyncFunction')) return true
  return call.needs !== undefined && kinds.has(`${plug}:asks`)
}

function plugOf({ plug: { kind, name, version } }: Execution['node']['call']): string {
  return `${kind}:${name}:${version}`
}
