import { setImmediate as turn } from 'node:timers/promises'
import { AppError } from '../../../../../src/kernel/errors.ts'
import type { Committed, Store } from '../../../../../src/storage/contract.ts'
import { openMemory } from '../../../../../src/storage/memory/open-memory.ts'

/** Returns the store with another commit function. */
export function withCommit(store: Store, commit: Store['commit']): Store {
  return {
    collection: (spec) => store.collection(spec),
    log: (name) => store.log(name),
    series: store.series,
    blobs: store.blobs,
    commit,
    now: () => store.now(),
  }
}

/** A store in memory whose commits take some turns of the event loop, and are acknowledged in order. */
export class SlowStore {
  readonly inner = openMemory().tenant('acme')
  readonly store = withCommit(this.inner, (writes) => this.#commit(writes))
  underWay = 0
  /** Maximum number of concurrent commits */
  most = 0
  commits = 0
  readonly #turns: number[]
  #before: Promise<unknown> = Promise.resolve()

  /** `turns`: duration of each of the first commits; others take 1 */
  constructor(turns: readonly number[] = []) {
    this.#turns = [...turns]
  }

  async #commit(writes: Parameters<Store['commit']>[0]): Promise<Committed> {
    this.commits++
    this.most = Math.max(this.most, ++this.underWay)
    const slow = this.#slow(this.#before)
    this.#before = slow
    try {
      const committed = await this.inner.commit(writes)
      await slow
      return committed
    } catch (error) {
      // errors visible in the writes themselves are reported at once
      if (error instanceof AppError && error.code === 'CONFLICT') await slow
      throw error
    } finally {
      this.underWay--
    }
  }

  async #slow(before: Promise<unknown>): Promise<void> {
    for (let left = this.#turns.shift() ?? 1; left > 0; left--) await turn()
    await before
  }
}
