/** Keeps the last messages of each resource; deletions of many resources are combined to share disk pages. */
import { AppError } from '#kernel'
import type { Series, StoredMessage } from '#storage'
import type { BrokerMessage, Channel, MessageApi } from './contract.ts'
import type { PublishRequest } from './posting/publish-request.ts'

export const MAX_KEPT = 100

const GROUPS = 8_192
/** messages of a group between two checks; prime, so that not always the same resource is checked */
const LOOK_EVERY = 211
/** maximum resources waiting for a check; others are found through later messages */
const MAX_WAITING = 10_000
/** after this many messages of all resources, waiting resources are checked, unless a sweep comes first */
const WORTH_IT = 16_384
const AT_ONCE = 64

interface Stream {
  readonly resource: string
  readonly stream: Channel
}

export class RecentMessages implements Pick<MessageApi, 'last' | 'current'> {
  readonly #series: Series
  readonly #report: (error: unknown) => void
  /** messages per group since the last check; the size does not depend on the number of resources */
  #counts: Uint8Array | undefined
  readonly #waiting = new Map<string, Stream>()
  #stored = 0
  #pruning: Promise<void> | undefined

  constructor(series: Series, report: (error: unknown) => void) {
    this.#series = series
    this.#report = report
  }

  async last(resource: string, channel: Channel = 'events', limit = MAX_KEPT): Promise<readonly BrokerMessage[]> {
    const most = Math.min(limit, MAX_KEPT)
    return (await this.#series.messages({ resource, stream: channel, limit: most })).map(messageOf)
  }

  async current(resource: string): Promise<BrokerMessage> {
    const [newest] = await this.#series.messages({ resource, stream: 'events', limit: 1 })
    if (newest === undefined) throw new AppError('NOT_FOUND', `No message is stored for resource ${resource}`)
    return messageOf(newest)
  }

  stored({ arrivals, channel, store }: PublishRequest): void {
    if (!store) return
    const counts = (this.#counts ??= new Uint8Array(GROUPS))
    this.#stored += arrivals.length
    for (const { resource } of arrivals) {
      const group = groupOf(channel, resource)
      const count = (counts[group] ?? 0) + 1
      counts[group] = count >= LOOK_EVERY ? 0 : count
      if (count < LOOK_EVERY || this.#waiting.size >= MAX_WAITING) continue
      this.#waiting.set(`${channel} ${resource}`, { resource, stream: channel })
    }
    if (this.#stored >= WORTH_IT && this.#waiting.size > 0) this.#pruning ??= this.#prune()
  }

  async sweep(): Promise<void> {
    if (this.#waiting.size > 0) this.#pruning ??= this.#prune()
    await this.idle()
  }

  async idle(): Promise<void> {
    while (this.#pruning !== undefined) await this.#pruning
  }

  async #prune(): Promise<void> {
    this.#stored = 0
    const due = [...this.#waiting.values()]
    this.#waiting.clear()
    for (let i = 0; i < due.length; i += AT_ONCE) {
      await Promise.all(due.slice(i, i + AT_ONCE).map((one) => this.#letGo(one)))
    }
    this.#pruning = undefined
  }

  async #letGo({ resource, stream }: Stream): Promise<void> {
    try {
      await this.#series.remove({ resource, stream, keep: MAX_KEPT, only: 'messages' })
    } catch (error) {
      this.#report(error)
    }
  }
}

/** Restores a message. Its timestamp may be ahead of the time by which messages are ordered. */
export function messageOf({ body, time }: StoredMessage): BrokerMessage {
  const { timestamp } = body
  return { ...body, timestamp: typeof timestamp === 'number' ? timestamp : time }
}

function groupOf(channel: Channel, text: string): number {
  let hash = channel === 'events' ? 0x811c9dc5 : 0x050c5d1f
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return (hash >>> 0) % GROUPS
}
