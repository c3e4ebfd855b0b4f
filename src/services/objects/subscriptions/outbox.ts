/** Deliveries of one tenant: those of one subscription and object form a lane, of which only the head has a job. */
import { createHash } from 'node:crypto'
import { AppError, retryOnConflict } from '#kernel'
import type { AddedJobs, JobQueue } from '#jobs'
import {
  type Collection,
  type CollectionSpec,
  type Condition,
  type Store,
  type Stored,
  walk,
  type Write,
} from '#storage'
import type { ObjectChange } from '../contract.ts'
import type { Delivery, DeliveryState } from './subscription-schema.ts'

export const DELIVERY_JOB = 'objects.delivery'

/** maximum number of deliveries waiting in one lane; beyond that the oldest fails */
const MAX_WAITING = 1_000
const HOUR_MS = 3_600_000
/** ms for which ended deliveries are kept */
const KEPT_MS = { delivered: 24 * HOUR_MS, failed: 168 * HOUR_MS } as const
const SWEPT_AT_ONCE = 500

/** Times are epoch ms. */
export interface DeliveryRecord {
  readonly state: DeliveryState
  readonly attempts: number
  readonly ended?: number
  readonly lastError?: DeliveryError
  readonly subscription: string
  readonly lane: string
  /** job of an active delivery */
  readonly job?: string
  readonly change: ObjectChange
  /** epoch ms when an ended delivery is removed */
  readonly removeTime?: number
}

interface DeliveryError {
  readonly time: number
  readonly message: string
  readonly status?: number
}

/** Queue of one subscription's deliveries for one object; the head has a job. */
interface LaneRecord {
  readonly head: string
  readonly waiting: number
}

const DELIVERIES: CollectionSpec<DeliveryRecord> = {
  name: 'object_deliveries',
  version: 1,
  fields: {
    subscription: { type: 'text', of: ({ subscription }) => subscription },
    lane: { type: 'text', of: ({ lane }) => lane },
    state: { type: 'text', of: ({ state }) => state },
    position: { type: 'number', of: ({ change }) => change.position },
    removeTime: { type: 'number', of: ({ removeTime }) => removeTime },
  },
  together: [
    ['subscription', 'position'],
    ['lane', 'state', 'position'],
  ],
}

const LANES: CollectionSpec<LaneRecord> = { name: 'object_delivery_lanes', version: 1, fields: {} }

/** Deliveries to commit; call `added` after the commit. */
export interface AddedDeliveries {
  readonly writes: readonly Write[]
  readonly jobs: readonly AddedJobs[]
}

export interface DeliveryEnd {
  readonly state: 'delivered' | 'failed'
  readonly attempts: number
  readonly lastError?: DeliveryError
}

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

  /** Ends the head of a lane and starts the next delivery. Retries when `commit` throws a `CONFLICT` about the lane. */
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

  /** Returns the writes that count one more waiting delivery; a full lane fails its oldest waiting delivery. */
  async #lengthening({ id, value, version }: Stored<LaneRecord>): Promise<readonly Write[]> {
    const { head, waiting } = value
    if (waiting < MAX_WAITING) return [this.#lanes.putting(id, { head, waiting: waiting + 1 }, version)]
    const [oldest] = await this.deliveries.find({ where: waitingIn(id), sort: [{ field: 'position' }], limit: 1 })
    const lane = this.#lanes.putting(id, { head, waiting }, version)
    if (oldest === undefined) return [lane]
    const now = this.#now()
    const message = `it was dropped: ${MAX_WAITING} later changes of the object are waiting`
    const ended = { ended: now, removeTime: now + KEPT_MS.failed, lastError: { time: now, message } }
    return [lane, this.deliveries.putting(oldest.id, { ...oldest.value, ...ended, state: 'failed' }, oldest.version)]
  }

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

  /** Fails active deliveries whose job ended without ending the delivery, such as after repeated crashes. */
  async repair(commit: (writes: readonly Write[]) => Promise<unknown>): Promise<void> {
    const where = [{ field: 'state', op: 'eq', value: 'active' }] as const
    for await (const one of walk(this.deliveries, where, SWEPT_AT_ONCE)) {
      const job = await this.#queue.get(one.value.job ?? '')
      if (job !== undefined && job.state !== 'failed' && job.state !== 'completed') continue
      const message = job?.failedReason ?? 'its job no longer exists'
      const { attempts } = one.value
      const lastError = { time: this.#now(), message }
      try {
        await this.end(one, { state: 'failed', attempts, lastError }, commit)
      } catch (error) {
        // the delivery ended meanwhile
        if (!(error instanceof AppError) || error.code !== 'CONFLICT') throw error
      }
    }
  }
}

const POSITION_DIGITS = 15

/** Returns a deterministic id, so that forwarding a change twice conflicts. */
function deliveryId(subscription: string, position: number): string {
  return `${subscription}/${String(position).padStart(POSITION_DIGITS, '0')}`
}

function laneOf(subscription: string, { object }: ObjectChange): string {
  return createHash('sha256')
    .update(JSON.stringify([subscription, object.path]))
    .digest('base64url')
}

function waitingIn(lane: string): readonly Condition[] {
  return [
    { field: 'lane', op: 'eq', value: lane },
    { field: 'state', op: 'eq', value: 'waiting' },
  ]
}

export function showDelivery(
  id: string,
  { state, change: { event, object, time }, attempts, ended, lastError }: DeliveryRecord,
): Delivery {
  return {
    id,
    state,
    event,
    object: object.path,
    event_time: new Date(time).toISOString(),
    attempts,
    ...(ended !== undefined && { ended: new Date(ended).toISOString() }),
    ...(lastError && { last_error: { ...lastError, time: new Date(lastError.time).toISOString() } }),
  }
}
