/** The last messages of a resource: read from series, and kept few by letting go of older ones in the background. */
import { AppError } from '../../kernel/errors.ts'
import type { Series, StoredMessage } from '../../storage/contract.ts'
import type { BrokerMessage, Channel, MessageApi } from './contract.ts'
import type { Post } from './posting/arrival.ts'

/** messages of a channel that are kept (part 3, 8) */
export const MOST_KEPT = 100

/** resources are counted in so many groups */
const GROUPS = 8_192
/** messages of a group between two looks; no round number, so that no round of resources always meets the same one */
const LOOK_EVERY = 211
/** resources that wait to be looked at; more are found by a later message */
const MOST_WAITING = 10_000

export class RecentMessages implements Pick<MessageApi, 'last' | 'current'> {
  readonly #series: Series
  readonly #report: (error: unknown) => void
  /**
   * Messages since the last look, by group of resources: whichever resource makes a group full is looked at. Memory
   * stays the same for any number of resources, and each is looked at the more often the more it sends.
   */
  #counts: Uint8Array | undefined
  readonly #waiting = new Map<string, { readonly resource: string; readonly stream: Channel }>()
  #pruning: Promise<void> | undefined

  constructor(series: Series, report: (error: unknown) => void) {
    this.#series = series
    this.#report = report
  }

  async last(resource: string, channel: Channel = 'events', limit = MOST_KEPT): Promise<readonly BrokerMessage[]> {
    const most = Math.min(limit, MOST_KEPT)
    return (await this.#series.messages({ resource, stream: channel, limit: most })).map(messageOf)
  }

  async current(resource: string): Promise<BrokerMessage> {
    const [newest] = await this.#series.messages({ resource, stream: 'events', limit: 1 })
    if (newest === undefined) throw new AppError('NOT_FOUND', `No message is stored for resource ${resource}`)
    return messageOf(newest)
  }

  /** A post was stored. Never waits. */
  stored({ arrivals, channel, store }: Post): void {
    if (!store) return
    const counts = (this.#counts ??= new Uint8Array(GROUPS))
    for (const { resource } of arrivals) {
      const group = groupOf(channel, resource)
      const count = (counts[group] ?? 0) + 1
      counts[group] = count >= LOOK_EVERY ? 0 : count
      if (count < LOOK_EVERY || this.#waiting.size >= MOST_WAITING) continue
      this.#waiting.set(`${channel} ${resource}`, { resource, stream: channel })
      this.#pruning ??= this.#prune()
    }
  }

  /** Resolves when nothing waits to be let go. */
  async idle(): Promise<void> {
    while (this.#pruning !== undefined) await this.#pruning
  }

  async #prune(): Promise<void> {
    for (const [key, { resource, stream }] of this.#waiting) {
      this.#waiting.delete(key)
      try {
        await this.#series.remove({ resource, stream, keep: MOST_KEPT, only: 'messages' })
      } catch (error) {
        this.#report(error)
      }
    }
    this.#pruning = undefined
  }
}

export function messageOf({ body, time }: StoredMessage): BrokerMessage {
  return { ...body, timestamp: time }
}

/** FNV-1a over the characters. */
function groupOf(channel: Channel, text: string): number {
  let hash = channel === 'events' ? 0x811c9dc5 : 0x050c5d1f
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return (hash >>> 0) % GROUPS
}
