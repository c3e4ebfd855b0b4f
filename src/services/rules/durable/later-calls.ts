/** Names the kinds of calls that are asynchronous; the log records each kind when it first occurs. */
import type { Plug } from '#core'
import type { Execution } from '#core/spi'
import { isSimulated } from './shadow-plugs.ts'

/** Returns `sensor:name:version`, with `:asks` appended for calls that request data first. */
export function laterKind({ node: { call } }: Execution): string {
  return call.needs === undefined ? kindOf(call.plug) : `${kindOf(call.plug)}:asks`
}

export function isLater({ node: { call } }: Execution, kinds: ReadonlySet<string>): boolean {
  return isLaterPlug(call.plug, kinds) || (call.needs !== undefined && kinds.has(`${kindOf(call.plug)}:asks`))
}

export function isLaterPlug(plug: Plug, kinds: ReadonlySet<string>): boolean {
  return !isSimulated(plug) && (kinds.has(kindOf(plug)) || plug.execute.constructor.name === 'AsyncFunction')
}

function kindOf({ kind, name, version }: Plug): string {
  return `${kind}:${name}:${version}`
}
