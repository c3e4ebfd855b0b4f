/**
 * Intake of one partition: its tasks receive messages of its resources; other messages go to the partition of their
 * resource, and to partitions with listening tasks, in the same commit.
 *
 * RELAY-1 a message that is acknowledged is in the log of the partition of its resource, or on its way there
 * RELAY-2 it reaches each partition with listening tasks exactly once, and those tasks after whatever was committed
 *   before it at home
 */
import { requireMessages } from '#core/spi'
import { type Partition, partitionOf } from '#cluster'
import type { Message } from '#core'
import type { Json } from '#kernel'
import type { Store, Write } from '#storage'
import { dataOf, messagesOf } from '../durable/input.ts'
import type { DataIntake, Intake, IntakeOptions, IntakePost } from '../runner.ts'
import type { Listeners } from './listeners.ts'
import { RELAY_LOG, type RelayEntry } from './relay-records.ts'

export interface RelayingOptions {
  /** of the tasks of this partition */
  readonly intake: DataIntake
  readonly store: Store
  readonly partition: Partition
  readonly listeners: Listeners
  /** A message was sent to that partition. Must not wait. */
  readonly handed: (partition: number) => void
}

interface Parted {
  /** messages for tasks of this partition */
  readonly local: Message | readonly Message[] | undefined
  /** indexes among those */
  readonly unstamped: readonly number[] | undefined
  readonly relayed: readonly (readonly [partition: number, entry: RelayEntry])[]
}

export function relayingIntake(options: RelayingOptions): DataIntake {
  const { intake, listeners } = options
  return {
    receive: async (messages, { writes = [], ...sent } = {}) => {
      requireMessages(messagesOf(messages), sent)
      return listeners.commit((unchanged) => {
        const { local, relayed } = parted(messages, sent, options)
        const handing = handingOn(relayed, options)
        const all = [...writes, ...handing, unchanged]
        const committing =
          local === undefined
            ? intake.receiveAll([], all).then((results): Intake => ({ taken: false, results }))
            : intake.receive(local, { ...sent, writes: all })
        return {
          index: all.length - 1,
          committing: committing.then(({ taken, results }) => {
            tell(relayed, options)
            return {
              taken: taken || relayed.some(([, { to }]) => to === 'home'),
              results: results.slice(0, writes.length),
            }
          }),
        }
      })
    },
    receiveAll: async (posts, writes, followed) => {
      for (const post of posts) requireMessages(messagesOf(post.messages), post)
      return listeners.commit((unchanged) => {
        const all = posts.map(({ text, ...post }) => {
          const { messages, ...sent } = post
          const one = parted(messages, sent, options)
          return { sent: one.local === messages && text !== undefined ? { ...sent, text } : sent, ...one }
        })
        const relayed = all.flatMap((one) => one.relayed)
        const local = all.flatMap((one): IntakePost[] =>
          one.local === undefined ? [] : [{ ...one.sent, unstamped: one.unstamped, messages: one.local }],
        )
        const together = [...writes, ...handingOn(relayed, options), unchanged]
        return {
          index: together.length - 1,
          committing: intake.receiveAll(local, together, followed).then((results) => {
            tell(relayed, options)
            return results.slice(0, writes.length)
          }),
        }
      })
    },
  }
}

/** Indexes of messages stamped at arrival. */
type Unstamped = { readonly unstamped: readonly number[] | undefined }

function parted(
  messages: Message | readonly Message[],
  sent: Omit<IntakeOptions, 'writes'> & Pick<IntakePost, 'unstamped' | 'identityIgnores'>,
  { partition: { number, count }, listeners }: RelayingOptions,
): Parted {
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
  const asSent = { hops: 0, ...sent }
  const odd = new Set(sent.unstamped?.map((index) => list[index]))
  const unstampedOf = (some: readonly Message[]): Unstamped => {
    const unstamped = some.flatMap((message, index) => (odd.has(message) ? [index] : []))
    return { unstamped: unstamped.length > 0 ? unstamped : undefined }
  }
  return {
    local: local.length === list.length ? messages : local.length > 0 ? local : undefined,
    ...unstampedOf(local),
    relayed: [...others.values()].map(({ partition, to, list: some }) => {
      const [only] = some
      return [
        partition,
        {
          to,
          data: dataOf(some.length === 1 && only !== undefined ? only : some, { ...asSent, ...unstampedOf(some) }),
        },
      ]
    }),
  }
}

function handingOn(relayed: Parted['relayed'], { store }: RelayingOptions): readonly Write[] {
  const byPartition = new Map<number, RelayEntry[]>()
  for (const [partition, entry] of relayed) {
    const known = byPartition.get(partition)
    if (known === undefined) byPartition.set(partition, [entry])
    else known.push(entry)
  }
  const log = store.log(RELAY_LOG)
  return [...byPartition].map(([partition, entries]) => log.appending(partition, entries as unknown as readonly Json[]))
}

function tell(relayed: Parted['relayed'], { handed }: RelayingOptions): void {
  for (const partition of new Set(relayed.map(([to]) => to))) handed(partition)
}
