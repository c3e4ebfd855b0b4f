/** Records changes: history and log in the commit of the change, and the live feed after the commit. */
import { type Caller, Feed, type Json, type ReaderOptions, sameJson } from '#kernel'
import type { Write } from '#storage'
import type { ResourceCollections } from './collections.ts'
import type { MetadataEvent, ResourceEntity } from './contract.ts'
import { notedChange } from './managed-tasks/noted-change.ts'
import { historyOf, recordId, type HistoryRecord, type Kind } from './history.ts'

export interface Change {
  readonly kind: Kind
  readonly id: string
  readonly before: ResourceEntity | undefined
  readonly after: ResourceEntity | undefined
  readonly message?: Json
  readonly cascaded?: readonly string[]
}

export interface Noted {
  readonly writes: readonly Write[]
  publish(): void
}

/** Numbers reserved per ms, so that each process starts above the numbers of earlier processes. */
const NUMBERS_PER_MS = 1_000

const TOPIC = 'changes'

export class ChangeRecorder {
  readonly feed: Feed<MetadataEvent>
  readonly #now: () => number
  readonly #newId: () => string
  readonly #collections: ResourceCollections
  readonly #notify: () => void
  #order = 0

  constructor(collections: ResourceCollections, now: () => number, newId: () => string, notify: () => void) {
    this.feed = new Feed({ kept: 1_000, behind: now() * NUMBERS_PER_MS })
    this.#collections = collections
    this.#now = now
    this.#newId = newId
    this.#notify = notify
  }

  read(options: Omit<ReaderOptions, 'topic'>): ReturnType<Feed<MetadataEvent>['read']> {
    return this.feed.read({ ...options, topic: TOPIC })
  }

  nextOrder(): number {
    this.#order = Math.max(this.#order + 1, this.#now() * 1000)
    return this.#order
  }

  note({ user }: Pick<Caller, 'user'>, change: Change): Noted {
    const collections = this.#collections
    const { kind, id, before, after } = change
    const time = this.#now()
    const record: HistoryRecord = {
      of: historyOf(kind, id),
      time,
      userId: user,
      change: before === undefined ? 'created' : after === undefined ? 'deleted' : 'updated',
      ...(after && { entity: after }),
    }
    const event = eventOf(change, time)
    const kept = collections.history.putting(recordId(this.nextOrder(), this.#newId()), record, 'absent')
    const body = event as unknown as Json
    // followers of the log do not need most changes, so only the relevant changes are logged
    const isFollowed = notedChange(body) !== undefined
    return {
      writes: isFollowed ? [kept, collections.log.appending([body])] : [kept],
      publish: () => {
        this.feed.publish(TOPIC, event)
        if (isFollowed) this.#notify()
      },
    }
  }
}

function eventOf({ kind, before, after, message, cascaded }: Change, timestamp: number): MetadataEvent {
  const type =
    before === undefined ? (message === undefined ? 'create' : 'discovered') : after === undefined ? 'delete' : 'update'
  const entity = after ?? before
  return {
    type,
    objectType: kind,
    timestamp,
    ...(entity && (kind === 'resource' ? { resource: entity } : { resourcetype: entity })),
    ...(before && after && { oldValues: oldValues(before, after) }),
    ...(message !== undefined && { message }),
    ...(cascaded !== undefined && cascaded.length > 0 && { cascadeDelete: cascaded }),
  }
}

function oldValues(before: ResourceEntity, after: ResourceEntity): Readonly<Record<string, Json>> {
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  const changed = [...names].filter((name) => !sameJson(before[name], after[name]))
  return Object.fromEntries(changed.map((name) => [name, before[name] ?? null]))
}
