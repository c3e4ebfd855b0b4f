/**
 * Stores the retained message of each topic: the last message that was published with `retain`.
 *
 * RETAIN-1 a retained message is stored in the commit of its post, and survives a restart
 * RETAIN-2 the number of retained messages is bounded: beyond the bound, the least recently written one is deleted and
 *   counted
 */
import { type Collection, type CollectionSpec, portionsOfIds, type Store, type Write } from '#storage'
import type { BrokerMessage, Channel } from '../contract.ts'
import { type IncomingMessage, type PublishRequest, routedMessageOf } from '../posting/publish-request.ts'
import { BackgroundDeletes } from './background-deletes.ts'

interface RetainedRecord {
  readonly message: BrokerMessage
}

/** one collection per channel, since the id of a resource may be as long as that of a document */
const RETAINED: Readonly<Record<Channel, CollectionSpec<RetainedRecord>>> = {
  events: { name: 'mqtt_retained_events', version: 1, fields: {} },
  commands: { name: 'mqtt_retained_commands', version: 1, fields: {} },
}

export const MAX_RETAINED = 10_000

export class RetainedMessages {
  readonly #records: Readonly<Record<Channel, Collection<RetainedRecord>>>
  readonly #most: number
  readonly #deletes: BackgroundDeletes
  /** channel and resource of the stored messages, the least recently written first */
  readonly #stored = new Set<string>()
  /** messages that were published with `retain`, as subscribers receive them */
  readonly #flagged = new WeakSet<BrokerMessage>()
  dropped = 0

  constructor(store: Store, report: (what: string) => void, most = MAX_RETAINED) {
    this.#records = { events: store.collection(RETAINED.events), commands: store.collection(RETAINED.commands) }
    this.#most = most
    this.#deletes = new BackgroundDeletes(store, report)
  }

  get size(): number {
    return this.#stored.size
  }

  async start(): Promise<void> {
    for (const channel of CHANNELS) {
      for await (const ids of portionsOfIds(this.#records[channel])) {
        for (const id of ids) this.#stored.add(nameOf(channel, id))
      }
    }
  }

  idle(): Promise<void> {
    return this.#deletes.idle()
  }

  /** Returns the writes to commit with the post. */
  planning(post: PublishRequest): readonly Write[] {
    const { channel, clears } = post
    if (clears !== undefined) return [this.#records[channel].deleting(clears)]
    const newest = retainedOf(post)
    if (newest === undefined) return []
    const message = routedMessageOf(newest)
    this.#flagged.add(message)
    return [this.#records[channel].putting(newest.resource, { message })]
  }

  committed(post: PublishRequest): void {
    const { channel, clears } = post
    if (clears !== undefined) this.#stored.delete(nameOf(channel, clears))
    const newest = retainedOf(post)
    if (newest === undefined) return
    const name = nameOf(channel, newest.resource)
    this.#stored.delete(name)
    this.#stored.add(name)
    const [oldest] = this.#stored
    if (this.#stored.size <= this.#most || oldest === undefined) return
    this.#stored.delete(oldest)
    this.dropped++
    for (const each of CHANNELS) {
      const start = nameOf(each, '')
      if (oldest.startsWith(start)) this.#deletes.add(this.#records[each].deleting(oldest.slice(start.length)))
    }
  }

  async last(resource: string, channel: Channel): Promise<BrokerMessage | undefined> {
    if (!this.#stored.has(nameOf(channel, resource))) return undefined
    return (await this.#records[channel].get(resource))?.value.message
  }

  /** Returns the resources with a retained event. */
  resources(): readonly string[] {
    const start = nameOf('events', '')
    return [...this.#stored].flatMap((name) => (name.startsWith(start) ? [name.slice(start.length)] : []))
  }

  /** Whether the message of a stream was published with `retain`. */
  isRetained(message: BrokerMessage): boolean {
    return this.#flagged.has(message)
  }

  async forgetResource(resource: string): Promise<void> {
    for (const channel of CHANNELS) {
      if (this.#stored.delete(nameOf(channel, resource))) await this.#records[channel].delete(resource)
    }
  }
}

const CHANNELS = ['events', 'commands'] as const

function nameOf(channel: Channel, resource: string): string {
  return `${channel}/${resource}`
}

function retainedOf({ arrivals, retain }: PublishRequest): IncomingMessage | undefined {
  return retain === true ? arrivals.at(-1) : undefined
}
