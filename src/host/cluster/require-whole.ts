/** Refuses a store in which an earlier version divided tenants into partitions. */
import { AppError } from '#kernel'
import { type CollectionSpec, type Store, walk } from '#storage'

/** Written by that version; tenants with one partition are absent, or have the count 1. */
export const PARTITIONED: CollectionSpec<{ readonly count: number }> = {
  name: 'partitioned_tenants',
  version: 1,
  fields: {},
}

/** `own`: the store of the host's own tenant. Throws `STORE`. */
export async function requireWhole(own: Store): Promise<void> {
  const divided: string[] = []
  for await (const { id, value } of walk(own.collection(PARTITIONED))) if (value.count > 1) divided.push(id)
  if (divided.length === 0) return
  throw new AppError(
    'STORE',
    `An earlier version divided tenants of this store into partitions, which this version cannot open: ` +
      `${divided.slice(0, 10).join(', ')}; move them with the earlier version, as "Operate a cluster" describes`,
  )
}
