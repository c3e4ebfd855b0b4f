/** Groups all tenants into a fixed number of slots, which all hosts assign alike. */
import { hashText } from '#kernel'

export const SLOTS = 256

/** Returns the slot of a tenant from its name: the same on every host and in every version. */
export function slotOf(name: string): number {
  return hashText(name) % SLOTS
}

/** Bounded rendezvous hashing: a joining or leaving host moves little more than its share. */
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
