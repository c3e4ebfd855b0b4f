/**
 * What the partitions of a tenant hand to each other, and what tells them to.
 *
 * The log `rule_relay` has a partition for each partition of the tenant: those that hand something to it append, in the
 * commit that makes it durable with them, and it takes the entries one after the other, each in one commit with its
 * place in the log.
 */
import { createHash } from 'node:crypto'
import type { Partition } from '#cluster'
import type { CollectionSpec } from '#storage'
import type { Input, Untimed } from '../durable/input.ts'

export const RELAY_LOG = 'rule_relay'

/** Messages for another partition. */
export interface RelayEntry {
  /** `home`: it is that of their resources; `task`: it has tasks that hear them */
  readonly to: 'home' | 'task'
  readonly data: Untimed<Extract<Input, { k: 'data' }>>
}

/** A partition has tasks that hear a resource of another one. */
export interface ListenerRecord {
  readonly resource: string
  /** partitions that the tenant has when this counts */
  readonly count: number
  /** the partition of the resource */
  readonly home: number
  /** the partition of the tasks */
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

/**
 * A document for each partition that changes with its listeners: whoever takes messages for the partition commits them on
 * the version that it read the listeners at, so that nobody begins to listen unseen.
 */
export interface ListenerChange {
  /** the partition that began or ceased to listen last; -1: nobody has */
  readonly by: number
}

export const LISTENER_CHANGES: CollectionSpec<ListenerChange> = {
  name: 'rule_listener_changes',
  version: 1,
  fields: {},
}

/** How far a partition has taken what was handed to it. */
export interface RelayCursor {
  readonly position: number
}

export const RELAY_CURSORS: CollectionSpec<RelayCursor> = { name: 'rule_relay_cursors', version: 1, fields: {} }
