/** Decides which member of a group owns which partition: a member that leaves moves no partitions but its own. */
import type { GroupPartitionsAssigner } from '@platformatic/kafka'
import { hashText } from '#kernel'

/** Returns members for a partition, best first. */
export function ranked(partition: number, members: readonly string[]): readonly string[] {
  const score = (member: string): number => hashText(`${member}/${partition}`)
  return members.toSorted((a, b) => score(b) - score(a) || (a < b ? -1 : 1))
}

/** Returns the owner of each partition; no member has more than its share, rounded up. */
export function placed(partitions: number, members: readonly string[]): readonly string[] {
  const most = Math.ceil(partitions / Math.max(1, members.length))
  const load = new Map<string, number>()
  return Array.from({ length: members.length === 0 ? 0 : partitions }, (_, partition) => {
    const owner = ranked(partition, members).find((member) => (load.get(member) ?? 0) < most) ?? ''
    load.set(owner, (load.get(owner) ?? 0) + 1)
    return owner
  })
}

export const assignPlaces: GroupPartitionsAssigner = (_current, members, topics, metadata) => {
  const ids = [...members.keys()].toSorted()
  const assignments = new Map(ids.map((id) => [id, new Map<string, { topic: string; partitions: number[] }>()]))
  for (const topic of topics) {
    const count = metadata.topics.get(topic)?.partitionsCount ?? 0
    for (const [partition, owner] of placed(count, ids).entries()) {
      const own = assignments.get(owner)
      const list = own?.get(topic)
      if (list === undefined) own?.set(topic, { topic, partitions: [partition] })
      else list.partitions.push(partition)
    }
  }
  return [...assignments].map(([memberId, own]) => ({ memberId, assignments: own }))
}
