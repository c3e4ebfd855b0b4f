/** Tests that tasks use the short path while their events have no readers. */
import { describe, expect, it } from 'vitest'
import { definePlug, VirtualClock } from '../../../../src/index.ts'
import { generatorHere } from '../../../../src/platform/generate.ts'
import { openDurableRunner } from '../../../../src/services/rules/durable/durable-runner.ts'
import { createRulesService } from '../../../../src/services/rules/service.ts'
import { openMemory } from '../../../../src/storage/memory/open-memory.ts'

const TENANT = 'acme'

async function host() {
  let calls = 0
  const plugs = [
    definePlug({
      name: 'level',
      version: '1.0.0',
      kind: 'sensor',
      states: ['Low', 'High'],
      // The short path finds the state from these steps, without a call.
      steps: () => ({ parameter: 'level', cuts: [10], states: ['Low', 'Low', 'High'] }),
      execute: (context) => {
        calls++
        return Number(context.streamValue('level')) > 10 ? 'High' : 'Low'
      },
    }),
    definePlug({
      name: 'say',
      version: '1.0.0',
      kind: 'actuator',
      execute: (context) => {
        if (context.streamValue('level') === 13) throw new Error('unlucky')
        if (context.streamValue('level') === 12) context.log.info('twelve')
      },
    }),
  ]
  const storage = openMemory()
  const clock = new VirtualClock(0)
  const generate = generatorHere()
  const runner = openDurableRunner({
    ...(generate && { generate }),
    store: storage.tenant('acme'),
    plugs: () => plugs,
    scheduler: clock,
  })
  let id = 0
  const now = () => clock.now()
  const service = createRulesService({
    tenant: 'acme',
    store: storage.tenant(TENANT),
    runner,
    plugs: () => plugs,
    now,
    newId: () => `t${id++}`,
  })
  await service.start()
  const api = service.as({ tenant: TENANT, user: 'tester' })
  await api.tasks.create({
    sensors: [{ label: 'level', name: 'level', resource: '$' }],
    actuators: [{ label: 'say', name: 'say' }],
    triggers: [{ sourceLabel: 'level', destinationLabel: 'say', statesTrigger: ['High'] }],
    task: { name: 'watch', type: 'reactive', resource: 'boiler' },
  })
  return {
    api,
    runner,
    clock,
    send: async (...levels: number[]) => {
      for (const level of levels) await runner.intake.receive([{ messages: { resource: 'boiler', level } }])
    },
    /** Returns the number of calls of the sensor's plug since the last query */
    calls: () => {
      const since = calls
      calls = 0
      return since
    },
    lines: async () => (await api.inspection.log({ taskId: 't1' })).logs.map(({ message }) => message),
    close: async () => {
      await service.stop()
      await runner.close()
    },
  }
}

describe('a task of a host', () => {
  it('makes no call that rows avoid, and its log contains every step anyway', async () => {
    const { send, calls, lines, runner, close } = await host()
    await send(1, 2)
    calls()
    await send(3, 4, 5, 20)
    expect(calls()).toBe(0)
    await send(12)
    await send(13)
    expect((await lines()).slice(0, 7)).toEqual([
      'say failed: unlucky',
      'level fired say',
      'level went from unknown to High',
      'level returned High',
      'data of boiler: resource, level',
      'say returned no state',
      'twelve',
    ])
    // a start, and messages
    const odd = { held: 0, dropped: 0, late: 0, duplicate: 0, skewed: 0 }
    const deliveries = { delivered: 0, dead: 0, retried: 0 }
    expect(runner.counts).toEqual({ inputs: 8, steps: 9, firings: 3, calls: 3, ...odd, deliveries })
    await close()
  })

  it('uses the general path while its events have a reader and for a minute after, and then rows again', async () => {
    const { api, clock, send, calls, close } = await host()
    await send(1, 2)
    calls()
    const controller = new AbortController()
    const events = api.inspection.events('t1', { signal: controller.signal })[Symbol.asyncIterator]()
    const first = events.next()
    await new Promise((resolve) => setImmediate(resolve))
    // the state of the last message is computed for the reader
    await send(3)
    calls()
    await send(4, 5)
    expect(calls()).toBe(2)
    expect((await first).value).toMatchObject({ event: { type: 'data', values: { level: 3 } } })
    controller.abort()
    clock.advanceTo(59_000)
    await send(5)
    expect(calls()).toBe(1)
    clock.advanceTo(61_000)
    await send(6, 7, 8)
    calls()
    await send(9, 10)
    expect(calls()).toBe(0)
    await close()
  })
})
