/** Shared/exclusive locks by key, not reentrant; requests after an exclusive one wait for it. */
export class KeyedSharedLock {
  readonly #locks = new Map<string, Lock>()

  async shared<T>(key: string, work: () => Promise<T>): Promise<T> {
    const lock = this.#lock(key)
    lock.wanted++
    try {
      while (lock.closed !== undefined) await lock.closed
      lock.inside++
      try {
        return await work()
      } finally {
        lock.inside--
        if (lock.inside === 0) lock.emptied?.()
      }
    } finally {
      this.#leave(key, lock)
    }
  }

  async exclusive<T>(key: string, work: () => Promise<T>): Promise<T> {
    const lock = this.#lock(key)
    lock.wanted++
    while (lock.closed !== undefined) await lock.closed
    let open = (): void => {}
    lock.closed = new Promise((resolve) => (open = resolve))
    try {
      if (lock.inside > 0) await new Promise<void>((resolve) => (lock.emptied = resolve))
      return await work()
    } finally {
      lock.closed = undefined
      lock.emptied = undefined
      open()
      this.#leave(key, lock)
    }
  }

  #lock(key: string): Lock {
    const known = this.#locks.get(key)
    if (known !== undefined) return known
    const lock: Lock = { wanted: 0, inside: 0, closed: undefined, emptied: undefined }
    this.#locks.set(key, lock)
    return lock
  }

  #leave(key: string, lock: Lock): void {
    lock.wanted--
    if (lock.wanted === 0) this.#locks.delete(key)
  }
}

interface Lock {
  wanted: number
  inside: number
  closed: Promise<void> | undefined
  emptied: (() => void) | undefined
}
