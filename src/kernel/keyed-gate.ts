/**
 * Many pass a gate at the same time, until one closes it: it waits for those inside, and those that come meanwhile wait
 * for it. Gates are told apart by key.
 *
 * Whoever is inside must not ask for the same gate again. One that closes waits for who closed it before.
 */
export class KeyedGate {
  readonly #gates = new Map<string, Gate>()

  /** Side by side with others that pass. */
  async pass<T>(key: string, work: () => Promise<T>): Promise<T> {
    const gate = this.#gate(key)
    gate.wanted++
    try {
      while (gate.closed !== undefined) await gate.closed
      gate.inside++
      try {
        return await work()
      } finally {
        gate.inside--
        if (gate.inside === 0) gate.emptied?.()
      }
    } finally {
      this.#leave(key, gate)
    }
  }

  /** With nobody inside. */
  async close<T>(key: string, work: () => Promise<T>): Promise<T> {
    const gate = this.#gate(key)
    gate.wanted++
    while (gate.closed !== undefined) await gate.closed
    let open = (): void => {}
    gate.closed = new Promise((resolve) => (open = resolve))
    try {
      if (gate.inside > 0) await new Promise<void>((resolve) => (gate.emptied = resolve))
      return await work()
    } finally {
      gate.closed = undefined
      gate.emptied = undefined
      open()
      this.#leave(key, gate)
    }
  }

  #gate(key: string): Gate {
    const known = this.#gates.get(key)
    if (known !== undefined) return known
    const gate: Gate = { wanted: 0, inside: 0, closed: undefined, emptied: undefined }
    this.#gates.set(key, gate)
    return gate
  }

  #leave(key: string, gate: Gate): void {
    gate.wanted--
    if (gate.wanted === 0) this.#gates.delete(key)
  }
}

interface Gate {
  /** those that pass, close, or wait for it */
  wanted: number
  inside: number
  /** resolves when it is open again */
  closed: Promise<void> | undefined
  emptied: (() => void) | undefined
}
