/**
 * Messages that come to one partition of a tenant: its tasks take those of its resources, and others are handed to the
 * partition that has them, or that has tasks which hear them, in the same commit.
 *
 * RELAY-1 a message that is acknowledged is in the log of the partition of its resource, or on its way there
 * RELAY-2 it reaches each partition whose tasks hear it exactly once, and those tasks after whatever was committed
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
  /** Something was handed to that partition. Must not wait. */
  readonly handed: (partition: number) => void
}

interface Parted {
  /** what is for tasks of this partition; undefined: nothing */
  readonly own: Message | readonly Message[] | undefined
  /** places among those */
  readonly unstamped: readonly number[] | undefined
  readonly relayed: readonly (readonly [partition: number, entry: RelayEntry])[]
}

export function relayingIntake(options: RelayingOptions): DataIntake {
  const { intake, listeners } = options
  return {
    receive: async (messages, { writes = [], ...sent } = {}) => {
      requireMessages(messagesOf(messages), sent)
      return listeners.commit((unchanged) => {
        const { own, relayed } = parted(messages, sent, options)
        const handing = handingOn(relayed, options)
        const all = [...writes, ...handing, unchanged]
        const committing =
          own === undefined
            ? intake.receiveAll([], all).then((results): Intake => ({ taken: false, results }))
            : intake.receive(own, { ...sent, writes: all })
        return {
          place: all.length - 1,
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
          return { sent: one.own === messages && text !== undefined ? { ...sent, text } : sent, ...one }
        })
        const relayed = all.flatMap((one) => one.relayed)
        const own = all.flatMap((one): IntakePost[] =>
          one.own === undefined ? [] : [{ ...one.sent, unstamped: one.unstamped, messages: one.own }],
        )
        const together = [...writes, ...handingOn(relayed, options), unchanged]
        return {
          place: together.length - 1,
          committing: intake.receiveAll(own, together, followed).then((results) => {
            tell(relayed, options)
            return results.slice(0, writes.length)
          }),
        }
      })
    },
  }
}

/** Places of messages whose timestamp is that of their arrival. */
type Unstamped = { readonly unstamped: readonly number[] | undefined }

function parted(
  messages: Message | readonly Message[],
  sent: Omit<IntakeOptions, 'writes'> & Pick<IntakePost, 'unstamped' | 'identityIgnores'>,
  { partition: { number, count }, listeners }: RelayingOptions,
): Parted {
  const own: Message[] = []
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
      own.push(message)
      for (const by of listeners.of(message.resource)) hand(by, 'task', message)
    }
  }
  const asSent = { hops: 0, ...sent }
  const odd = new Set(sent.unstamped?.map((place) => list[place]))
  const unstampedOf = (some: readonly Message[]): Unstamped => {
    const unstamped = some.flatMap((message, place) => (odd.has(message) ? [place] : []))
    return { unstamped: unstamped.length > 0 ? unstamped : undefined }
  }
  return {
    own: own.length === list.length ? messages : own.length > 0 ? own : undefined,
    ...unstampedOf(own),
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
