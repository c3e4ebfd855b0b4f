/**
 * Simulates notices between processes on one store, where an operator notifies the host. A host that died receives
 * none.
 */
import type { Presence, Storage } from '../../../src/storage/contract.ts'
import type { VirtualLoop } from './virtual-loop.ts'

type Heard = Parameters<Presence['onNotification']>[0]

export class ToldWords {
  readonly #loop: VirtualLoop
  #heard: Heard[] = []

  constructor(loop: VirtualLoop) {
    this.#loop = loop
  }

  /** Returns the storage of a host that starts, and drops the listeners of earlier hosts. */
  over(storage: Storage): Storage {
    this.#heard = []
    const presence: Presence = {
      announce: async () => undefined,
      among: async (names) => new Set(names),
      gone: () => new Promise(() => undefined),
      onNotification: (heard) => void this.#heard.push(heard),
      notificationLag: 0,
    }
    // simulated storage consists of plain functions, so a copy works as well
    return { ...storage, presence, notify: (word) => this.tell(word) }
  }

  /** Resolves when a running host has received the notice. */
  tell(word: string): Promise<void> {
    return new Promise((resolve) => {
      this.#loop.turn(() => {
        for (const heard of this.#heard) heard(word)
        resolve()
      })
    })
  }
}
