/** Tests which inputs make the members of groups compared with the resources. */
import { describe, expect, it } from 'vitest'
import type { DeterministicEngine } from '../../../../src/services/rules/durable/deterministic-engine.ts'
import { GroupMembers } from '../../../../src/services/rules/durable/group-members.ts'
import type { Input } from '../../../../src/services/rules/durable/input.ts'

const PUMPS = { key: 'pumps', group: { type: 'pump' }, members: new Set(['p1']) }
const running = (...groups: readonly object[]) => ({ status: 'running', groups })

function world() {
  const tasks = new Map<string, unknown>([
    ['grouped', running(PUMPS)],
    ['plain', running()],
  ])
  const deterministic = { engine: { tasks }, epochOf: () => 1 } as unknown as DeterministicEngine
  const compared: string[] = []
  const members = async ({ type }: { readonly type?: string }) => {
    compared.push(type ?? '')
    return ['p1']
  }
  const groups = new GroupMembers({ deterministic, members, logger: undefined, send: async () => undefined })
  const begun = async (input: object): Promise<number> => {
    compared.length = 0
    groups.refreshAfter(input as Input, undefined)
    await new Promise(setImmediate)
    return compared.length
  }
  return { tasks, groups, compared, begun }
}

describe('groups of running tasks', () => {
  it('are compared after a task with groups begins, and not after one without', async () => {
    const { tasks, begun } = world()
    expect(await begun({ k: 'begin', t: 'grouped' })).toBe(1)
    expect(await begun({ k: 'begin', t: 'plain' })).toBe(0)
    expect(await begun({ k: 'data' })).toBe(0)
    tasks.set('plain', running({ ...PUMPS, group: { type: 'fan' } }))
    expect(await begun({ k: 'change', t: 'plain' })).toBe(2)
    expect(await begun({ k: 'resume', ts: ['unknown', 'grouped'] })).toBe(2)
  })

  it('are compared after a change of resources, also those of tasks that began before', async () => {
    const { tasks, groups, compared } = world()
    groups.refresh()
    await new Promise(setImmediate)
    expect(compared).toEqual(['pump'])
    tasks.delete('grouped')
    groups.refresh()
    await new Promise(setImmediate)
    expect(compared).toEqual(['pump'])
  })
})
