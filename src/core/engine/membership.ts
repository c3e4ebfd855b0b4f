/** Determines the members of a task's groups when it starts. */
import { AppError } from '#kernel'
import type { Graph } from '../graph/graph.ts'
import { groupKey } from '../graph/groups.ts'
import type { Ports } from '../ports.ts'
import type { Group } from '../rule/rule.ts'
import { MAX_MEMBERS } from '../task/members/group-state.ts'
import type { Prepared } from './prepared.ts'

/** Returns the members of each group of the rule, in the order of the graph. Throws `TOO_LARGE`. */
export async function resolveMembers(
  { graph, resource }: Prepared,
  ports: Ports,
): Promise<readonly (readonly string[])[]> {
  return Promise.all(
    graph.groups.map(async ({ spec }) => {
      const members = spec.resources ?? (await ports.members?.(withResource(spec, resource))) ?? []
      requireFew(spec, members.length)
      return members
    }),
  )
}

/** Returns the group with `$` as its parent replaced by the resource of the task. */
export function withResource(group: Group, resource: string | undefined): Group {
  return group.parent === '$' && resource !== undefined ? { ...group, parent: resource } : group
}

export function requireFew(group: Group, count: number): void {
  if (count <= MAX_MEMBERS) return
  const message = `the group ${groupKey(group)} has ${count} members, more than the limit of ${MAX_MEMBERS}; select fewer resources`
  throw new AppError('TOO_LARGE', message)
}

/** Returns the index of a group in the rule. Throws `NOT_FOUND`. */
export function indexOfGroup({ groups }: Graph, group: Group, task: string): number {
  const index = groups.findIndex(({ key }) => key === groupKey(group))
  if (index !== -1) return index
  const known = groups.map(({ key }) => key).join(', ') || 'none'
  throw new AppError('NOT_FOUND', `task ${task} has no group ${groupKey(group)}; its groups are ${known}`)
}
