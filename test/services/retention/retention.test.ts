/** Tests that retention deletes what its rules say, in portions, and only as the clock advances plausibly. */
import { describe, expect, it } from 'vitest'
import { Retention } from '../../../src/services/retention/service.ts'
import type { RetentionRule } from '../../../src/services/retention/contract.ts'
import type { Store } from '../../../src/storage/contract.ts'
import { openMemory } from '../../../src/storage/memory/open-memory.ts'
import { until } from '../../support/until.ts'

const DAY = 86_400_000
const HOUR = 3_600_000
const NOW = Date.UTC(2026, 0, 31)
const caller = { tenant: 'acme', user: 'operator' }

/** Waits of up to a second pass at once; longer ones when `pass` is called. */
function world(store: Store = openMemory().tenant('acme')) {
  const due: (() => void)[] = []
  let now = NOW
  let monotonic = 0
  const types: Readonly<Record<string, string>> = { boiler: 'boilers' }
  const retention = new Retention({
    store,
    now: () => now,
    monotonic: () => monotonic,
    typeOf: async (resource) => types[resource],
    later: (ms, work) => {
      if (ms > 1_000) due.push(work)
      else setImmediate(work)
      return () => void due.splice(0, due.length, ...due.filter((one) => one !== work))
    },
  })
  return {
    store,
    retention,
    api: retention.as(caller),
    setNow: (time: number) => void (now = time),
    async pass(ms = HOUR) {
      monotonic += ms
      for (const work of due.splice(0)) work()
      await retention.idle()
    },
  }
}

const daily = (resource: string, metric: string, days: number) =>
  Array.from({ length: days }, (_, day) => ({ resource, metric, time: NOW - day * DAY, value: day }))

async function fill(store: Store): Promise<void> {
  const messages = ['boiler', 'other'].flatMap((resource) =>
    Array.from({ length: 30 }, (_, day) => ({ resource, stream: 'events', time: NOW - day * DAY, body: { day } })),
  )
  const samples = ['boiler', 'other'].flatMap((of) => ['t', 'p'].flatMap((metric) => daily(of, metric, 30)))
  await store.series.append({ samples, messages })
}

async function left({ series }: Store): Promise<readonly number[]> {
  const ofSamples = ['boiler', 'other'].flatMap((of) => ['t', 'p'].map((metric) => [of, metric] as const))
  return [
    ...(await Promise.all(
      ofSamples.map(async ([of, metric]) => (await series.range({ resources: [of], metric })).length),
    )),
    ...(await Promise.all(
      ['boiler', 'other'].map(async (resource) => (await series.messages({ resource, stream: 'events' })).length),
    )),
  ]
}

async function set(of: ReturnType<typeof world>, rules: readonly RetentionRule[]): Promise<void> {
  await of.retention.start()
  await of.api.setRules({ rules })
  await of.retention.idle()
}

