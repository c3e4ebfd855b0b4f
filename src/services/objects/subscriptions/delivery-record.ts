/** Deliveries as they are stored, and the lanes in which those about one object follow each other. */
import { createHash } from 'node:crypto'
import type { CollectionSpec, Condition } from '#storage'
import type { ObjectChange } from '../contract.ts'
import type { Delivery } from './contract.ts'

export interface DeliveryRecord extends Omit<Delivery, 'id'> {
  /** key of its subscription */
  readonly subscription: string
  readonly lane: string
  /** of an active one: the job that carries it out */
  readonly job?: string
  readonly change: ObjectChange
  /** epoch ms from which it is let go; of one that has ended */
  readonly removeTime?: number
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
    position: { type: 'number', of: ({ position }) => position },
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

export function showDelivery(id: string, record: DeliveryRecord): Delivery {
  const {
    subscription: _subscription,
    lane: _lane,
    job: _job,
    change: _change,
    removeTime: _removed,
    ...shown
  } = record
  return { id, ...shown }
}
