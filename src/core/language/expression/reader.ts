/** Reads values of the rule for code, during a call of a plug. */
import { ofData } from '#kernel'
import type { LogicPath } from '../logic/run.ts'
import type { PlugContext } from '../../plug/plug.ts'

type Reading = Pick<PlugContext, 'streamValue' | 'lookup' | 'isNew'>

export function readerOf(context: Reading): (path: LogicPath) => unknown {
  return (path) => {
    const [name, second] = path.segments
    if (path.onlyCurrent === true && path.root === 'streamdata' && name !== undefined && !context.isNew(name))
      return undefined
    // by far the most frequent read, which needs no path traversal
    if (path.root === 'streamdata' && name !== undefined && second === undefined)
      return ofData(context.streamValue(name))
    return context.lookup(path.parts)
  }
}