// Holds RETENTION-2
describe('retention', () => {
  it('keeps everything without a rule', async () => {
    const here = world()
    await fill(here.store)
    await set(here, [])
    expect(await left(here.store)).toEqual([30, 30, 30, 30, 30, 30])
  })

  it('applies the most specific rule to samples, and leaves what a rule does not mention', async () => {
    const here = world()
    await fill(here.store)
    await set(here, [
      { data: 'samples', keep: 'P20D' },
      { data: 'samples', type: 'boilers', keep: 'P10D' },
      { data: 'samples', metric: 'p', keep: 'P5D' },
      { data: 'samples', type: 'boilers', metric: 'p', keep: 'P2D' },
    ])
    // a sample that is exactly as old as its rule stays
    expect(await left(here.store)).toEqual([11, 3, 21, 6, 30, 30])
    expect((await here.api.status()).deleted).toEqual({ samples: 19 + 27 + 9 + 24, messages: 0 })
  })

  it('deletes messages of one type, and keeps samples', async () => {
    const here = world()
    await fill(here.store)
    await set(here, [{ data: 'messages', type: 'boilers', keep: 'P3D' }])
    expect(await left(here.store)).toEqual([30, 30, 30, 30, 4, 30])
  })

  // Holds RETENTION-3
  it('deletes in portions, and continues after a stop', async () => {
    const store = openMemory().tenant('acme')
    const samples = Array.from({ length: 12_000 }, (_, i) => ({
      resource: 'r',
      metric: 'm',
      time: NOW - 2 * DAY - i,
      value: i,
    }))
    for (let i = 0; i < samples.length; i += 4_000) await store.series.append({ samples: samples.slice(i, i + 4_000) })
    const removals: number[] = []
    let stop: (() => void) | undefined
    const counted: Store = {
      ...store,
      collection: (spec) => store.collection(spec),
      series: {
        ...store.series,
        remove: async (what) => {
          const before = (await store.series.columns({ resources: ['r'], metric: 'm', limit: 20_000 })).times.length
          await store.series.remove(what)
          const after = (await store.series.columns({ resources: ['r'], metric: 'm', limit: 20_000 })).times.length
          removals.push(before - after)
          stop?.()
        },
      },
    }
    const here = world(counted)
    await here.retention.start()
    stop = () => void here.retention.stop()
    await here.api.setRules({ rules: [{ data: 'samples', keep: 'P1D' }] })
    await until(async () => removals.length === 1 && !(await here.api.status()).isRunning)
    expect(await here.api.status()).not.toHaveProperty('ended')
    stop = undefined
    const next = world(counted)
    await next.retention.start()
    await next.pass()
    expect(removals).toEqual([5_000, 5_000, 2_000])
    expect((await next.api.status()).deleted.samples).toBe(12_000)
  })

  // Holds RETENTION-1
  it('follows a clock that jumps by a day in each hour only, and reports it', async () => {
    const here = world()
    await fill(here.store)
    await set(here, [
      { data: 'samples', keep: 'P29D' },
      { data: 'audit', keep: 'P90D' },
    ])
    expect((await left(here.store))[0]).toBe(30)
    here.setNow(NOW + 3650 * DAY)
    expect(here.retention.ageOf('audit')).toBe(90 * DAY + 3649 * DAY)
    await here.pass()
    expect((await left(here.store))[0]).toBe(29)
    expect(here.retention.warnings()).toEqual([expect.stringContaining('3649 days ahead') as string])
    // set right again
    here.setNow(NOW)
    await here.pass()
    expect((await left(here.store))[0]).toBe(29)
    expect(here.retention.warnings()).toEqual([])
    expect(here.retention.ageOf('audit')).toBe(90 * DAY)
  })

  // Holds RETENTION-1
  it('follows such a clock no faster when rules are set again, or the host starts again', async () => {
    const here = world()
    await fill(here.store)
    const rules: readonly RetentionRule[] = [{ data: 'samples', keep: 'P29D' }]
    await set(here, rules)
    here.setNow(NOW + 3650 * DAY)
    for (let i = 0; i < 20; i++) {
      await here.retention.stop()
      await set(here, rules)
    }
    expect((await left(here.store))[0]).toBe(30)
    expect(await here.api.status()).toMatchObject({ reached: new Date(NOW).toISOString() })
    await here.pass(HOUR / 2)
    expect(await here.api.status()).toMatchObject({ reached: new Date(NOW + DAY / 2).toISOString() })
  })

  it('reports the error of a round, and tries again in the next one', async () => {
    const { series, ...rest } = openMemory().tenant('acme')
    let fails = true
    const broken = async () => (fails ? Promise.reject(new Error('the disk is full')) : series.names({ of: 'samples' }))
    const store: Store = { ...rest, collection: (spec) => inner.collection(spec), series: { ...series, names: broken } }
    const inner = openMemory().tenant('acme')
    const here = world(store)
    await set(here, [{ data: 'samples', keep: 'P1D' }])
    expect(await here.api.status()).toMatchObject({ error: 'the disk is full' })
    fails = false
    await here.pass()
    expect(await here.api.status()).not.toHaveProperty('error')
  })
})
