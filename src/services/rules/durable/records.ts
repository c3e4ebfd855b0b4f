/** Storage collections of the runner. */
import type { SavedState } from '#core/spi'
import type { CollectionSpec, Query } from '#storage'
import type { Delivery } from '../inspection/inspection-schema.ts'
import { isShadow } from './shadow-id.ts'

/** A task's state after the input at `position`, including all effects up to `time` (epoch ms). */
export interface StateRecord {
  readonly epoch: number
  readonly position: number
  readonly time: number
  readonly resources: readonly string[]
  readonly state?: SavedState
  /** number of documents that contain the state and `underWay`; absent: this record contains both */
  readonly parts?: number
  readonly delivered: number
  readonly underWay?: readonly OpenDelivery[]
}

export const STATES: CollectionSpec<StateRecord> = { name: 'rule_states', version: 1, fields: {} }

export interface OpenDelivery extends Delivery {
  readonly execution: number
  readonly item: number
  /** outcome of the latest call, which is held back or retried */
  readonly gave?: { readonly message?: string; readonly error?: string }
}

/** An ended delivery. `number` counts the deliveries of a task. */
export interface DeliveryRecord extends Delivery {
  readonly task: string
  readonly number: number
  /** of a failed delivery: the properties of its call, with secrets by name; absent: constant, or too large */
  readonly call?: Readonly<Record<string, unknown>>
}

export const DELIVERIES: CollectionSpec<DeliveryRecord> = {
  name: 'rule_deliveries',
  version: 2,
  fields: {
    task: { type: 'text', of: (delivery) => delivery.task },
    number: { type: 'number', of: (delivery) => delivery.number },
    // deliveries of shadows are in no list of all tasks
    time: { type: 'number', of: ({ task, createTime }) => (isShadow(task) ? undefined : createTime) },
    status: { type: 'text', of: (delivery) => delivery.status },
  },
  together: [['status', 'time']],
}

export const MAX_DELIVERIES = 1000

export function deliveryId(task: string, number: number): string {
  return `${task}/${number % MAX_DELIVERIES}`
}

export function newestOf(task: string, limit: number): Query {
  return { where: [{ field: 'task', op: 'eq', value: task }], sort: [{ field: 'number', descending: true }], limit }
}
