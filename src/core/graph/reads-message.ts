/** Finds calls that depend only on values of their message, and so may begin ahead of their turn. */
import type { Path } from '../language/placeholders/scope.ts'
import type { Plug } from '../plug/plug.ts'

const FIXED_ROOTS: ReadonlySet<Path['root']> = new Set(['streamdata', 'task', 'node'])

/**
 * Message values on which a call depends, when it depends on nothing else: it may begin before its turn for a message
 * that has all of them. Undefined: it must wait.
 */
export function readsOfMessage(
  plug: Plug,
  constant: Readonly<Record<string, unknown>> | undefined,
  uses: readonly Path[],
): readonly string[] | undefined {
  if (plug.reads !== 'message' || !uses.every(isFixed)) return undefined
  const { parameters = [] } = plug
  // reads of properties that are known only at the call are unknown
  const own = typeof parameters !== 'function' ? parameters : constant && parameters(constant, new Set())
  const bound = uses.filter(({ root }) => root === 'streamdata').map(({ segments }) => segments[0])
  if (own === undefined || bound.includes(undefined)) return undefined
  return [...new Set([...own, ...bound.filter((name) => name !== undefined)])]
}

/** Metadata of a resource may change between two messages. */
function isFixed({ root, segments }: Path): boolean {
  return FIXED_ROOTS.has(root) && (root === 'streamdata' || segments[0] !== 'resource')
}
