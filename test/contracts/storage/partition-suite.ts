/** Conformance of partitions: each has its own logs over the documents of all, and hears what others take for it. `describePartitions(name, medium)`. */
import { expect } from 'vitest'
import type { Message } from '../../../src/core/task/origin.ts'
import { partitionOf } from '../../../src/cluster/partitions/partition.ts'
import { partitionStore } from '../../../src/cluster/partitions/partition-store.ts'
import { MARK_ID, MARKS } from '../../../src/log/log-pruner.ts'
import { Relay } from '../../../src/services/rules/relay/relay.ts'
import type { DataIntake } from '../../../src/services/rules/runner.ts'
import type { Storage, Store } from '../../../src/storage/contract.ts'
import { describeMedium, storeFact, type Medium, type Suite } from './medium.ts'
import { THINGS } from './things.ts'

const COUNT = 2
const OF_FIRST = Array.from({ length: 20 }, (_, n) => `r${n}`).find((one) => partitionOf(one, COUNT) === 0) ?? ''

export function describePartitions(name: string, medium: Medium): void {
  describeMedium(`partitions on ${name}`, medium, definesPartitions)
}

/** Takes everything, and commits what comes with it. */
function takingAll(store: Store, taken: unknown[]): DataIntake {
  const take = (messages: Message | readonly Message[]): void => {
    for (const { n } of [messages].flat() as readonly Message[]) taken.push(n)
  }
  return {
    receive: async (posts, writes = []) => {
      const { results } = await store.commit(writes)
      for (const { messages } of posts) take(messages)
      return { taken: true, results }
    },
  }
}

function relayOf(store: Store, number: number, taken: unknown[]): Relay {
  return new Relay({
    tenant: 'acme',
    store,
    partition: { number, count: COUNT },
    intake: takingAll(store, taken),
    handed: () => undefined,
    every: () => () => undefined,
  })
}

function definesPartitions(suite: Suite<Storage>): void {
  const fact = storeFact(suite)

  fact('each has its own logs and marks; documents and other logs are those of all', async ({ store }) => {
    const [first, second] = [partitionStore(store, 0), partitionStore(store, 1)]
    expect(first).toBe(store)
    await first.log('log').append(0, ['a', 'b'])
    await second.log('log').append(0, ['c'])
    await second.commit([
      { kind: 'append', log: 'log', partition: 0, bodies: ['d'] },
      second.collection(MARKS).putting(MARK_ID, { position: 1, time: 2, later: [] }),
      second.collection(THINGS).putting('x', { size: 1 }),
      second.log('others').appending(0, ['e']),
    ])
    expect((await second.log('log').read(0, 0)).map(({ body }) => body)).toEqual(['c', 'd'])
    expect(await store.log('log').partitions()).toEqual([0, 1])
    expect((await store.log('others').read(0, 0)).map(({ body }) => body)).toEqual(['e'])
    expect(await store.collection(MARKS).get(MARK_ID)).toBeUndefined()
    expect((await second.collection(MARKS).get(MARK_ID))?.value.position).toBe(1)
    expect((await first.collection(THINGS).get('x'))?.value).toEqual({ size: 1 })
  })

  fact('each tells series by itself how far they are', async ({ store }) => {
    const second = partitionStore(store, 1)
    const sample = { resource: 'r', metric: 'x', time: 1, value: 1 }
    await second.series.append({ samples: [sample], applies: { log: 'log', partition: 0, position: 3 } })
    expect(await Promise.all([store.series.applied('log', 0), second.series.applied('log', 0)])).toEqual([0, 3])
  })

  // Holds LISTENERS-1, LISTENERS-2
  fact(
    'LISTENERS-1, LISTENERS-2: whoever begins to listen is handed what is committed after that, also by whom does not know it yet',
    async ({ store }) => {
      const taken: [unknown[], unknown[]] = [[], []]
      const [home, other] = [relayOf(store, 0, taken[0]), relayOf(partitionStore(store, 1), 1, taken[1])]
      await home.intake.receive([{ messages: { resource: OF_FIRST, n: 1 } }])
      await other.bind([OF_FIRST])
      // the first of these is refused for what has changed, and committed anew before the second
      await Promise.all([2, 3].map((n) => home.intake.receive([{ messages: { resource: OF_FIRST, n } }])))
      await other.start()
      await other.idle()
      expect(taken).toEqual([
        [1, 2, 3],
        [2, 3],
      ])
      await Promise.all([home.stop(), other.stop()])
    },
  )
}
