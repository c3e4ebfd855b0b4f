/** What the runner stores beside its log. */
import type { SavedState } from '#core/spi'
import type { CollectionSpec, Query } from '#storage'
import type { Delivery } from '../inspection/inspection-schema.ts'

/** A task's state after the input at `position` and all that followed from it up to `time` (epoch ms). */
export interface StateRecord {
  readonly epoch: number
  readonly position: number
  readonly time: number
  /** resolved resources by place in the graph */
  readonly resources: readonly string[]
  /** absent: it is in parts */
  readonly state?: SavedState
  /** into how many documents the state and what is under way are cut; absent: they stand here */
  readonly parts?: number
  /** deliveries that came to an end, ever */
  readonly delivered: number
  readonly underWay?: readonly OpenDelivery[]
}

export const STATES: CollectionSpec<StateRecord> = { name: 'rule_states', version: 1, fields: {} }

/** A delivery that has not come to an end, with its execution and the item of its loop. */
export interface OpenDelivery extends Delivery {
  readonly execution: number
  readonly item: number
  /** what its last call gave, which is held back or tried again */
  readonly gave?: { readonly message?: string; readonly error?: string }
}

/** A delivery that has come to an end. `number` counts those of a task. */
export interface DeliveryRecord extends Delivery {
  readonly task: string
  readonly number: number
}

export const DELIVERIES: CollectionSpec<DeliveryRecord> = {
  name: 'rule_deliveries',
  version: 1,
  fields: {
    task: { type: 'text', of: (delivery) => delivery.task },
    number: { type: 'number', of: (delivery) => delivery.number },
  },
}

/** Deliveries kept per task: later ones take the place of the oldest. */
export const MAX_DELIVERIES = 1000

export function deliveryId(task: string, number: number): string {
  return `${task}/${number % MAX_DELIVERIES}`
}

/** Those of a task, newest first. */
export function newestOf(task: string, limit: number): Query {
  return { where: [{ field: 'task', op: 'eq', value: task }], sort: [{ field: 'number', descending: true }], limit }
}
