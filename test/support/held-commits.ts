/** Wraps a storage so that its next commit waits until the test releases it. */
import type { Storage } from '../../src/storage/contract.ts'
import { deferred } from './deferred.ts'

export interface HeldCommits {
  readonly storage: Storage
  /** Holds the next commit. `reached` resolves when the commit waits; `go` releases it. */
  holdNext(): { readonly reached: Promise<void>; go(): void }
}

export function heldCommits(inner: Storage): HeldCommits {
  let hold: { reached: () => void; gone: Promise<void> } | undefined
  const storage: Storage = {
    tenant: (id) => {
      const store = inner.tenant(id)
      return {
        collection: (spec) => store.collection(spec),
        log: (name) => store.log(name),
        series: store.series,
        blobs: store.blobs,
        now: () => store.now(),
        commit: async (writes) => {
          const held = hold
          hold = undefined
          held?.reached()
          await held?.gone
          return store.commit(writes)
        },
      }
    },
    tenants: () => inner.tenants(),
    close: () => inner.close(),
    stats: () => inner.stats(),
  }
  return {
    storage,
    holdNext: () => {
      const reached = deferred()
      const gone = deferred()
      hold = { reached: () => reached.resolve(), gone: gone.promise }
      return { reached: reached.promise, go: () => gone.resolve() }
    },
  }
}

/** Lets everything happen that does not depend on the held commit. */
export async function othersGoOn(): Promise<void> {
  for (let turns = 0; turns < 50; turns++) await new Promise((resolve) => void setImmediate(resolve))
}
