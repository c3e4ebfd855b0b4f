import { isTruthy } from './coercion.ts'
import { spend, type LogicNode } from './run.ts'

/** Operators whose second argument is evaluated once per item of the first, and sees nothing but the item. */
export const LOOPS: ReadonlyMap<string, (list: LogicNode, body: LogicNode) => LogicNode> = new Map([
  [
    'map',
    overList(
      (items, body) => items.map(body),
      () => [],
    ),
  ],
  [
    'filter',
    overList(
      (items, body) => items.filter((item) => isTruthy(body(item))),
      () => [],
    ),
  ],
  [
    'all',
    overList(
      (items, body) => items.length > 0 && items.every((item) => isTruthy(body(item))),
      () => false,
    ),
  ],
  [
    'some',
    overList(
      (items, body) => items.some((item) => isTruthy(body(item))),
      () => false,
    ),
  ],
  [
    'none',
    overList(
      (items, body) => !items.some((item) => isTruthy(body(item))),
      () => true,
    ),
  ],
])

/** `reduce`: the body sees `current` and `accumulator`. */
export function reduceNode(list: LogicNode, body: LogicNode, initial: LogicNode | undefined): LogicNode {
  return (run, item) => {
    const items = list(run, item)
    let accumulator = initial ? initial(run, item) : null
    if (!Array.isArray(items)) return accumulator
    for (const current of items as readonly unknown[]) {
      spend(run, 1)
      accumulator = body(run, { current, accumulator })
    }
    return accumulator
  }
}

function overList(
  apply: (items: readonly unknown[], body: (item: unknown) => unknown) => unknown,
  otherwise: () => unknown,
): (list: LogicNode, body: LogicNode) => LogicNode {
  return (list, body) => (run, item) => {
    const items = list(run, item)
    if (!Array.isArray(items)) return otherwise()
    return apply(items, (each) => {
      spend(run, 1)
      return body(run, each)
    })
  }
}
