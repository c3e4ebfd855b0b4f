/**
 * Tracks changes of key pairs across hosts: each change is announced to all hosts of the store, and a host that may
 * have missed an announcement reads again. A removed key is valid for a second at most.
 */
import type { Presence, Storage } from '#storage'

const CHANGED = 'keys'
/** Maximum ms without contact during which announcements may be missed */
const MAX_DEAF_MS = 1_000

export interface KeyChanges {
  /** Monotonic ms */
  now(): number
  areNoneSince(moment: number): boolean
}

/** `elapsed`: monotonic ms. `isMember`: other hosts share the store, and this one polls for announcements. */
export function hearKeyChanges(
  presence: Pick<Presence, 'hear' | 'deafFor'>,
  { elapsed, isMember }: { readonly elapsed: () => number; readonly isMember: boolean },
): KeyChanges {
  let changed = Number.NEGATIVE_INFINITY
  presence.hear((word) => {
    if (word === undefined || word === CHANGED) changed = elapsed()
  })
  return {
    now: elapsed,
    areNoneSince: (moment) => moment > changed && (!isMember || presence.deafFor <= MAX_DEAF_MS),
  }
}

export async function tellKeyChange(storage: Pick<Storage, 'tell'>): Promise<void> {
  await storage.tell?.(CHANGED)
}
