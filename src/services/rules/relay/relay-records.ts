/**
 * Storage for relaying messages between the partitions of a tenant.
 *
 * The log `rule_relay` has one partition for each partition of the tenant. A sender appends to it in the commit that
 * makes a message durable on its side. The receiver applies the entries in order, each in one commit with its cursor.
 */
import { createHash } from 'node:crypto'
import type { Partition } from '#cluster'
import type { CollectionSpec } from '#storage'
import type { Input, Untimed } from '../durable/input.ts'

export const RELAY_LOG = 'rule_relay'

export interface RelayEntry {
  /** `home`: the receiving partition owns the resources; `task`: it runs tasks that listen to them */
  readonly to: 'home' | 'task'
  readonly data: Untimed<Extract<Input, { k: 'data' }>>
}

export interface ListenerRecord {
  readonly resource: string
  /** partition count for which this record is valid */
  readonly count: number
  readonly home: number
  readonly by: number
}

export const LISTENERS: CollectionSpec<ListenerRecord> = {
  name: 'rule_listeners',
  version: 1,
  fields: {
    count: { type: 'number', of: ({ count }) => count },
    home: { type: 'number', of: ({ home }) => home },
    by: { type: 'number', of: ({ by }) => by },
  },
}

export function listenerId(resource: string, { number, count }: Partition): string {
  return `${count}/${number}/${createHash('sha256').update(resource).digest('base64url')}`
}

/** Messages are committed on the version at which the listeners were read, so a new listener misses none. */
export interface ListenerChange {
  /** the partition that last started or stopped listening; -1: none so far */
  readonly by: number
}

export const LISTENER_CHANGES: CollectionSpec<ListenerChange> = {
  name: 'rule_listener_changes',
  version: 1,
  fields: {},
}

export interface RelayCursor {
  readonly position: number
}

export const RELAY_CURSORS: CollectionSpec<RelayCursor> = { name: 'rule_relay_cursors', version: 1, fields: {} }
