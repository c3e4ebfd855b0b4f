/**
 * Whether what was read of key pairs may have changed since: who changes them says so to all hosts of the store, and a
 * host that may not have heard it reads again. So a key that was removed is good for a second at most, at every host.
 */
import type { Presence, Storage } from '#storage'

/** What is told; it names no key */
const CHANGED = 'keys'
/** ms for which a host of several may not have heard what was told */
const MAX_DEAF_MS = 1_000

export interface KeyChanges {
  /** ms of some clock */
  now(): number
  /** Whether nothing has changed, as far as is known, since that moment. */
  areNoneSince(moment: number): boolean
}

/** `elapsed`: ms since some moment. `isMember`: others are at work on the store, and this host asks for them again and again. */
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

/** After a change of key pairs. */
export async function tellKeyChange(storage: Pick<Storage, 'tell'>): Promise<void> {
  await storage.tell?.(CHANGED)
}
