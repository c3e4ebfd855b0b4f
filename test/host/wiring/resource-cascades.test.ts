import { describe, expect, it } from 'vitest'
import { resourceCascades } from '../../../src/host/wiring/resource-cascades.ts'
import type { InternalRules } from '../../../src/services/rules/contract.ts'

describe('what goes with a resource', () => {
  it('are all of its tasks, running ones too, however many', async () => {
    const left = new Set(Array.from({ length: 250 }, (_, n) => `t${n}`))
    const asked: unknown[] = []
    const tasks = {
      list: async ({ where, hits }: { where: unknown; hits: number }) => {
        asked.push(where)
        return { values: [...left].slice(0, hits).map((ID) => ({ ID })), skip: 0, limit: hits, total: left.size }
      },
      remove: async (id: string, { forceStop }: { forceStop: boolean }) => {
        if (forceStop) left.delete(id)
      },
    }
    const rules = { as: () => ({ tasks }) } as unknown as InternalRules
    const cascades = resourceCascades({
      tenant: 'acme',
      alarms: () => undefined,
      broker: () => undefined,
      rules: () => rules,
    })
    await cascades.tasks?.('boiler-1')
    expect([left.size, asked]).toEqual([0, Array.from({ length: 3 }, () => ({ resource: 'boiler-1' }))])
  })

  it('is nothing where services are not served', async () => {
    const none = () => undefined
    const cascades = resourceCascades({ tenant: 'acme', alarms: none, broker: none, rules: none })
    for (const work of [cascades.alarms, cascades.measurements, cascades.tasks]) {
      await expect(work?.('r')).resolves.toBeUndefined()
    }
  })
})
