/**
 * Raises the number of partitions of a tenant. Meanwhile the fences of all its partitions are held, half a term above
 * their owners: owners then drop the tenant, and only a host that receives its slot again could take it, in which case
 * the change fails. Tasks stay in their partitions: their subscriptions to resources that move are registered at the
 * new partitions before anything is posted there.
 *
 * PARTITIONS-1 the count and the listeners of partitions change in one commit, while no host owns the tenant
 * PARTITIONS-2 a count never decreases
 */
import { AppError, retryOnConflict } from '#kernel'
import { MAX_PARTITIONS, partitionOf, partitionOfTask } from '#cluster'
import { listenerId, LISTENERS, TASKS } from '#services/rules'
import { FENCES, type Storage, type Store, takeFence, walk, type Write } from '#storage'
import { HOST_TENANT } from '../auth/host-tenant.ts'
import { COUNT_ID, fenceOf, PARTITION_COUNTS, PARTITION_HINTS, readCount } from './partition-counts.ts'

/** Maximum number of listeners per commit */
const PORTION = 500
/** Number of attempts: hosts that learn of new partitions open them, taking their fences, at about the same time */
const TRIES = 5

export interface RaisedPartitions {
  readonly tenant: string
  readonly before: number
  readonly count: number
}

/** Throws `CONFLICT` if hosts took the tenant over during every attempt. */
export async function raisePartitions(storage: Storage, tenant: string, count: number): Promise<RaisedPartitions> {
  if (!Number.isInteger(count) || count < 1 || count > MAX_PARTITIONS) {
    throw new AppError('USAGE', `${count} is not a valid number of partitions; write 1 to ${MAX_PARTITIONS}`)
  }
  if (tenant.startsWith('_') || !(await storage.tenants()).includes(tenant)) {
    throw new AppError('NOT_FOUND', `the tenant ${JSON.stringify(tenant.slice(0, 100))} does not exist in the store`)
  }
  const store = storage.tenant(tenant)
  const before = await readCount(store)
  if (count < before) {
    throw new AppError(
      'WRONG_STATUS',
      `tenant ${tenant} has ${before} partitions, whose number cannot be reduced, because tasks wait for entries of their logs; choose ${before} or more`,
    )
  }
  if (count === before) return { tenant, before, count }
  // makes hosts look for the new partitions, which have no owner yet
  await storage.tenant(HOST_TENANT).collection(PARTITION_HINTS).put(tenant, { count })
  await retryOnConflict(
    () => raiseTo(store, count),
    TRIES,
    (cause) => takenOver(tenant, cause),
  )
  return { tenant, before, count }
}

function takenOver(tenant: string, cause: unknown): AppError {
  const text = `partitions of tenant ${tenant} moved to other hosts during each of ${TRIES} attempts; retry when the hosts of the cluster are stable`
  return new AppError('CONFLICT', text, { cause })
}

async function raiseTo(store: Store, count: number): Promise<void> {
  const held: HeldFence[] = []
  try {
    await holdFences(store, count, held)
    await tellListeners(store, count)
    const counts = store.collection(PARTITION_COUNTS)
    const stored = await counts.get(COUNT_ID)
    const counted = counts.putting(COUNT_ID, { count }, stored?.version ?? 'absent')
    await store.commit([counted, ...held.map(({ release }) => release)])
  } catch (error) {
    // a host that took a fence meanwhile keeps it
    for (const { release } of held) await store.commit([release]).catch(() => undefined)
    throw error
  }
}

interface HeldFence {
  readonly release: Write
}

async function holdFences(store: Store, count: number, held: HeldFence[]): Promise<void> {
  const fences = store.collection(FENCES)
  const holder = 'reflexarc cluster partitions'
  for (let number = 0; number < count; number += 1) {
    const name = fenceOf(number)
    const term = Math.floor((await fences.get(name))?.value.term ?? 0)
    const { version } = await takeFence(store, name, { holder, term: term + 0.5 })
    held.push({ release: fences.putting(name, { holder, term }, version) })
  }
}

/** Adds listeners for the new count; the listeners for the current count stay valid until the change. */
async function tellListeners(store: Store, count: number): Promise<void> {
  const listeners = store.collection(LISTENERS)
  let writes = new Map<string, Write>()
  const commit = async (): Promise<void> => {
    await store.commit([...writes.values()])
    writes = new Map()
  }
  for await (const { id, value } of walk(store.collection(TASKS), [{ field: 'status', op: 'eq', value: 'running' }])) {
    const by = partitionOfTask(id, count)
    for (const resource of value.resourceIds) {
      const home = partitionOf(resource, count)
      const name = listenerId(resource, { number: by, count })
      if (home !== by) writes.set(name, listeners.putting(name, { resource, count, home, by }))
      if (writes.size >= PORTION) await commit()
    }
  }
  if (writes.size > 0) await commit()
}
