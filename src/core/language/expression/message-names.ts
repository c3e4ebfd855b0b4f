/** Finds the values of the message and of other nodes that code reads, and whether any of them is new. */
import { AppError } from '#kernel'
import type { Path } from '../placeholders/scope.ts'
import type { PlugContext } from '../../plug/plug.ts'

/** Returns the distinct names of message values that paths read. No path reads the message as a whole. */
export function messageNames(uses: readonly Path[]): readonly string[] {
  const names = new Set<string>()
  for (const { root, segments } of uses) {
    const [name] = segments
    if (root === 'streamdata' && name !== undefined) names.add(name)
  }
  return [...names]
}

export interface CodeReads {
  readonly names: readonly string[]
  /** labels of the nodes whose data the code reads */
  readonly nodes: readonly string[]
}

export function readsOf(uses: readonly Path[]): CodeReads {
  const nodes = new Set(uses.flatMap(({ root, segments: [label] }) => (root === 'nodes' && label ? [label] : [])))
  return { names: messageNames(uses), nodes: [...nodes] }
}

export function withoutNewData({ names, nodes }: CodeReads): AppError {
  const listed = (texts: readonly string[]) => texts.slice(0, 10).map((text) => `"${text}"`)
  const missing = [
    ...(names.length === 0 ? [] : [`no message has contained a value of ${listed(names).join(' or ')} yet`]),
    ...(nodes.length === 0 ? [] : [`node ${listed(nodes).join(' or ')} has no new data yet`]),
  ]
  return new AppError('BINDING', `${missing.join(' and ')}, so the result is unknown`)
}

/** Whether any value that the code reads is new. For code without such reads, every run is new. */
export function hasNewData(context: Pick<PlugContext, 'isNew' | 'isNewOf'>, { names, nodes }: CodeReads): boolean {
  if (names.length + nodes.length === 0) return true
  for (const name of names) if (context.isNew(name)) return true
  for (const label of nodes) if (context.isNewOf(label)) return true
  return false
}
