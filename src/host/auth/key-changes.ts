/**
 * Tracks changes of keys and sessions across hosts. Each change is announced to all hosts of the store; a host that may
 * have missed an announcement reads the credentials again. A removed key stays valid for at most a second.
 */
import type { Storage } from '#storage'

const CHANGED = 'keys'
/** Longest silence from the store, in ms, before this host may have missed announcements */
const MAX_DEAF_MS = 1_000

export interface KeyChangesOptions {
  /** Returns monotonic ms */
  readonly elapsed: () => number
  /** Other hosts share the store, and this host polls for announcements */
  readonly isMember: boolean
}

export class KeyChanges {
  readonly #storage: Pick<Storage, 'presence' | 'notify'>
  readonly #options: KeyChangesOptions
  readonly #listeners: (() => void)[] = []
  #changed = Number.NEGATIVE_INFINITY

  constructor(storage: Pick<Storage, 'presence' | 'notify'>, options: KeyChangesOptions) {
    this.#storage = storage
    this.#options = options
    storage.presence?.onNotification((word) => {
      if (word === undefined || word === CHANGED) this.#note()
    })
  }

  now(): number {
    return this.#options.elapsed()
  }

  areNoneSince(moment: number): boolean {
    const { presence } = this.#storage
    return (
      moment > this.#changed &&
      (presence === undefined || !this.#options.isMember || presence.notificationLag <= MAX_DEAF_MS)
    )
  }

  onChange(listener: () => void): void {
    this.#listeners.push(listener)
  }

  async announce(): Promise<void> {
    this.#note()
    await tellKeyChange(this.#storage)
  }

  #note(): void {
    this.#changed = this.#options.elapsed()
    for (const listener of this.#listeners) listener()
  }
}

export async function tellKeyChange(storage: Pick<Storage, 'notify'>): Promise<void> {
  await storage.notify?.(CHANGED)
}
