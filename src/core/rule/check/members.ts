/** Finds the nodes of a rule that have one state per member of a group. */
import type { RuleIndex } from './rule-index.ts'

/** Returns the labels of sensors with a group, and of relations over them that do not count them. */
export function memberLabels({ plugNodes, relations }: RuleIndex): ReadonlySet<string> {
  const found = new Set<string>()
  for (const { kind, label, node, plug } of plugNodes)
    if (kind === 'sensor' && node.group !== undefined && plug?.gathers === undefined) found.add(label)
  const others = relations.filter(({ node }) => node.type !== 'COUNT' && node.type !== 'SHARE')
  for (let before = -1; before !== found.size;) {
    before = found.size
    for (const { label, node } of others) if (node.parentLabels?.some((parent) => found.has(parent))) found.add(label)
  }
  return found
}
