/** Kills a host beside whose tasks shadows run, and in the middle of a promotion. */
import { expect, it } from 'vitest'
import type { Rollout } from '../../src/services/rules/contract.ts'
import { crashingHosts, type HostProcess } from './host-process.ts'

const hosts = crashingHosts()
const TASKS = 60

const template = (enter: number) => ({
  name: 'hot',
  sensors: [
    { label: 'hot', name: 'hysteresis', resource: '$', properties: { value: 'temperature', enter, leave: 70 } },
  ],
  actuators: [{ label: 'note', name: 'log', properties: { message: 'hot' } }],
  triggers: [{ sourceLabel: 'hot', destinationLabel: 'note', begins: ['On'] as const }],
  taskDefaults: { type: 'reactive' as const },
})

const counts = async ({ client }: HostProcess, id: string): Promise<Rollout['comparison']['counts']> =>
  (await client.rules.rollouts.get('hot', id)).comparison.counts

// Holds SHADOW-1, DIVERGENCE-1, ROLLOUT-2
it(
  'a roll-out continues after each kill, counts each firing once, and ends its promotion',
  { timeout: 120_000 },
  async () => {
    let host = await hosts.start()
    const { templates, tasks, rollouts } = host.client.rules
    await templates.create(template(90))
    await templates.replace('hot', template(80), { draft: true })
    for (let i = 0; i < TASKS; i++)
      await tasks.create({ template: 'hot', name: `boiler ${i}`, resource: `boiler-${i}` })
    const { id } = await rollouts.create('hot', { version: 2, mode: 'shadow' })
    for (let kill = 1; kill <= 3; kill++) {
      for (const temperature of [60, 85, 95, 60]) await host.client.broker.posting.events('boiler-1', { temperature })
      const before = await counts(host, id)
      expect(before).toMatchObject({ moved: kill })
      await host.kill()
      host = await hosts.start()
      expect(await counts(host, id)).toEqual(before)
    }
    void host.client.rules.rollouts.promote('hot', id).catch(() => undefined)
    const moved = () => host.client.rules.tasks.count({ templateVersion: 2 })
    await expect.poll(moved, { interval: 5, timeout: 20_000 }).toBeGreaterThan(0)
    await host.kill()
    host = await hosts.start()
    const status = async () => (await host.client.rules.rollouts.get('hot', id)).status
    await expect.poll(status, { timeout: 20_000 }).toBe('promoted')
    expect(await moved()).toBe(TASKS)
    expect((await host.client.rules.templates.get('hot')).version).toBe(2)
    expect(await host.client.rules.rollouts.rollback('hot', id)).toMatchObject({
      status: expect.stringMatching(/^roll/) as unknown,
    })
    await expect.poll(status, { timeout: 20_000 }).toBe('rolledBack')
    expect(await moved()).toBe(0)
  },
)
