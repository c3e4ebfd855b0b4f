import { expect, it } from 'vitest'
import { AppError } from '../../../../src/kernel/errors.ts'
import { RELAY_CURSORS, RELAY_LOG } from '../../../../src/services/rules/relay/relay-records.ts'
import { RelayReader } from '../../../../src/services/rules/relay/relay-reader.ts'
import type { DataIntake } from '../../../../src/services/rules/runner.ts'
import { messagesOf } from '../../../../src/services/rules/durable/input.ts'
import { openMemory } from '../../../../src/storage/memory/open-memory.ts'

// Holds RELAYREADER-2
it('what cannot be taken for its own sake is passed over, and what cannot be for another reason is tried again', async () => {
  const store = openMemory().tenant('acme')
  await store.log(RELAY_LOG).append(
    1,
    ['good', 'bad', 'later', 'last'].map((resource) => ({ to: 'task', data: { k: 'data', m: { resource } } })),
  )
  const taken: string[] = []
  let isAway = true
  const receive: DataIntake['receive'] = async (posts, writes = []) => {
    const all = posts.flatMap(({ messages }) => messagesOf(messages).map(({ resource }) => resource))
    if (all.includes('bad')) throw new AppError('VALIDATION', 'it is bad')
    if (isAway && all.includes('later')) throw new AppError('UNAVAILABLE', 'the database is away')
    const { results } = await store.commit(writes)
    taken.push(...all)
    return { taken: true, results }
  }
  const tasks: DataIntake = { receive }
  const reader = new RelayReader({ tenant: 'acme', store, number: 1, home: tasks, tasks })
  reader.wake()
  await reader.idle()
  expect(taken).toEqual(['good'])
  isAway = false
  reader.wake()
  await reader.idle()
  expect(taken).toEqual(['good', 'later', 'last'])
  expect((await store.collection(RELAY_CURSORS).get('1'))?.value).toEqual({ position: 4 })
  await reader.stop()
})

it('what is said of messages besides is handed on with them', async () => {
  const store = openMemory().tenant('acme')
  const data = { k: 'data', m: { resource: 'a' }, u: [0], g: ['receivedAt'], h: 2, r: 'root' }
  await store.log(RELAY_LOG).append(1, [{ to: 'task', data }])
  const taken: unknown[] = []
  const receive: DataIntake['receive'] = async (posts, writes = []) => {
    taken.push(...posts)
    return { taken: true, ...(await store.commit(writes)) }
  }
  const tasks: DataIntake = { receive }
  const reader = new RelayReader({ tenant: 'acme', store, number: 1, home: tasks, tasks })
  reader.wake()
  await reader.idle()
  const told = { unstamped: [0], identityIgnores: ['receivedAt'], hops: 2, root: 'root' }
  expect(taken).toEqual([{ messages: { resource: 'a' }, ...told }])
  await reader.stop()
})

// Holds RELAYREADER-3
it('stopping it waits for the commit in progress, and the next reader continues from there', async () => {
  const store = openMemory().tenant('acme')
  await store.log(RELAY_LOG).append(
    1,
    // each is a separate commit
    ['a', 'b', 'c'].map((resource, n) => ({ to: n % 2 === 0 ? 'task' : 'home', data: { k: 'data', m: { resource } } })),
  )
  const taken: string[] = []
  let stopping: Promise<void> | undefined
  const receive: DataIntake['receive'] = async (posts, writes = []) => {
    stopping ??= reader.stop()
    taken.push(...posts.flatMap(({ messages }) => messagesOf(messages).map(({ resource }) => resource)))
    return { taken: true, ...(await store.commit(writes)) }
  }
  const tasks: DataIntake = { receive }
  const options = { tenant: 'acme', store, number: 1, home: tasks, tasks }
  const reader = new RelayReader(options)
  reader.wake()
  await reader.idle()
  await stopping
  expect(taken).toEqual(['a'])
  const next = new RelayReader(options)
  next.wake()
  await next.idle()
  expect(taken).toEqual(['a', 'b', 'c'])
  await next.stop()
})
