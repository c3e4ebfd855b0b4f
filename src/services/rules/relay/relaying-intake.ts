/**
 * Takes in the messages posted to one partition. A message of the partition's own resources goes to its tasks and, in
 * the same commit, to every other partition with listening tasks. Any other message goes to the partition of its
 * resource.
 *
 * RELAY-1 an acknowledged message is in the log of its resource's partition, or in the relay log to that partition
 * RELAY-2 a message reaches each partition with listening tasks exactly once, after every message committed earlier at
 *   its resource's partition
 */
import { requireMessages } from '#core/spi'
import { type Partition, partitionOf } from '#cluster'
import type { Message } from '#core'
import type { Json } from '#kernel'
import type { Store, Write } from '#storage'
import { dataOf, messagesOf } from '../durable/input.ts'
import type { DataIntake, IntakePost } from '../runner.ts'
import type { Listeners } from './listeners.ts'
import { RELAY_LOG, type RelayEntry } from './relay-records.ts'

export interface RelayingOptions {
  readonly intake: DataIntake
  readonly store: Store
  readonly partition: Partition
  readonly listeners: Listeners
  /** Called after a message was sent to that partition. Must not wait. */
  readonly handed: (partition: number) => void
}

interface Parted {
  /** messages for tasks of this partition */
  readonly local: IntakePost | undefined
  readonly relayed: readonly (readonly [partition: number, entry: RelayEntry])[]
}

export function relayingIntake(options: RelayingOptions): DataIntake {
  const { intake, listeners } = options
  return {
    receive: async (posts, writes = [], followed) => {
      for (const post of posts) requireMessages(messagesOf(post.messages), post)
      return listeners.commit((unchanged) => {
        const all = posts.map((post) => parted(post, options))
        const relayed = all.flatMap((one) => one.relayed)
        const together = [...writes, ...relayWrites(relayed, options), unchanged]
        return {
          index: together.length - 1,
          committing: intake
            .receive(
              all.flatMap(({ local }) => local ?? []),
              together,
              followed,
            )
            .then(({ taken, results }) => {
              for (const partition of new Set(relayed.map(([to]) => to))) options.handed(partition)
              return {
                taken: taken || relayed.some(([, { to }]) => to === 'home'),
                results: results.slice(0, writes.length),
              }
            }),
        }
      })
    },
  }
}

function parted(post: IntakePost, { partition: { number, count }, listeners }: RelayingOptions): Parted {
  const { messages, text: _text, ...sent } = post
  const local: Message[] = []
  const others = new Map<string, { readonly partition: number; readonly to: RelayEntry['to']; list: Message[] }>()
  const hand = (partition: number, to: RelayEntry['to'], message: Message): void => {
    const key = `${to} ${partition}`
    const known = others.get(key)
    if (known === undefined) others.set(key, { partition, to, list: [message] })
    else known.list.push(message)
  }
  const list = messagesOf(messages)
  for (const message of list) {
    const home = partitionOf(message.resource, count)
    if (home !== number) hand(home, 'home', message)
    else {
      local.push(message)
      for (const by of listeners.of(message.resource)) hand(by, 'task', message)
    }
  }
  const odd = new Set(sent.unstamped?.map((index) => list[index]))
  const unstampedOf = (some: readonly Message[]): Pick<IntakePost, 'unstamped'> => {
    const unstamped = some.flatMap((message, index) => (odd.has(message) ? [index] : []))
    return { unstamped: unstamped.length > 0 ? unstamped : undefined }
  }
  const relayed = [...others.values()].map(({ partition, to, list: some }) => {
    const [only] = some
    const carried = some.length === 1 && only !== undefined ? only : some
    return [partition, { to, data: dataOf(carried, { hops: 0, ...sent, ...unstampedOf(some) }) }] as const
  })
  if (local.length === list.length) return { local: post, relayed }
  return { local: local.length > 0 ? { ...sent, ...unstampedOf(local), messages: local } : undefined, relayed }
}

function relayWrites(relayed: Parted['relayed'], { store }: RelayingOptions): readonly Write[] {
  const byPartition = new Map<number, RelayEntry[]>()
  for (const [partition, entry] of relayed) {
    const known = byPartition.get(partition)
    if (known === undefined) byPartition.set(partition, [entry])
    else known.push(entry)
  }
  const log = store.log(RELAY_LOG)
  return [...byPartition].map(([partition, entries]) => log.appending(partition, entries as unknown as readonly Json[]))
}
