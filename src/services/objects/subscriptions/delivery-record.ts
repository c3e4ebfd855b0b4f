/** Deliveries as they are stored, and the lanes in which those about one object follow each other. */
import { createHash } from 'node:crypto'
import type { CollectionSpec, Condition } from '#storage'
import type { ObjectChange } from '../contract.ts'
import type { Delivery, DeliveryState } from './subscription-schema.ts'

/** Times are epoch ms. */
export interface DeliveryRecord {
  readonly state: DeliveryState
  readonly attempts: number
  /** when it was delivered, or given up */
  readonly ended?: number
  readonly lastError?: DeliveryError
  /** key of its subscription */
  readonly subscription: string
  readonly lane: string
  /** of an active one: the job that carries it out */
  readonly job?: string
  readonly change: ObjectChange
  /** epoch ms from which it is let go; of one that has ended */
  readonly removeTime?: number
}

export interface DeliveryError {
  readonly time: number
  readonly message: string
  /** that the target answered with */
  readonly status?: number
}

/** The deliveries of one subscription about one object: while there is a lane, the first of them has a job. */
export interface LaneRecord {
  /** id of the delivery whose turn it is */
  readonly head: string
  /** those behind it */
  readonly waiting: number
}

export const DELIVERIES: CollectionSpec<DeliveryRecord> = {
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

export const LANES: CollectionSpec<LaneRecord> = { name: 'object_delivery_lanes', version: 1, fields: {} }

const POSITION_DIGITS = 15

/** One for each change of each subscription: who hands a change on twice finds it there. */
export function deliveryId(subscription: string, position: number): string {
  return `${subscription}/${String(position).padStart(POSITION_DIGITS, '0')}`
}

export function laneOf(subscription: string, { object }: ObjectChange): string {
  return createHash('sha256')
    .update(JSON.stringify([subscription, object.path]))
    .digest('base64url')
}

/** The next of a lane, oldest change first. */
export function waitingIn(lane: string): readonly Condition[] {
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
