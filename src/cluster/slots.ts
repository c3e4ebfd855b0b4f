/**
 * Slots: the tenants of a cluster in a fixed number of parts, so that who has what is one short table however many
 * tenants there are. All hosts come from the same list of hosts to the same assignment, without asking each other.
 */

export const SLOTS = 256

const UTF8 = new TextEncoder()

/** The slot of a tenant: the same on every host, for ever. */
export function slotOf(tenant: string): number {
  return hashOf(tenant) % SLOTS
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
    const rank = hashOf(`${slot} ${host}`)
    if (rank < highest || (rank === highest && host > first)) continue
    first = host
    highest = rank
  }
  return first
}

/** 32 bits: FNV-1a over the bytes, and the last step of MurmurHash3, so that short texts differ in all bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (const byte of UTF8.encode(text)) hash = Math.imul(hash ^ byte, 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
