/** Sorts gates in the order in which they are decided, parents before children, and rejects cycles. */
import { AppError } from '#kernel'
import type { Relation } from '../rule/rule.ts'

/** Sorts parents before children; otherwise keeps the order of declaration. An error names the members of a cycle. */
export function parentsFirst(relations: readonly Relation[]): readonly Relation[] {
  const byLabel = new Map(relations.map((relation) => [relation.label, relation]))
  const done = new Set<Relation>()
  for (const relation of relations) visit(relation, byLabel, done)
  return [...done]
}

/** Searches depth first without recursion, since a chain of ten thousand gates must not overflow the stack. */
function visit(start: Relation, byLabel: ReadonlyMap<string, Relation>, done: Set<Relation>): void {
  const path: { relation: Relation; next: number }[] = [{ relation: start, next: 0 }]
  const onPath = new Set<Relation>([start])
  for (let top = path.at(-1); top; top = path.at(-1)) {
    const { relation } = top
    const label = relation.parentLabels[top.next++]
    if (label === undefined || done.has(relation)) {
      done.add(relation)
      onPath.delete(relation)
      path.pop()
      continue
    }
    const parent = byLabel.get(label)
    if (parent === undefined || done.has(parent)) continue
    if (onPath.has(parent)) throw cycleError([...path.map((step) => step.relation.label), parent.label], parent.label)
    onPath.add(parent)
    path.push({ relation: parent, next: 0 })
  }
}

function cycleError(path: readonly string[], repeated: string): AppError {
  const cycle = path.slice(path.indexOf(repeated)).toReversed()
  return new AppError('VALIDATION', `relations form a cycle: ${cycle.join(' -> ')}`)
}
