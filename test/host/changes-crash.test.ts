/** Running tasks that are changed by batches and by hand, on a host that is killed with -9 in between. */
import { describe, expect, it } from 'vitest'
import type { Rule } from '../../src/index.ts'
import type { RulesApi } from '../../src/services/rules/contract.ts'
import { crashingHosts } from './host-process.ts'

const hosts = crashingHosts()

/** A sensor that counts, one with a limit, and an actuator that cools down for an hour. */
const ruleOf = (by: number): Rule & { task: { name: string } } => ({
  sensors: [
    { label: 'seen', name: 'invokeCount', resource: 'boiler' },
    { label: 'moved', name: 'changedBy', resource: 'boiler', properties: { value: 'n', by } },
  ],
  actuators: [{ label: 'told', name: 'log', properties: { message: 'moved' } }],
  triggers: [{ sourceLabel: 'seen', destinationLabel: 'told', statesTrigger: ['Incremented'], invocationPolicy: 3600 }],
  task: { name: 'watched', type: 'reactive' },
})

async function measured(api: RulesApi, ...values: readonly number[]): Promise<void> {
  for (const value of values) await api.tools.push({ resource: 'boiler', data: [{ parameterName: 'n', value }] })
}

/** How often the counting sensor counted, and the firings of the actuator. */
async function seen(api: RulesApi, id: string): Promise<unknown> {
  const { rawData } = await api.inspection.node(id, 'seen')
  const { fired } = await api.inspection.explain(id, 'told')
  return { count: (rawData as { count?: number }).count, firedAt: fired?.time, runs: (await api.tasks.runs(id)).length }
}

describe('a task that is changed while it runs', () => {
  it('keeps windows and cool-downs that the change does not touch, through kill -9', async () => {
    let host = await hosts.start()
    const { ID: id } = await host.client.rules.tasks.create(ruleOf(3))
    await measured(host.client.rules, 1, 2, 9)
    const { firedAt } = (await seen(host.client.rules, id)) as { firedAt: number }
    const batch = { entity: 'task', action: 'updateProperties', query: { ids: [id] } } as const
    await host.client.rules.batches.run({ ...batch, actionParameters: { tags: { floor: 2 } } })
    expect(await seen(host.client.rules, id)).toEqual({ count: 3, firedAt, runs: 1 })
    await host.kill()
    host = await hosts.start()
    const changed = await host.client.rules.tasks.replace(id, ruleOf(100))
    expect(changed).toMatchObject({ status: 'running' })
    await host.kill()
    host = await hosts.start()
    await measured(host.client.rules, 20)
    expect(await seen(host.client.rules, id)).toEqual({ count: 4, firedAt, runs: 1 })
    expect((await host.client.rules.inspection.node(id, 'moved')).mostLikelyState?.state).not.toBe('Changed')
    await host.kill()
  })
})
