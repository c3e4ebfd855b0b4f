import { describe, expect, it } from 'vitest'
import { AppError } from '../../../src/kernel/errors.ts'
import { openMemory } from '../../../src/storage/memory/open-memory.ts'
import { withCommit } from '../rules/durable/support/slow-store.ts'
import { connectorBench, logged, SOURCE } from './support.ts'

const records = (count: number, from = 0) =>
  Array.from({ length: count }, (_, i) => ({ key: `r${i % 7}`, value: JSON.stringify({ n: from + i }), time: 1 }))
const numbers = (count: number) => Array.from({ length: count }, (_, i) => i)

describe('a source', () => {
  // Holds CONNECTOR-1, CONNECTOR-2
  it('posts each record once, in order, and continues after a restart', async () => {
    const first = await connectorBench()
    const { outside, store } = first
    await outside.publish('in', records(1_500))
    await first.api.sources.put('plant', SOURCE)
    await expect.poll(async () => (await first.api.sources.get('plant')).status.accepted).toBe(1_500)
    await first.stop()
    expect(outside.acknowledged).toHaveLength(1_500)
    await outside.publish('in', records(10, 1_500))
    const second = await connectorBench({ outside, store })
    await expect.poll(async () => (await second.api.sources.get('plant')).status.accepted).toBe(1_510)
    await second.stop()
    expect(await logged(store)).toEqual(numbers(1_510))
  })

  // Holds CONNECTOR-1
  it.each([1, 2, 3, 4, 5])('posts each record once if commit %i fails', async (failing) => {
    const inner = openMemory().tenant('acme')
    let commits = 0
    const store = withCommit(inner, (writes) => {
      const isUnit = writes.some(({ kind }) => kind === 'append')
      if (isUnit && ++commits === failing) return Promise.reject(new AppError('STORE', 'the disk is full'))
      return inner.commit(writes)
    })
    const bench = await connectorBench({ store })
    await bench.outside.publish('in', records(3_000))
    await bench.api.sources.put('plant', SOURCE)
    await expect.poll(async () => (await bench.api.sources.get('plant')).status.accepted).toBe(3_000)
    expect(await logged(inner)).toEqual(numbers(3_000))
    const { status } = await bench.api.sources.get('plant')
    expect(status).toMatchObject({ state: 'running', retried: 1, lastError: { message: 'the disk is full' } })
    await bench.stop()
  })

  // Holds CONNECTOR-3
  it('keeps what it cannot use, with the reason, and continues', async () => {
    const bench = await connectorBench()
    await bench.outside.publish('in', [
      { key: 'r', value: '{' },
      { key: 'r', value: '{"n":0}' },
      { key: '', value: '{"n":9}' },
      { key: 'r', value: '{"timestamp":"soon"}' },
      { key: 'r', value: '{"n":1}' },
    ])
    await bench.api.sources.put('plant', SOURCE)
    await expect.poll(async () => (await bench.api.sources.get('plant')).status.read).toBe(5)
    const { status } = await bench.api.sources.get('plant')
    expect(status).toMatchObject({ read: 5, accepted: 2, rejected: 3 })
    expect(await logged(bench.store)).toEqual([0, 1])
    const { values, total } = await bench.api.sources.rejected('plant')
    expect(total).toBe(3)
    expect(values.map(({ record, code, payload }) => [record, code, payload])).toEqual([
      ['in/0', 'NOT_JSON', '{'],
      ['in/2', 'VALIDATION', '{"n":9}'],
      ['in/3', 'VALIDATION', '{"timestamp":"soon"}'],
    ])
    const page = await bench.api.sources.rejected('plant', { limit: 2 })
    expect(page.values).toEqual(values.slice(0, 2))
    expect((await bench.api.sources.rejected('plant', { limit: 2, after: page.next ?? '' })).values).toEqual(
      values.slice(2),
    )
    expect(bench.service.gauges()).toMatchObject({ accepted: 2, rejected: 3 })
    await bench.stop()
  })

  // Holds CONNECTOR-3
  it('tries rejected records again, each once, with the document as it is now', async () => {
    const bench = await connectorBench()
    await bench.outside.publish('in', [
      { key: 'r', value: '{"n":1}', time: 5 },
      { key: '', value: '{"n":2,"from":"s"}' },
      { key: '', value: '{"n":3}' },
      { key: '', value: `{"n":4,"from":"s","long":"${'a'.repeat(70_000)}"}` },
    ])
    await bench.api.sources.put('plant', SOURCE)
    await expect.poll(async () => (await bench.api.sources.get('plant')).status.read).toBe(4)
    const before = (await bench.api.sources.rejected('plant')).values
    expect(before.map(({ tries, truncated = false }) => [tries, truncated])).toEqual([
      [1, false],
      [1, false],
      [1, true],
    ])
    await bench.api.sources.put('plant', { ...SOURCE, map: { resource: '/from' } })
    const [first, second, third] = before.map(({ id }) => id)
    // two at once: the record is posted once
    const both = await Promise.all([bench.api.sources.retry('plant'), bench.api.sources.retry('plant', [first ?? ''])])
    expect(both.map(({ accepted }) => accepted)).toEqual([[first], []])
    expect(both[0]?.failed).toEqual([
      { id: second, error: expect.stringContaining('/from') as string },
      { id: third, error: 'only the beginning of the payload is kept' },
    ])
    expect(await logged(bench.store)).toEqual([1, 2])
    const left = await bench.api.sources.rejected('plant')
    expect(left.values.map(({ id, tries }) => [id, tries])).toEqual([
      [second, 2],
      [third, 2],
    ])
    await bench.api.sources.forget('plant', second ?? '')
    await expect(bench.api.sources.forget('plant', second ?? '')).rejects.toThrow(/No rejected record/)
    await expect(bench.api.sources.retry('other')).rejects.toThrow(/No source 'other'/)
    expect((await bench.api.sources.rejected('plant')).total).toBe(1)
    await bench.stop()
  })

  // Holds CONNECTOR-3
  it('removes a retried record only together with its messages', async () => {
    const inner = openMemory().tenant('acme')
    let fails = false
    const store = withCommit(inner, (writes) => {
      const isUnit = writes.some(({ kind }) => kind === 'append')
      return fails && isUnit ? Promise.reject(new AppError('STORE', 'the disk is full')) : inner.commit(writes)
    })
    const bench = await connectorBench({ store })
    await bench.outside.publish('in', [{ key: '', value: '{"n":1,"from":"s"}' }])
    await bench.api.sources.put('plant', SOURCE)
    await expect.poll(async () => (await bench.api.sources.get('plant')).status.read).toBe(1)
    await bench.api.sources.put('plant', { ...SOURCE, map: { resource: '/from' } })
    fails = true
    const { failed } = await bench.api.sources.retry('plant')
    expect(failed).toMatchObject([{ error: 'the disk is full' }])
    expect((await bench.api.sources.rejected('plant')).values).toMatchObject([{ tries: 1 }])
    fails = false
    expect((await bench.api.sources.retry('plant')).accepted).toHaveLength(1)
    expect(await logged(inner)).toEqual([1])
    expect((await bench.api.sources.rejected('plant')).total).toBe(0)
    await bench.stop()
  })

  // Holds CONNECTOR-3
  it('keeps the latest thousand of the rejected', async () => {
    const bench = await connectorBench()
    await bench.outside.publish(
      'in',
      Array.from({ length: 1_200 }, () => ({ key: 'r', value: '{' })),
    )
    await bench.api.sources.put('plant', SOURCE)
    await expect.poll(async () => (await bench.api.sources.get('plant')).status.rejected).toBe(1_200)
    const { values, total } = await bench.api.sources.rejected('plant', { limit: 1 })
    expect([total, values[0]?.record]).toEqual([1_000, 'in/200'])
    await bench.api.sources.remove('plant')
    await bench.api.sources.put('plant', { ...SOURCE, start: 'latest' })
    expect((await bench.api.sources.rejected('plant')).total).toBe(0)
    await bench.stop()
  })

  // Holds CONNECTOR-4
  it('stops pulling while the store does not commit', async () => {
    const inner = openMemory().tenant('acme')
    const { store, release } = heldUnits(inner)
    const bench = await connectorBench({ store })
    await bench.outside.publish('in', records(20_000))
    await bench.api.sources.put('plant', SOURCE)
    await expect.poll(() => bench.outside.mostPending).toBeGreaterThan(0)
    for (let turn = 0; turn < 200; turn++) await new Promise(setImmediate)
    // four units of 512 in flight, and one portion that waits
    expect(bench.outside.mostPending).toBeLessThanOrEqual(4_000)
    release()
    await expect.poll(async () => (await bench.api.sources.get('plant')).status.accepted).toBe(20_000)
    await bench.stop()
  })

  // Holds CONNECTOR-6
  it('pauses, also across a restart, and resumes where it stopped', async () => {
    const first = await connectorBench()
    const { outside, store } = first
    await outside.publish('in', records(5))
    await first.api.sources.put('plant', SOURCE)
    await expect.poll(async () => (await first.api.sources.get('plant')).status.accepted).toBe(5)
    expect((await first.api.sources.pause('plant')).status).toMatchObject({ state: 'paused', accepted: 5 })
    await outside.publish('in', records(5, 5))
    await first.stop()
    const second = await connectorBench({ outside, store })
    expect((await second.api.sources.get('plant')).status).toMatchObject({ state: 'paused', accepted: 5 })
    await second.api.sources.resume('plant')
    await expect.poll(async () => (await second.api.sources.get('plant')).status.accepted).toBe(10)
    expect(await logged(store)).toEqual(numbers(10))
    await second.stop()
  })

  it('reports a broker that is away, retries with backoff, and continues', async () => {
    const bench = await connectorBench()
    bench.outside.down = 'ECONNREFUSED'
    await bench.api.sources.put('plant', SOURCE)
    const waits = () => bench.waits.filter((ms) => ms >= 500).slice(0, 4)
    await expect.poll(waits).toEqual([500, 1_000, 2_000, 4_000])
    const { status } = await bench.api.sources.get('plant')
    expect(status.lastError?.message).toBe('ECONNREFUSED')
    expect(bench.warned[0]).toContain('source plant of tenant acme failed: ECONNREFUSED')
    expect(await bench.api.sources.test('plant')).toMatchObject({ ok: false, problem: 'ECONNREFUSED' })
    bench.outside.down = undefined
    await bench.outside.publish('in', records(3))
    await expect.poll(async () => (await bench.api.sources.get('plant')).status.accepted).toBe(3)
    bench.outside.fail('the broker has ended')
    await expect.poll(() => bench.service.warnings()).toEqual(['source plant: the broker has ended'])
    bench.outside.down = undefined
    await bench.outside.publish('in', records(3, 3))
    await expect.poll(async () => (await bench.api.sources.get('plant')).status.accepted).toBe(6)
    expect(await logged(bench.store)).toEqual(numbers(6))
    await bench.stop()
  })

  it('reports a secret that the vault does not have, and an address that is not allowed', async () => {
    const checkAddress = async (address: string) => {
      if (address === 'secret:1') throw new AppError('FORBIDDEN', `${address} is not allowed`)
    }
    const bench = await connectorBench({ checkAddress })
    const login = { user: 'u', password: { vault: 'MISSING' } }
    await bench.api.sources.put('one', { ...SOURCE, connection: { ...SOURCE.connection, login } })
    expect(await bench.api.sources.test('one')).toEqual({ ok: false, problem: 'the vault has no secret "MISSING"' })
    await bench.api.sources.put('two', { ...SOURCE, connection: { brokers: ['secret:1'] } })
    expect(await bench.api.sources.test('two')).toEqual({ ok: false, problem: 'secret:1 is not allowed' })
    await bench.stop()
  })

  it.each([
    ['without brokers', { ...SOURCE, connection: {} }, '/connection/brokers'],
    ['of MQTT without a url', { ...SOURCE, type: 'mqtt', connection: {} }, '/connection/url'],
    [
      'with a login without a password',
      { ...SOURCE, connection: { ...SOURCE.connection, login: { user: 'u' } } },
      '/connection/login/password',
    ],
    [
      'with a bare secret',
      { ...SOURCE, connection: { ...SOURCE.connection, login: { user: 'u', password: 'x' } } },
      '/connection/login/password',
    ],
    ['without topics', { ...SOURCE, topics: [] }, '/topics'],
    ['with an unknown start', { ...SOURCE, start: 'yesterday' }, '/start'],
    ['with an unknown place', { ...SOURCE, map: { resource: 'id' } }, '/map/resource'],
  ])('is refused %s', async (_, body, path) => {
    const bench = await connectorBench()
    const refused = bench.api.sources.put('plant', body)
    await expect(refused).rejects.toMatchObject({ code: 'VALIDATION', issues: [expect.objectContaining({ path })] })
    await bench.stop()
  })
})

function heldUnits(inner: ReturnType<ReturnType<typeof openMemory>['tenant']>) {
  let isHeld = true
  const waiting: (() => void)[] = []
  const store = withCommit(inner, async (writes) => {
    if (isHeld && writes.some(({ kind }) => kind === 'append'))
      await new Promise<void>((resolve) => waiting.push(resolve))
    return inner.commit(writes)
  })
  const release = (): void => {
    isHeld = false
    for (const resolve of waiting) resolve()
  }
  return { store, release }
}
