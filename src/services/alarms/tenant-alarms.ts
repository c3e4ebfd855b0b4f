/** Everything of one tenant: its collections, who is told of its events, and when something happens by itself. */
import type { Feed, Logger } from '#kernel'
import type { Storage } from '#storage'
import { dueTime, type AlarmRecord } from './alarm-record.ts'
import { openCollections, type TenantCollections } from './collections.ts'
import type { AlarmEvent, AlarmForwarding } from './contract.ts'
import { EventForwarder } from './event-forwarder.ts'
import { EventTail, type LiveEvent } from './event-tail.ts'

export interface TenantAlarmsDependencies {
  readonly storage: Storage
  readonly feed: Feed<LiveEvent>
  readonly engine: () => AlarmForwarding | undefined
  readonly logger: Logger | undefined
  readonly failed: (error: unknown) => void
}

export class TenantAlarms {
  readonly collections: TenantCollections
  readonly tail: EventTail
  readonly forwarder: EventForwarder
  /** epoch ms of the first thing that happens by itself, as far as it is known here */
  nextDue = Number.POSITIVE_INFINITY

  private constructor(collections: TenantCollections, tail: EventTail, forwarder: EventForwarder) {
    this.collections = collections
    this.tail = tail
    this.forwarder = forwarder
  }

  static async open(
    tenant: string,
    { storage, feed, engine, logger, failed }: TenantAlarmsDependencies,
  ): Promise<TenantAlarms> {
    const collections = openCollections(storage, tenant)
    const tail = await EventTail.open(collections, feed, failed)
    return new TenantAlarms(collections, tail, new EventForwarder(collections, engine, logger))
  }

  committed(last: number, events: readonly AlarmEvent[]): void {
    this.tail.committed(last, events)
    this.forwarder.wake()
  }

  /** An alarm is so now. */
  watch(alarm: AlarmRecord): void {
    this.nextDue = Math.min(this.nextDue, dueTime(alarm) ?? Number.POSITIVE_INFINITY)
  }

  /** What other processes wrote counts as well. */
  async readNextDue(): Promise<void> {
    const [first] = await this.collections.alarms.find({
      where: [{ field: 'due', op: 'exists', value: true }],
      sort: [{ field: 'due' }],
      limit: 1,
    })
    this.nextDue = (first && dueTime(first.value)) ?? Number.POSITIVE_INFINITY
  }
}
