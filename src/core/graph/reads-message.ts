/** Which calls depend on values of their message alone, and so may begin ahead of their turn. */
import type { Path } from '../language/placeholders/scope.ts'
import type { Plug } from '../plug/plug.ts'

/** What stays the same whatever other nodes do. */
const FIXED_ROOTS: ReadonlySet<Path['root']> = new Set(['streamdata', 'task', 'node'])

/**
 * The values of the message on which a call depends, when it depends on nothing else: then it may begin before its turn
 * for a message that has all of them. Undefined: it has to wait.
 */
export function readsOfMessage(
  plug: Plug,
  constant: Readonly<Record<string, unknown>> | undefined,
  uses: readonly Path[],
): readonly string[] | undefined {
  if (plug.reads !== 'message' || !uses.every(isFixed)) return undefined
  const { parameters = [] } = plug
  // What depends on properties that are known only at the call may be anything.
  const own = typeof parameters !== 'function' ? parameters : constant && parameters(constant, new Set())
  const bound = uses.filter(({ root }) => root === 'streamdata').map(({ segments }) => segments[0])
  if (own === undefined || bound.includes(undefined)) return undefined
  return [...new Set([...own, ...bound.filter((name) => name !== undefined)])]
}

/** Metadata of a resource may change between two messages. */
function isFixed({ root, segments }: Path): boolean {
  return FIXED_ROOTS.has(root) && (root === 'streamdata' || segments[0] !== 'resource')
}
