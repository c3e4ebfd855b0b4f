/**
 * Sample of the restart of a host with very many tasks of one template. Two tasks are created as by users, and their
 * documents are multiplied under other ids and resources: creating a million would take minutes.
 */
import { TASKS, type TaskRecord } from '../../../src/services/rules/tasks/task-record.ts'
import { STATES, type StateRecord } from '../../../src/services/rules/durable/records.ts'
import type { Collection } from '../../../src/storage/contract.ts'
import { openMemoryBlobs } from '../../../src/storage/memory/memory-objects.ts'
import { openSqlite } from '../../../src/storage/sqlite/open-sqlite.ts'
import type { Connection } from './connection.ts'
import { withFolder } from './folder.ts'
import { startHostProcess } from './host-process.ts'
import { createTemplates, templateOf } from './tasks.ts'

export interface HostRestartSample {
  /** ms from the start of the process until all tasks run */
  readonly readyMs: number
  readonly cpu: number
  /** longest time without an answer, ms */
  readonly loopMax: number
  /** bytes of heap per task, beyond those of an empty host; after a full collection */
  readonly heapEach: number
  readonly rss: number
}

const FIRST = 'boiler-first'
const PER_COMMIT = 500
const AT_A_TIME = 4

export interface HostRestartRequest {
  readonly tasks: number
  /** each task has had a message, and returns with states and values; otherwise all wait for their first */
  readonly active: boolean
}

export function hostRestartSample({ tasks, active }: HostRestartRequest): Promise<HostRestartSample> {
  return withFolder(async (folder) => {
    const first = await startHostProcess(folder)
    const [one] = await first.connect(1)
    if (one === undefined) throw new Error('at least one connection is required')
    await createTemplates(one)
    const empty = (await first.figures('collect')).heap
    await createFirst(one, active)
    await first.stop()
    await multiply(folder, tasks)
    const second = await startHostProcess(folder)
    const { loopMax, cpu, rss } = await second.figures()
    const { heap } = await second.figures('collect')
    await second.stop()
    return { readyMs: second.readyMs, cpu, loopMax, heapEach: (heap - empty) / tasks, rss }
  })
}

async function createFirst(one: Connection, active: boolean): Promise<void> {
  const task = { name: 'first', template: templateOf(0), resource: FIRST, type: 'reactive', start: true }
  await one.expect(201, 'POST', '/api/tasks', JSON.stringify(task))
  if (!active) return
  const answer = await one.ask('POST', `/resources/${FIRST}/events`, JSON.stringify({ temperature: 80, humidity: 70 }))
  if (answer.status >= 300) throw new Error(`a message was answered ${answer.status}: ${answer.body}`)
}

async function multiply(folder: string, tasks: number): Promise<void> {
  const storage = await openSqlite({ folder, blobs: openMemoryBlobs() })
  try {
    const store = storage.tenant('default')
    const [documents, states] = [store.collection(TASKS), store.collection(STATES)]
    const [task, state] = [await textOf(documents), await textOf(states)]
    let underWay: Promise<unknown>[] = []
    for (let from = 0; from < tasks; from += PER_COMMIT) {
      const writes = Array.from({ length: Math.min(PER_COMMIT, tasks - from) }, (_, i) => {
        const id = `task-${(from + i).toString(36).padStart(10, '0')}`
        const own = (text: string): string => text.replaceAll(FIRST, `boiler-${from + i}`).replaceAll(task.id, id)
        const named = own(task.text).replaceAll('"name":"first"', `"name":"boiler ${from + i} is too hot"`)
        return [
          documents.putting(id, JSON.parse(named) as TaskRecord),
          states.putting(id, JSON.parse(own(state.text)) as StateRecord),
        ]
      })
      underWay.push(store.commit(writes.flat()))
      if (underWay.length < AT_A_TIME) continue
      await Promise.all(underWay)
      underWay = []
    }
    await Promise.all(underWay)
  } finally {
    await storage.close()
  }
}

async function textOf<D extends object>(
  collection: Pick<Collection<D>, 'find'>,
): Promise<{ id: string; text: string }> {
  const [found] = await collection.find({ limit: 1 })
  if (found === undefined) throw new Error('the first task is not stored')
  return { id: found.id, text: JSON.stringify(found.value) }
}
