/** Workers over a broker in memory: what they do with messages, timers, other partitions and bad input. */
import { describe, expect, it } from 'vitest'
import { MemoryBroker } from './memory-broker.ts'
import { callRule, limitRule, on, pairRule, silenceRule } from './plant.ts'
import { outputsOf, plainFold, publish, settle, startWorker, statesOf } from './worker-world.ts'

function send(broker: MemoryBroker, key: string, value: unknown, headers?: Record<string, string>): void {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  broker.append([{ topic: 'in', key, value: text, ...(headers && { headers }) }])
}

function values(broker: MemoryBroker, topic: 'alarms' | 'dead' | 'late' | 'effects' | 'messages'): unknown[] {
  return broker.all(topic).map(({ value }) => JSON.parse(value ?? 'null') as unknown)
}

/** A resource of each partition. */
function resources({ partitions, partitionOf }: MemoryBroker, broker: MemoryBroker): readonly string[] {
  return Array.from({ length: partitions }, (_, wanted) => {
    for (let i = 0; ; i++) if (partitionOf.call(broker, `r${i}`) === wanted) return `r${i}`
  })
}

async function equalsPlainFold(broker: MemoryBroker, workers: Parameters<typeof settle>[1]): Promise<void> {
  const expected = await plainFold(broker)
  expect(outputsOf(broker)).toEqual(expected.outputs)
  expect(statesOf(workers)).toEqual(expected.states)
}

