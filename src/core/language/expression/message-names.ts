/** Which values code reads by name, of the message and of other nodes, and whether one of them is new. */
import { AppError } from '#kernel'
import type { Path } from '../placeholders/scope.ts'
import type { PlugContext } from '../../plug/plug.ts'

/** Names of the values of the message that paths read, each once. No path reads the message as a whole. */
export function messageNames(uses: readonly Path[]): readonly string[] {
  const names = new Set<string>()
  for (const { root, segments } of uses) {
    const [name] = segments
    if (root === 'streamdata' && name !== undefined) names.add(name)
  }
  return [...names]
}

/** What code reads that can be new. */
export interface CodeReads {
  /** of the values of the message */
  readonly names: readonly string[]
  /** labels of the nodes whose data it reads */
  readonly nodes: readonly string[]
}

/** What paths read that can be new, each once. */
export function readsOf(uses: readonly Path[]): CodeReads {
  const nodes = new Set(uses.flatMap(({ root, segments: [label] }) => (root === 'nodes' && label ? [label] : [])))
  return { names: messageNames(uses), nodes: [...nodes] }
}

/** The failure of a call that remembers nothing yet and finds nothing new. */
export function noNews({ names, nodes }: CodeReads): AppError {
  const listed = (texts: readonly string[]) => texts.slice(0, 10).map((text) => `"${text}"`)
  const missing = [
    ...(names.length === 0 ? [] : [`no message has brought a value of ${listed(names).join(' or ')} yet`]),
    ...(nodes.length === 0 ? [] : [`node ${listed(nodes).join(' or ')} has no new data yet`]),
  ]
  return new AppError('BINDING', `${missing.join(' and ')}, so the result is unknown`)
}

/**
 * Whether there is something new for code that reads these values: the message at hand has one of them itself, or one of
 * the nodes has run with success since the last answer of the node that asks. Code that reads neither finds something new
 * at every run.
 */
export function hasNews(context: Pick<PlugContext, 'isNew' | 'isNewOf'>, { names, nodes }: CodeReads): boolean {
  if (names.length + nodes.length === 0) return true
  for (const name of names) if (context.isNew(name)) return true
  for (const label of nodes) if (context.isNewOf(label)) return true
  return false
}
