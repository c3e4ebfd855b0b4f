/**
 * Deliveries on their way. Each change of an object that a subscription is about becomes one, in the commit that says
 * that the change was handed on. Those of one subscription about one object stand in a lane: the first has a job, which
 * carries it out and, in the commit that ends it, gives the next one its job. Whoever changes a lane expects its version, so
 * that none is forgotten between two that look at once.
 */
import { AppError, retryOnConflict } from '#kernel'
import type { AddedJobs, JobQueue } from '#jobs'
import { type Collection, type Store, type Stored, walk, type Write } from '#storage'
import type { ObjectChange } from '../contract.ts'
import {
  DELIVERIES,
  type DeliveryError,
  deliveryId,
  type DeliveryRecord,
  LANES,
  laneOf,
  type LaneRecord,
  waitingIn,
} from './delivery-record.ts'

export const DELIVERY_JOB = 'objects.delivery'

/** deliveries that wait behind one another: beyond it the oldest of them gives way */
const MAX_WAITING = 1_000
const HOUR_MS = 3_600_000
/** ms for which it can be looked up what became of it */
const KEPT_MS = { delivered: 24 * HOUR_MS, failed: 168 * HOUR_MS } as const
const SWEPT_AT_ONCE = 500

/** New deliveries that are to be committed with something else; then `added`. */
export interface AddedDeliveries {
  readonly writes: readonly Write[]
  readonly jobs: readonly AddedJobs[]
}

/** How a delivery ended. */
export interface DeliveryEnd {
  readonly state: 'delivered' | 'failed'
  readonly attempts: number
  readonly lastError?: DeliveryError
}

/** Those of one tenant. */
export class Outbox {
  readonly deliveries: Collection<DeliveryRecord>
  readonly #lanes: Collection<LaneRecord>
  readonly #queue: JobQueue
  readonly #now: () => number

  constructor(store: Store, queue: JobQueue, now: () => number) {
    this.deliveries = store.collection(DELIVERIES)
    this.#lanes = store.collection(LANES)
    this.#queue = queue
    this.#now = now
  }

  /** Of one change, for each of the subscriptions. */
  async adding(change: ObjectChange, subscriptions: readonly string[]): Promise<AddedDeliveries> {
    const writes: Write[] = []
    const jobs: AddedJobs[] = []
    for (const subscription of subscriptions) {
      const lane = laneOf(subscription, change)
      const id = deliveryId(subscription, change.position)
      const record = { subscription, lane, attempts: 0, change }
      const known = await this.#lanes.get(lane)
      if (known !== undefined) {
        const waiting = { ...record, state: 'waiting' } as const
        writes.push(this.deliveries.putting(id, waiting, 'absent'), ...(await this.#lengthening(known)))
        continue
      }
      const added = await this.#queue.adding({ type: DELIVERY_JOB, data: { delivery: id } })
      jobs.push(added)
      writes.push(
        this.deliveries.putting(id, { ...record, state: 'active', job: added.job.id }, 'absent'),
        this.#lanes.putting(lane, { head: id, waiting: 0 }, 'absent'),
        ...added.writes,
      )
    }
    return { writes, jobs }
  }

  added({ jobs }: AddedDeliveries): void {
    for (const one of jobs) this.#queue.added(one)
  }

  /**
   * Ends the first of a lane and gives the next one its turn. `commit` makes the writes whole, by the lease of the job; its
   * `CONFLICT` about a lane means that another one came meanwhile: then it is looked again.
   */
  async end(
    { id, value, version }: Stored<DeliveryRecord>,
    end: DeliveryEnd,
    commit: (writes: readonly Write[]) => Promise<unknown>,
  ): Promise<void> {
    const now = this.#now()
    const { job: _job, ...rest } = value
    const { state, attempts, lastError } = end
    const noted = { state, attempts, ...(lastError && { lastError }) }
    const ended: DeliveryRecord = { ...rest, ...noted, ended: now, removeTime: now + KEPT_MS[state] }
    await retryOnConflict(async () => {
      const lane = await this.#lanes.get(value.lane)
      const next = lane?.value.head === id ? await this.#next(lane) : { writes: [], jobs: [] }
      await commit([this.deliveries.putting(id, ended, version), ...next.writes])
      this.added(next)
    })
  }

  /** What a lane does when its first one is over, as writes. */
  async #next(lane: Stored<LaneRecord>): Promise<AddedDeliveries> {
    const [next] = await this.deliveries.find({ where: waitingIn(lane.id), sort: [{ field: 'position' }], limit: 1 })
    if (next === undefined) return { writes: [this.#lanes.deleting(lane.id, lane.version)], jobs: [] }
    const added = await this.#queue.adding({ type: DELIVERY_JOB, data: { delivery: next.id } })
    const waiting = Math.max(0, lane.value.waiting - 1)
    return {
      writes: [
        this.deliveries.putting(next.id, { ...next.value, state: 'active', job: added.job.id }, next.version),
        this.#lanes.putting(lane.id, { head: next.id, waiting }, lane.version),
        ...added.writes,
      ],
      jobs: [added],
    }
  }

  /** One more waits, or takes the place of the oldest that does. */
  async #lengthening({ id, value, version }: Stored<LaneRecord>): Promise<readonly Write[]> {
    const { head, waiting } = value
    if (waiting < MAX_WAITING) return [this.#lanes.putting(id, { head, waiting: waiting + 1 }, version)]
    const [oldest] = await this.deliveries.find({ where: waitingIn(id), sort: [{ field: 'position' }], limit: 1 })
    const lane = this.#lanes.putting(id, { head, waiting }, version)
    if (oldest === undefined) return [lane]
    const now = this.#now()
    const message = `it gave way: ${MAX_WAITING} later changes of the object wait too`
    const ended = { ended: now, removeTime: now + KEPT_MS.failed, lastError: { time: now, message } }
    return [lane, this.deliveries.putting(oldest.id, { ...oldest.value, ...ended, state: 'failed' }, oldest.version)]
  }

  /** Lets go of those that ended long ago; gives how many. */
  async sweep(): Promise<number> {
    const where = [{ field: 'removeTime', op: 'lte', value: this.#now() }] as const
    let count = 0
    for (;;) {
      const ids = await this.deliveries.ids({ where, limit: SWEPT_AT_ONCE })
      await Promise.all(ids.map((id) => this.deliveries.delete(id)))
      count += ids.length
      if (ids.length < SWEPT_AT_ONCE) return count
    }
  }

  /** Deliveries whose turn it is and whose job ended without them, as when a host died again and again: they end, too. */
  async repair(commit: (writes: readonly Write[]) => Promise<unknown>): Promise<void> {
    const where = [{ field: 'state', op: 'eq', value: 'active' }] as const
    for await (const one of walk(this.deliveries, where, SWEPT_AT_ONCE)) {
      const job = await this.#queue.get(one.value.job ?? '')
      if (job !== undefined && job.state !== 'failed' && job.state !== 'completed') continue
      const message = job?.failedReason ?? 'its job is gone'
      const { attempts } = one.value
      const lastError = { time: this.#now(), message }
      try {
        await this.end(one, { state: 'failed', attempts, lastError }, commit)
      } catch (error) {
        // it ended since it was read
        if (!(error instanceof AppError) || error.code !== 'CONFLICT') throw error
      }
    }
  }
}