describe('a worker', () => {
  it('raises alarms for messages of its partitions', async () => {
    const broker = new MemoryBroker(2)
    await publish(broker, [{ id: 'hot', rule: limitRule(50), settings: on('r1') }])
    const workers = [startWorker(broker, 'a'), startWorker(broker, 'b')]
    await settle(broker, workers)
    for (const value of [20, 90, 95]) send(broker, 'r1', { value })
    await settle(broker, workers)
    expect(values(broker, 'alarms')).toMatchObject([{ op: 'raise', source: 'r1', type: 'HOT' }])
    expect(broker.all('alarms')[0]?.headers).toHaveProperty('rx-from')
    await equalsPlainFold(broker, workers)
  })

  it('lets timers act by a tick of its own when no message follows', async () => {
    const broker = new MemoryBroker(1)
    await publish(broker, [{ id: 'quiet', rule: silenceRule(60_000), settings: on('r1') }])
    const workers = [startWorker(broker, 'a')]
    await settle(broker, workers)
    send(broker, 'r1', { value: 1 })
    await settle(broker, workers)
    expect(values(broker, 'alarms')).toEqual([])
    const { now } = broker
    broker.now += 61_000
    await settle(broker, workers)
    expect(values(broker, 'alarms')).toMatchObject([{ source: 'r1', type: 'SILENT' }])
    // the timer acts at its own time, not at that of the tick
    expect((values(broker, 'alarms')[0] as { time: number }).time).toBeLessThan(now + 61_000)
    await equalsPlainFold(broker, workers)
  })

  it('relays messages to tasks of other partitions, once', async () => {
    const broker = new MemoryBroker(2)
    const [one = '', two = ''] = resources(broker, broker)
    await publish(broker, [{ id: 'pair', rule: pairRule(two, 50), settings: on(one) }])
    const workers = [startWorker(broker, 'a'), startWorker(broker, 'b')]
    await settle(broker, workers)
    send(broker, one, { value: 90 })
    send(broker, two, { value: 90 })
    await settle(broker, workers)
    expect(values(broker, 'alarms')).toMatchObject([{ source: one, type: 'BOTH' }])
    expect(broker.all('in').filter(({ headers }) => headers?.['rx-kind'] === 'relay')).toHaveLength(1)
    await equalsPlainFold(broker, workers)
  })

  it('puts records that it cannot decode into the dead-letter topic, with the reason', async () => {
    const broker = new MemoryBroker(1)
    const workers = [startWorker(broker, 'a')]
    send(broker, 'r1', '{"value":')
    send(broker, 'r1', '5')
    send(broker, '', '{}')
    send(broker, 'r1', { resource: 'r2' })
    send(broker, 'r1', {}, { 'rx-kind': 'odd' })
    send(broker, 'r1', '{"k":"odd"}', { 'rx-kind': 'input' })
    send(broker, 'r1', {}, { 'rx-hops': 'many' })
    send(broker, 'r1', { value: 1 })
    await settle(broker, workers)
    const reasons = broker.all('dead').map(({ headers }) => headers?.['rx-reason'])
    expect(reasons).toEqual([
      expect.stringContaining('not JSON'),
      expect.stringContaining('not an object'),
      expect.stringContaining('key is missing'),
      expect.stringContaining('differs from the key'),
      expect.stringContaining('not a valid kind'),
      expect.stringContaining('`k` is one of'),
      expect.stringContaining('hops is NaN'),
    ])
    expect(broker.all('dead')[0]).toMatchObject({ key: 'r1', value: '{"value":' })
  })

  it('copies late readings', async () => {
    const broker = new MemoryBroker(1)
    const rule = { ...limitRule(50), task: { type: 'reactive', resetObservations: false, late: 'drop' } }
    await publish(broker, [{ id: 'hot', rule: rule as ReturnType<typeof limitRule>, settings: on('r1') }])
    const workers = [startWorker(broker, 'a')]
    await settle(broker, workers)
    send(broker, 'r1', { value: 1, timestamp: broker.now })
    send(broker, 'r1', { value: 2, timestamp: broker.now - 5_000 })
    await settle(broker, workers)
    expect(values(broker, 'late')).toMatchObject([{ value: 2 }])
  })

  it('sends outside calls to the topic of effects, and continues with their answers', async () => {
    const broker = new MemoryBroker(1)
    await publish(broker, [{ id: 'call', rule: callRule(), settings: on('r1') }])
    let workers = [startWorker(broker, 'a')]
    await settle(broker, workers)
    send(broker, 'r1', { value: 1 })
    await settle(broker, workers)
    const [effect] = values(broker, 'effects') as { t: string; e: number; x: number; c: number }[]
    expect(effect).toMatchObject({ effect: 'call/1/2/0', plug: 'callURL:1.0.0', properties: { method: 'POST' } })
    // another owner goes on with the open call, and does not make it again
    await workers[0]?.log.close()
    workers = [startWorker(broker, 'b')]
    await settle(broker, workers)
    expect(values(broker, 'effects')).toHaveLength(1)
    const { t, e, x, c } = effect ?? { t: '', e: 0, x: 0, c: 0 }
    send(broker, 'r1', { k: 'answer', t, e, x, c, o: { ok: true, message: 'done' } }, { 'rx-kind': 'input' })
    await settle(broker, workers)
    expect(workers[0]?.worker.fold('call')?.engine.tasks.get('call')?.node('call')).toMatchObject({
      collectedTime: expect.any(Number) as number,
    })
    await equalsPlainFold(broker, workers)
  })

  it('continues with a changed rule, and ends a removed task', async () => {
    const broker = new MemoryBroker(1)
    await publish(broker, [{ id: 'hot', rule: limitRule(50), settings: on('r1') }])
    const workers = [startWorker(broker, 'a')]
    await settle(broker, workers)
    send(broker, 'r1', { value: 60 })
    await publish(broker, [{ id: 'hot', rule: limitRule(70), settings: on('r1') }])
    await settle(broker, workers)
    for (const value of [60, 80]) send(broker, 'r1', { value })
    await settle(broker, workers)
    expect(values(broker, 'alarms')).toHaveLength(2)
    await publish(broker, [])
    await settle(broker, workers)
    for (const value of [10, 80]) send(broker, 'r1', { value })
    await settle(broker, workers)
    expect(values(broker, 'alarms')).toHaveLength(2)
    expect(workers[0]?.worker.tasks()).toEqual([])
    await equalsPlainFold(broker, workers)
  })

  it('reports a task that cannot begin, and runs the others', async () => {
    const broker = new MemoryBroker(1)
    const rule = { sensors: [{ label: 'a', name: 'noSuchPlug', resource: '$' }] }
    await publish(broker, [
      { id: 'bad', rule, settings: on('r1') },
      { id: 'hot', rule: limitRule(50), settings: on('r1') },
    ])
    const workers = [startWorker(broker, 'a')]
    await settle(broker, workers)
    expect(workers[0]?.worker.book.tasks.get('bad')?.error).toMatch(/noSuchPlug/)
    expect(workers[0]?.worker.tasks().map(({ id }) => id)).toEqual(['hot'])
  })

  it('waits for a rule that the topic of rules does not have yet', async () => {
    const broker = new MemoryBroker(1)
    const task = { epoch: 1, version: 'v', source: 'unknown', settings: on('r1'), createTime: 0 }
    send(broker, 'hot', { k: 'begin', t: 'hot', r: ['r1'], task }, { 'rx-kind': 'input' })
    send(broker, 'r1', { value: 80 })
    const workers = [startWorker(broker, 'a')]
    await settle(broker, workers)
    expect(workers[0]?.worker.partitions()).toMatchObject([
      { position: 0, blocked: expect.stringContaining('unknown') as string },
    ])
    const from = 'tests'
    broker.append([
      { topic: 'rules', key: 'source/unknown', value: JSON.stringify(limitRule(50)) },
      { topic: 'rules', key: 'task/hot', value: JSON.stringify({ ...task, from }) },
    ])
    await settle(broker, workers)
    expect(values(broker, 'alarms')).toHaveLength(1)
  })

  it.each([
    ['another number of partitions', { partitions: 4 }, /has 2 partitions.*stored with 4/],
    ['another id', { topicId: 'in-0' }, /created again/],
    ['a newer format', { format: 9 }, /update this worker/],
  ])('rejects an input topic with %s', async (_, difference, reason) => {
    const broker = new MemoryBroker(2)
    const topology = { format: 1, partitions: 2, topicId: 'in-1', ...difference }
    broker.append([{ topic: 'rules', key: 'topology', value: JSON.stringify(topology) }])
    await expect(startWorker(broker, 'a').worker.step()).rejects.toThrow(reason)
  })

  it('stands still when records that states need are gone, and says so', async () => {
    const broker = new MemoryBroker(1)
    await publish(broker, [{ id: 'hot', rule: limitRule(50), settings: on('r1') }])
    const workers = [startWorker(broker, 'a', { checkpointRecords: 1_000 })]
    await settle(broker, workers)
    for (let i = 0; i < 20; i++) send(broker, 'r1', { value: 60 })
    await settle(broker, workers)
    broker.deleteBefore(0, 15)
    const next = startWorker(broker, 'b', { checkpointRecords: 1_000 })
    await workers[0]?.log.close()
    await settle(broker, [next])
    expect(next.worker.partitions()).toMatchObject([
      { blocked: expect.stringMatching(/begins at 15.*retention/) as string },
    ])
  })

  it('rejects states of a newer version', async () => {
    const broker = new MemoryBroker(1)
    broker.append([{ topic: 'state', partition: 0, key: '#mark', value: '{"format":7,"offset":0,"time":0}' }])
    const worker = startWorker(broker, 'a')
    await settle(broker, [worker])
    expect(worker.worker.partitions()).toMatchObject([
      { blocked: expect.stringContaining('update this worker') as string },
    ])
  })

  it('rejects tasks that another deployment publishes', async () => {
    const broker = new MemoryBroker(1)
    const tasks = [{ id: 'hot', rule: limitRule(50), settings: on('r1') }]
    await publish(broker, tasks, 'plant A')
    await expect(publish(broker, tasks, 'plant B')).rejects.toThrow(/published by plant A/)
  })
})
