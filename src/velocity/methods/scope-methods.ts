/** What `$foreach` and its like can be asked. */
import type { Scope } from '../values/scope.ts'
import type { Value } from '../values/value.ts'
import type { Method, Methods } from './arguments.ts'

const loop =
  (give: (index: number, hasNext: boolean) => Value): Method<Scope> =>
  ({ loop: at }, args) =>
    args.length > 0 || at === undefined ? undefined : give(at.index, at.hasNext)

const bare =
  (give: (self: Scope) => Value): Method<Scope> =>
  (self, args) =>
    args.length === 0 ? give(self) : undefined

const index = loop((at) => at)
const count = loop((at) => at + 1)
const hasNext = loop((_at, more) => more)
const first = loop((at) => at < 1)
const last = loop((_at, more) => !more)
const parent = bare((self) => self.parent)
const topmost = bare((self) => self.topmost)

/** By method and by property. */
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
  ['topmost', topmost],
  ['getTopmost', topmost],
])
