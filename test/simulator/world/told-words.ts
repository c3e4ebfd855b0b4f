/**
 * What processes on one store tell each other, as a medium that they share has it: here the host hears, and an operator
 * beside it tells. A host that dies hears no more.
 */
import type { Presence, Storage } from '../../../src/storage/contract.ts'
import type { VirtualLoop } from './virtual-loop.ts'

type Heard = Parameters<Presence['hear']>[0]

export class ToldWords {
  readonly #loop: VirtualLoop
  #heard: Heard[] = []

  constructor(loop: VirtualLoop) {
    this.#loop = loop
  }

  /** The storage of a host that starts; what an earlier one heard with is forgotten. */
  over(storage: Storage): Storage {
    this.#heard = []
    const presence: Presence = {
      announce: async () => undefined,
      among: async (names) => new Set(names),
      gone: () => new Promise(() => undefined),
      hear: (heard) => void this.#heard.push(heard),
      deafFor: 0,
    }
    // a storage of the simulator is plain functions, so that a copy is as good
    return { ...storage, presence, tell: (word) => this.tell(word) }
  }

  /** Resolves when a host that is up has heard it. */
  tell(word: string): Promise<void> {
    return new Promise((resolve) => {
      this.#loop.turn(() => {
        for (const heard of this.#heard) heard(word)
        resolve()
      })
    })
  }
}
