/** One sample of the resources service on SQLite in a folder of its own. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { HISTORY, historyOf, recordId } from '../../../src/services/resources/history.ts'
import { RESOURCES as SPEC } from '../../../src/services/resources/resource-record.ts'
import { openFleet, placeOf, RESOURCES, TENANT, TYPES, type Fleet } from './fleet.ts'
import { sampleOf, type ResourcesSample, type ResourcesSubject } from './subject.ts'

/** Calls, and how many of them at a time. */
const LOADS: Readonly<Record<ResourcesSubject, readonly [calls: number, inFlight: number]>> = {
  get: [20_000, 1],
  list: [1_000, 1],
  geo: [1_000, 1],
  patch: [10_000, 64],
  'patch-writes': [10_000, 64],
  put: [10_000, 64],
}

export async function resourcesSample(subject: ResourcesSubject): Promise<ResourcesSample> {
  const folder = mkdtempSync(join(tmpdir(), 'reflexarc-bench-'))
  try {
    const fleet = await openFleet(folder)
    const call = callOf(subject, fleet)
    const [calls, inFlight] = LOADS[subject]
    await run(call, calls / 10, inFlight)
    const start = performance.now()
    const times = await run(call, calls, inFlight)
    const sample = sampleOf(times, performance.now() - start)
    await fleet.close()
    return sample
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function run(call: (n: number) => Promise<unknown>, calls: number, inFlight: number): Promise<readonly number[]> {
  const times: number[] = []
  let next = 0
  const lane = async (): Promise<void> => {
    while (next < calls) {
      const n = next++
      const before = performance.now()
      await call(n)
      times.push(performance.now() - before)
    }
  }
  await Promise.all(Array.from({ length: inFlight }, lane))
  return times
}

function callOf(subject: ResourcesSubject, { api, storage }: Fleet): (n: number) => Promise<unknown> {
  const store = storage.tenant(TENANT)
  const resources = store.collection(SPEC)
  const idOf = (n: number): string => `resource-${(n * 7919) % RESOURCES}`
  const changed = async (n: number) => {
    const found = await resources.get(idOf(n))
    if (found === undefined) throw new Error(`${idOf(n)} is not there`)
    return { id: found.id, record: { ...found.value, own: { ...found.value.own, serial: -n } } }
  }
  switch (subject) {
    case 'get':
      return (n) => api.resources.get(idOf(n))
    case 'list':
      return async (n) => {
        const query = { resourceTypeId: `type-${n % TYPES}`, tag: `site-${n % 10}`, filter: 'pump', limit: 100 }
        const { values, total } = await api.resources.list(query)
        if (values.length !== 100) throw new Error(`the page has ${values.length} of ${total}`)
      }
    case 'geo':
      return (n) => api.resources.list({ ...placeOf(n + 0.5), distance: '10km' })
    case 'patch':
      return (n) => api.resources.patch(idOf(n), { serial: -n })
    case 'put':
      return async (n) => {
        const { id, record } = await changed(n)
        await resources.put(id, record)
      }
    case 'patch-writes': {
      const history = store.collection(HISTORY)
      return async (n) => {
        const { id, record } = await changed(n)
        const time = Date.now()
        const entry = {
          of: historyOf('resource', id),
          time,
          userId: 'bench',
          change: 'updated' as const,
          entity: record.own,
        }
        await store.commit([
          resources.putting(id, record),
          history.putting(recordId(time * 1000 + (n % 1000), String(n)), entry),
        ])
      }
    }
  }
}
