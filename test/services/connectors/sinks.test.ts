import { describe, expect, it } from 'vitest'
import { connectorBench, CALLER, NOON, SINK } from './support.ts'

describe('a sink', () => {
  // Holds CONNECTOR-5
  it('sends messages posted after it was created, in order, under ids that a repetition keeps', async () => {
    const bench = await connectorBench()
    const { posting } = bench.broker.as(CALLER)
    await posting.events('boiler-1', { n: 0 })
    await bench.api.sinks.put('lake', SINK)
    for (let n = 1; n <= 20; n++) await posting.events(`boiler-${n % 2}`, { n })
    await expect.poll(() => bench.outside.records('out')).toHaveLength(20)
    const sent = bench.outside.records('out')
    expect(sent.map(({ value }) => (JSON.parse(value) as { n: number }).n)).toEqual(
      Array.from({ length: 20 }, (_, i) => i + 1),
    )
    expect(sent[0]).toMatchObject({
      key: 'boiler-1',
      id: 'message 2.0',
      value: JSON.stringify({ resource: 'boiler-1', n: 1, timestamp: NOON }),
    })
    const status = async () => (await bench.api.sinks.get('lake')).status
    await expect.poll(status).toMatchObject({ state: 'running', accepted: 20, lag: 0 })
    await bench.stop()
  })

  // Holds CONNECTOR-5, CONNECTOR-6
  it('sends what was posted while it was paused or its broker away', async () => {
    const bench = await connectorBench()
    const { posting } = bench.broker.as(CALLER)
    await bench.api.sinks.put('lake', SINK)
    bench.outside.fail('the broker has ended')
    await posting.events('a', { n: 1 })
    await expect.poll(async () => (await bench.api.sinks.get('lake')).status.state).toBe('retrying')
    bench.outside.down = undefined
    await expect.poll(() => bench.outside.records('out')).toHaveLength(1)
    await bench.api.sinks.pause('lake')
    await posting.events('a', { n: 2 })
    await bench.api.sinks.resume('lake')
    await expect.poll(() => bench.outside.records('out')).toHaveLength(2)
    await bench.stop()
  })

  it('is woken by the log, not by a timer', async () => {
    const later = (ms: number, work: () => void): (() => void) => {
      if (ms === 250) return () => undefined
      const turn = setImmediate(work)
      return () => clearImmediate(turn)
    }
    const bench = await connectorBench({ later })
    const { posting } = bench.broker.as(CALLER)
    await bench.api.sinks.put('lake', SINK)
    await expect.poll(async () => (await bench.api.sinks.get('lake')).status.state).toBe('running')
    for (let n = 1; n <= 3; n++) {
      await posting.events('a', { n })
      await expect.poll(() => bench.outside.records('out')).toHaveLength(n)
    }
    await bench.stop()
  })

  it('sends what its selection has, to a topic of the item', async () => {
    const bench = await connectorBench()
    const { posting } = bench.broker.as(CALLER)
    const select = { items: 'commands', prefix: 'boiler-' }
    await bench.api.sinks.put('orders', { ...SINK, topic: 'out/{resource}', select })
    await posting.events('boiler-1', { n: 1 })
    await posting.command('pump-1', { name: 'stop' })
    await posting.command('boiler-1', { name: 'heat', to: 70 })
    await expect.poll(() => bench.outside.records('out/boiler-1')).toHaveLength(1)
    const [sent] = bench.outside.records('out/boiler-1')
    expect(JSON.parse(sent?.value ?? '')).toMatchObject({ resource: 'boiler-1', name: 'heat', to: 70 })
    expect(bench.outside.records('out/pump-1')).toEqual([])
    await bench.stop()
  })
})
