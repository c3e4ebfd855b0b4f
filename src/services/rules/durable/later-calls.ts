/**
 * Calls that are not answered at once, by kind. A plug may be of that sort, or what its placeholders ask of the outside
 * may be: then only its calls that ask are. Which they are is found out when they happen, and kept.
 */
import type { Execution } from '#core/spi'

/** The kind of a call that was not answered at once: `sensor:name:version`, with `:asks` when it asked for something first. */
export function laterKind({ node: { call } }: Execution): string {
  return call.needs === undefined ? plugOf(call) : `${plugOf(call)}:asks`
}

/** Whether a call is of a kind that is not answered at once. */
export function isLater({ node: { call } }: Execution, kinds: ReadonlySet<string>): boolean {
  const plug = plugOf(call)
  if (kinds.has(plug) || call.plug.execute.constructor.name === 'AsyncFunction') return true
  return call.needs !== undefined && kinds.has(`${plug}:asks`)
}

function plugOf({ plug: { kind, name, version } }: Execution['node']['call']): string {
  return `${kind}:${name}:${version}`
}
