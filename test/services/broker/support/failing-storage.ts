/** A store whose series can be made to fail, as if the process died or the disk were full between log and series. */
import { AppError } from '../../../../src/kernel/errors.ts'
import type { Series, Storage, Store } from '../../../../src/storage/contract.ts'

type Batch = Parameters<Series['append']>[0]

export interface FailingStorage extends Storage {
  /** what happens to the next appends: the first entry to the first, and so on; none: all go through */
  readonly fates: (undefined | ((batch: Batch) => void | Promise<void>))[]
}

export function failingStorage(storage: Storage): FailingStorage {
  const fates: FailingStorage['fates'] = []
  return {
    ...storage,
    fates,
    tenant: (id) => failingStore(storage.tenant(id), fates),
  }
}

export function diskFull(): never {
  throw new AppError('STORE', 'no room')
}

export function poisoned(): never {
  throw new AppError('VALIDATION', 'this cannot be kept')
}

function failingStore(store: Store, fates: FailingStorage['fates']): Store {
  const { series } = store
  const append: Series['append'] = async (batch) => {
    await fates.shift()?.(batch)
    await series.append(batch)
  }
  return {
    collection: (spec) => store.collection(spec),
    log: (name) => store.log(name),
    blobs: store.blobs,
    commit: (writes) => store.commit(writes),
    now: () => store.now(),
    series: new Proxy(series, {
      get: (target, key) => {
        if (key === 'append') return append
        const member: unknown = Reflect.get(target, key)
        return typeof member === 'function' ? (member.bind(target) as unknown) : member
      },
    }),
  }
}
