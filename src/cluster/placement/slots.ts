/**
 * Slots: what the hosts of a cluster share, which are the partitions of all tenants, in a fixed number of parts, so that
 * who has what is one short table however many there are. All hosts come from the same list of hosts to the same
 * assignment, without asking each other.
 */
import { hashText } from '#kernel'

export const SLOTS = 256

/** The slot of a partition of a tenant, by its name (`partitionName`): the same on every host, for ever. */
export function slotOf(name: string): number {
  return hashText(name) % SLOTS
}

/**
 * Which of the hosts each slot should be at: the one that comes first for it, as far as that has not its even share
 * already (rendezvous hashing with a bound). A host that joins or leaves moves little more than its share. Empty when
 * there are no hosts.
 */
export function assignSlots(hosts: readonly string[]): readonly string[] {
  if (hosts.length === 0) return []
  const share = Math.ceil(SLOTS / hosts.length)
  const counts = new Map<string, number>()
  return Array.from({ length: SLOTS }, (_, slot) => {
    const chosen = firstFor(
      slot,
      hosts.filter((host) => (counts.get(host) ?? 0) < share),
    )
    counts.set(chosen, (counts.get(chosen) ?? 0) + 1)
    return chosen
  })
}

function firstFor(slot: number, hosts: readonly string[]): string {
  let first = ''
  let highest = -1
  for (const host of hosts) {
    const rank = hashText(`${slot} ${host}`)
    if (rank < highest || (rank === highest && host > first)) continue
    first = host
    highest = rank
  }
  return first
}
