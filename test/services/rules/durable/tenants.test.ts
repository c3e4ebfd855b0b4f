/** Tenants of one runner: each with its own plugs and ports. */
import { describe, expect, it } from 'vitest'
import { definePlug, VirtualClock, type Plug, type Rule } from '../../../../src/index.ts'
import { openDurableRunner, type DurableRunner } from '../../../../src/services/rules/durable/durable-runner.ts'
import type { RunnableTask } from '../../../../src/services/rules/runner.ts'
import { createRulesService } from '../../../../src/services/rules/service.ts'
import type { Storage } from '../../../../src/storage/contract.ts'
import { MemoryDisk } from '../../../../src/storage/memory/memory-disk.ts'
import { openMemory } from '../../../../src/storage/memory/open-memory.ts'

const OWN: Rule = {
  sensors: [
    {
      label: 'mine',
      name: 'mine',
      version: '1.0.0',
      resource: '$',
      properties: { site: '${task.resource.meta.site}' },
    },
  ],
  task: { type: 'reactive', resource: 'boiler' },
}

/** A sensor that only this tenant has; its state tells whose it is. */
function plugOf(tenant: string): Plug {
  return definePlug({
    name: 'mine',
    version: '1.0.0',
    kind: 'sensor',
    states: [tenant],
    input: { site: { type: 'string' } },
    execute: ({ properties }) => ({ state: tenant, rawData: { site: properties.site } }),
  })
}

/** `asked`: the tenants whose plugs were wanted, in that order. */
function open(storage: Storage, asked: string[] = []): DurableRunner {
  const plugs = new Map<string, readonly Plug[]>()
  return openDurableRunner({
    store: (tenant) => storage.tenant(tenant),
    plugs: (tenant) => {
      const known = plugs.get(tenant) ?? (tenant === 'none' ? [] : [plugOf(tenant)])
      if (!plugs.has(tenant)) asked.push(tenant)
      plugs.set(tenant, known)
      return known
    },
    ports: (tenant) => ({ metadata: () => ({ site: `site of ${tenant}` }) }),
    scheduler: new VirtualClock(0),
  })
}

const taskOf = (tenant: string, id: string): RunnableTask => {
  return { tenant, id, epoch: 1, createTime: 0, source: OWN, settings: { name: id } }
}

async function begin(runner: DurableRunner, task: RunnableTask): Promise<void> {
  await (await runner.plan({ kind: 'begin', task })).apply()
}

const seen = (runner: DurableRunner, tenant: string) => {
  const [view] = runner.nodes.view({ tenant, id: 'a' })
  return [view?.mostLikelyState?.state, view?.rawData]
}

// Holds RUNNER-5
describe('tenants of one runner', () => {
  it('have their own plugs and ports, under the same names', async () => {
    const asked: string[] = []
    const runner = open(openMemory(), asked)
    for (const tenant of ['acme', 'other']) {
      await begin(runner, taskOf(tenant, 'a'))
      await begin(runner, taskOf(tenant, 'b'))
      await runner.intake.receive(tenant, { resource: 'boiler', level: 1 })
    }
    await expect.poll(() => seen(runner, 'acme')).toEqual(['acme', { site: 'site of acme' }])
    await expect.poll(() => seen(runner, 'other')).toEqual(['other', { site: 'site of other' }])
    expect(asked).toEqual(['acme', 'other'])
    await runner.close()
  })

  it('keep them over a restart', async () => {
    const disk = new MemoryDisk()
    const storage = openMemory({ disk })
    const first = open(storage)
    await begin(first, taskOf('other', 'a'))
    await first.intake.receive('other', { resource: 'boiler', level: 1 })
    await storage.close()
    const second = open(openMemory({ disk }))
    await second.resume([taskOf('other', 'a')])
    await expect.poll(() => seen(second, 'other')).toEqual(['other', { site: 'site of other' }])
    await second.close()
  })

  it('cannot use a plug of another', async () => {
    const runner = open(openMemory())
    await expect(runner.plan({ kind: 'begin', task: taskOf('none', 'a') })).rejects.toMatchObject({
      code: 'VALIDATION',
    })
    await runner.close()
  })
})

describe('the rules service', () => {
  it('lists, checks and calls the plugs of who asks', async () => {
    const storage = openMemory()
    const runner = open(storage)
    const plugs = (tenant: string) => (tenant === 'none' ? [] : [plugOf(tenant)])
    const service = createRulesService({
      tenant: 'acme',
      storage,
      runner,
      plugs,
      now: () => 0,
      newId: () => 'id-of-a-task',
    })
    await service.start()
    const [acme, none] = ['acme', 'none'].map((tenant) => service.as({ tenant, user: 'tester' }))
    const names = async (api: typeof acme) => (await api?.tools.plugs('sensors'))?.map(({ name }) => name)
    expect([await names(acme), await names(none)]).toEqual([['mine'], []])
    expect(await acme?.tools.call('sensors', 'mine', 'latest', {})).toMatchObject({ state: 'acme' })
    await expect(none?.tasks.create({ ...OWN, task: { ...OWN.task, name: 'a' } })).rejects.toMatchObject({
      code: 'VALIDATION',
    })
    await service.stop()
    await runner.close()
  })
})
