/** Tests that a task whose name and tags were changed continues where it was, even after a crash. */
import { expect, it } from 'vitest'
import { definePlug, VirtualClock, type Rule } from '../../../../src/index.ts'
import { openDurableRunner } from '../../../../src/services/rules/durable/durable-runner.ts'
import { createRulesService } from '../../../../src/services/rules/service.ts'
import { MemoryDisk } from '../../../../src/storage/memory/memory-disk.ts'
import { openMemory } from '../../../../src/storage/memory/open-memory.ts'

const TENANT = 'acme'
/** A call open when the process died is repeated with the same text */
const said = new Set<string>()
const PLUGS = [
  definePlug({
    name: 'count',
    version: '1.0.0',
    kind: 'sensor',
    states: ['Counted'],
    execute: ({ internalState }) => {
      const seen = typeof internalState === 'number' ? internalState + 1 : 1
      return { state: 'Counted', internalState: seen, rawData: { seen } }
    },
  }),
  definePlug({
    name: 'say',
    version: '1.0.0',
    kind: 'actuator',
    input: { text: { type: 'string' } },
    execute: ({ properties }) => void said.add(String(properties.text)),
  }),
]
const ruleOf = (task: Rule['task']): Rule => ({
  sensors: [{ label: 'count', name: 'count', resource: '$' }],
  actuators: [{ label: 'say', name: 'say', properties: { text: '${nodes.count.rawData.seen}' } }],
  triggers: [{ sourceLabel: 'count', destinationLabel: 'say', statesTrigger: ['Counted'], invocationPolicy: 60 }],
  task: { type: 'reactive', resource: 'boiler', ...task },
})

async function life(disk: MemoryDisk) {
  const clock = new VirtualClock(0)
  const storage = openMemory({ disk })
  const runner = openDurableRunner({
    store: storage.tenant(TENANT),
    plugs: () => PLUGS,
    scheduler: clock,
  })
  const service = createRulesService({
    tenant: 'acme',
    store: storage.tenant(TENANT),
    runner,
    plugs: () => PLUGS,
    now: () => clock.now(),
    newId: () => 'id',
  })
  await service.start()
  const api = service.as({ tenant: TENANT, user: 'tester' })
  return {
    api,
    clock,
    die: () => storage.close(),
    send: () => runner.intake.receive([{ messages: { resource: 'boiler', level: 1 } }]),
    seen: () => runner.nodes.view('id', 'count')[0]?.rawData,
    close: async () => {
      await service.stop()
      await runner.close()
    },
  }
}

it('keeps the memory of its nodes and the cool-downs of its actuators', async () => {
  said.clear()
  const disk = new MemoryDisk()
  const first = await life(disk)
  await first.api.tasks.create(ruleOf({ name: 'a' }))
  await first.send()
  await first.api.tasks.replace('id', ruleOf({ name: 'b', tags: { site: 'x' } }))
  await first.send()
  expect([first.seen(), [...said]]).toEqual([{ seen: 2 }, ['1']])
  await first.die()
  const second = await life(disk)
  await second.api.batches.run({
    entity: 'task',
    action: 'updateProperties',
    query: { name: 'b' },
    actionParameters: { tags: { site: 'y' } },
  })
  await second.send()
  expect(second.seen()).toEqual({ seen: 3 })
  second.clock.advanceTo(59_000)
  await second.send()
  expect([...said]).toEqual(['1'])
  second.clock.advanceTo(60_000)
  await second.send()
  expect([second.seen(), [...said]]).toEqual([{ seen: 5 }, ['1', '5']])
  expect(await second.api.tasks.get('id')).toMatchObject({ name: 'b', tags: { site: 'y' }, status: 'running' })
  expect(await second.api.tasks.runs('id')).toHaveLength(1)
  await second.close()
})
