import { describe, expect, it } from 'vitest'
import { managedTasks } from '../../../src/host/wiring/managed-tasks.ts'
import type { WantedTask } from '../../../src/services/resources/contract.ts'
import { bench, type Bench } from '../../services/rules/support/bench-of-rules.ts'
import { templateOf } from '../../services/rules/support/rules.ts'

const TENANT = 'acme'
const wanted = (resource: string, key = 'k1', settings: WantedTask['settings'] = {}): WantedTask => ({
  resource,
  type: 'pump',
  key,
  templateName: 'overheating',
  settings,
})

async function withTemplate(): Promise<{ readonly rules: Bench; readonly tasks: ReturnType<typeof managedTasks> }> {
  const rules = await bench()
  await rules.api.templates.create(templateOf())
  return { rules, tasks: managedTasks(TENANT, () => rules.service) }
}

describe('managed tasks over rules', () => {
  it('are made of the template with the settings, started, and marked', async () => {
    const { rules, tasks } = await withTemplate()
    await tasks.make(wanted('p1', 'k1', { type: 'periodic', frequency: 60_000, tags: { floor: 2 } }))
    const { values } = await rules.api.tasks.list({ where: {}, hits: 10, startIndex: 0 })
    expect(values).toMatchObject([
      {
        name: 'overheating p1',
        status: 'running',
        user: 'system/engine',
        template: 'overheating',
        resource: 'p1',
        type: 'periodic',
        frequency: 60_000,
        tags: { floor: 2, managed: true, managedResource: 'p1', managedType: 'pump', managedKey: 'k1' },
      },
    ])
    await rules.close()
  })

  it('are found by resource, whatever other tasks there are', async () => {
    const { rules, tasks } = await withTemplate()
    for (const resource of ['p1', 'p2', 'p3']) await tasks.make(wanted(resource))
    await tasks.make(wanted('p2', 'k2'))
    const tags = { managed: true, managedResource: 'p1', managedType: 'pump', managedKey: 'k1' }
    await rules.api.tasks.create({ template: 'overheating', name: 'mine', resource: 'p1', tags })
    await rules.api.tasks.create({ template: 'overheating', name: 'mine', resource: 'p1' })
    const found = await tasks.of(['p1', 'p2', 'nobody'])
    expect(found.map(({ resource, key, type }) => `${resource} ${type} ${key}`).toSorted()).toEqual([
      'p1 pump k1',
      'p2 pump k1',
      'p2 pump k2',
    ])
    expect(await tasks.of([])).toEqual([])
    await rules.close()
  })

  it('are removed though they run, and one that no longer exists is not an error', async () => {
    const { rules, tasks } = await withTemplate()
    await tasks.make(wanted('p1'))
    const [found] = await tasks.of(['p1'])
    await tasks.remove(found?.taskId ?? '')
    await tasks.remove(found?.taskId ?? '')
    expect(await rules.api.tasks.count({})).toBe(0)
    await rules.close()
  })

  it('are rejected with the reason when the template cannot be used', async () => {
    const { rules, tasks } = await withTemplate()
    await expect(tasks.make({ ...wanted('p1'), templateName: 'other' })).rejects.toThrow('No template with name other')
    await expect(tasks.make(wanted('p1', 'k', { type: 'scheduled', cron: 'never' }))).rejects.toMatchObject({
      code: 'VALIDATION',
    })
    await rules.close()
  })

  it('wait where no rules are served', async () => {
    const tasks = managedTasks(TENANT, () => undefined)
    await expect(tasks.of(['p1'])).rejects.toMatchObject({ code: 'CLOSED' })
    await expect(tasks.make(wanted('p1'))).rejects.toMatchObject({ code: 'CLOSED' })
  })
})
