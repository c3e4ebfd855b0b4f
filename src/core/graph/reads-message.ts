/** Finds calls that depend only on values of their message, and may therefore begin before their turn. */
import type { Path } from '../language/placeholders/scope.ts'
import type { Plug } from '../plug/plug.ts'

const FIXED_ROOTS: ReadonlySet<Path['root']> = new Set(['streamdata', 'task', 'node'])

/** Returns the message values that a call reads; undefined: it reads something else, and must wait. */
export function readsOfMessage(
  plug: Plug,
  constant: Readonly<Record<string, unknown>> | undefined,
  uses: readonly Path[],
): readonly string[] | undefined {
  if (plug.reads !== 'message' || !uses.every(isFixed)) return undefined
  const { parameters = [] } = plug
  // if `parameters` is a function and properties are known only at the call, the reads are unknown
  const names = typeof parameters !== 'function' ? parameters : constant && parameters(constant, new Set())
  const bound = uses.filter(({ root }) => root === 'streamdata').map(({ segments }) => segments[0])
  if (names === undefined || bound.includes(undefined)) return undefined
  return [...new Set([...names, ...bound.filter((name) => name !== undefined)])]
}

/** Whether a path reads something that cannot change between two messages; metadata of a resource can. */
function isFixed({ root, segments }: Path): boolean {
  return FIXED_ROOTS.has(root) && (root === 'streamdata' || segments[0] !== 'resource')
}
