/**
 * Tracks changes of key pairs across hosts. Each change is announced to all hosts of the store; a host that may have
 * missed an announcement reads the pair again. A removed key stays valid for at most a second.
 */
import type { Presence, Storage } from '#storage'

const CHANGED = 'keys'
/** Longest silence from the store, in ms, before this host may have missed announcements */
const MAX_DEAF_MS = 1_000

export interface KeyChanges {
  /** Returns monotonic ms */
  now(): number
  areNoneSince(moment: number): boolean
}

/** `elapsed`: monotonic ms. `isMember`: other hosts share the store, and this host polls for announcements. */
export function hearKeyChanges(
  presence: Pick<Presence, 'onNotification' | 'notificationLag'>,
  { elapsed, isMember }: { readonly elapsed: () => number; readonly isMember: boolean },
): KeyChanges {
  let changed = Number.NEGATIVE_INFINITY
  presence.onNotification((word) => {
    if (word === undefined || word === CHANGED) changed = elapsed()
  })
  return {
    now: elapsed,
    areNoneSince: (moment) => moment > changed && (!isMember || presence.notificationLag <= MAX_DEAF_MS),
  }
}

export async function tellKeyChange(storage: Pick<Storage, 'notify'>): Promise<void> {
  await storage.notify?.(CHANGED)
}
