/** Implements methods and properties of `$foreach` and other scopes. */
import type { Position } from '../fault.ts'
import { HostObject, type HostMethod } from '../values/host-object.ts'
import type { Scope } from '../values/scope.ts'
import type { Value } from '../values/value.ts'
import type { Method, Methods } from './arguments.ts'

const loop =
  (compute: (index: number, hasNext: boolean) => Value): Method<Scope> =>
  ({ loop: at }, args) =>
    args.length > 0 || at === undefined ? undefined : compute(at.index, at.hasNext)

const bare =
  (compute: (self: Scope) => Value): Method<Scope> =>
  (self, args) =>
    args.length === 0 ? compute(self) : undefined

const index = loop((at) => at)
const count = loop((at) => at + 1)
const hasNext = loop((_at, more) => more)
const first = loop((at) => at < 1)
const last = loop((_at, more) => !more)
const parent = bare((self) => self.parent)
const topmost = bare((self) => self.topmost)
const replaced = bare((self) => self.topmost.replaced)
const info: Method<Scope> = (self, args) =>
  args.length > 0 || self.loop === undefined ? undefined : infoOf(self.depth, self.loop.position())

/** Returns `$foreach.info`. Converter templates have no name, so `template` is always `template`. */
function infoOf(depth: number, { line, column }: Position): HostObject {
  const text = `#foreach[type:block template:template line:${line} column:${column}]`
  const fields = { name: 'foreach', type: 'block', template: 'template', depth, line, column }
  const methods = Object.entries(fields).flatMap(([name, value]): [string, HostMethod][] => {
    const method: HostMethod = (args) => (args.length === 0 ? value : undefined)
    return [
      [name, method],
      [`get${name.charAt(0).toUpperCase()}${name.slice(1)}`, method],
    ]
  })
  return new HostObject(new Map(methods), text)
}

export const SCOPE_METHODS: Methods<Scope> = new Map<string, Method<Scope>>([
  ['index', index],
  ['getIndex', index],
  ['count', count],
  ['getCount', count],
  ['hasNext', hasNext],
  ['getHasNext', hasNext],
  ['first', first],
  ['isFirst', first],
  ['getFirst', first],
  ['last', last],
  ['isLast', last],
  ['getLast', last],
  ['parent', parent],
  ['getParent', parent],
  ['info', info],
  ['getInfo', info],
  ['replaced', replaced],
  ['getReplaced', replaced],
  ['topmost', topmost],
  ['getTopmost', topmost],
])
