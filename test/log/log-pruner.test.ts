/** What of a log is let go: what tasks, series and readers all do without, whether they are served here or not (LOG-7). */
import { describe, expect, it } from 'vitest'
import { LogPruner, MARK_ID, MARKS } from '../../src/log/log-pruner.ts'
import { LOG_NAME } from '../../src/log/message-entry.ts'
import { openMemory } from '../../src/storage/memory/open-memory.ts'

const POST = { k: 'data', m: { resource: 'r', timestamp: 1 }, s: 'events' }
const INPUT = { k: 'jump', at: 1 }
const BOTH = { ...POST, at: 1 }

/** A log with those entries, and who follows it here. */
async function logWith(bodies: readonly object[], floors: Partial<Pick<LogPruner, 'tasks' | 'followers'>>) {
  const store = openMemory().tenant('acme')
  const log = store.log(LOG_NAME)
  await log.append(bodies.map((body) => ({ ...body })) as never)
  const pruner = Object.assign(new LogPruner(store, log), floors)
  const first = async (): Promise<number> => {
    await pruner.prune(true)
    return (await log.bounds()).first
  }
  return { store, first, pruner }
}

describe('a log that tasks and series follow', () => {
  it.each([
    [3, 5, 4],
    [5, 3, 4],
    [0, 5, 1],
  ])(
    'is kept for the slower of them: tasks have %d entries, series and readers %d',
    async (tasks, followers, first) => {
      const pruned = await logWith(
        Array.from({ length: 6 }, () => POST),
        { tasks: () => tasks, followers: async () => followers },
      )
      expect(await pruned.first()).toBe(first)
    },
  )

  it('is not looked at again before the one that was slower has gone on', async () => {
    let asked = 0
    const tasks = () => ++asked
    const pruned = await logWith(
      Array.from({ length: 6 }, () => POST),
      { tasks, followers: () => 1 },
    )
    expect([await pruned.first(), await pruned.first(), asked]).toEqual([2, 2, 1])
  })
})

describe('a log where no rules are served', () => {
  it('is kept from the mark of the tasks on when there are inputs behind it', async () => {
    const { store, first } = await logWith([POST, POST, BOTH, POST], { followers: () => 4 })
    await store.collection(MARKS).put(MARK_ID, { position: 2, time: 0, later: [] })
    expect(await first()).toBe(3)
  })

  it('is kept for inputs though no state of theirs was ever stored', async () => {
    const { first } = await logWith([POST, INPUT, POST], { followers: () => 3 })
    expect(await first()).toBe(1)
  })

  it('is let go as series and readers go on when there are none', async () => {
    let upTo = 2
    const { store, first } = await logWith(
      Array.from({ length: 5 }, () => POST),
      { followers: () => upTo },
    )
    await store.collection(MARKS).put(MARK_ID, { position: 1, time: 0, later: [] })
    expect(await first()).toBe(3)
    upTo = 5
    expect(await first()).toBe(6)
  })
})

describe('a log where no broker is served', () => {
  it('is kept for messages that series do not have', async () => {
    const { store, first } = await logWith([POST, INPUT, POST, INPUT], { tasks: () => 4 })
    await store.series.append({ applies: { log: LOG_NAME, position: 1 } })
    expect(await first()).toBe(2)
  })

  it('takes series along where there are none, so that they miss nothing when they are served again', async () => {
    const { store, first } = await logWith([INPUT, INPUT, INPUT], { tasks: () => 2 })
    expect(await first()).toBe(3)
    expect(await store.series.applied(LOG_NAME)).toBe(2)
  })
})
