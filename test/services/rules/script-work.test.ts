/** Tests that scripts of a direct run count as work of the run, even if another thread executes them. */
import { describe, expect, it } from 'vitest'
import { createBuiltins } from '../../../plugins/index.ts'
import { createRegistry } from '../../../src/core/plug/registry.ts'
import { scriptBegins } from '../../../src/services/rules/tools/script-work.ts'
import { simulateRequest } from '../../../src/services/rules/tools/simulation.ts'

/** Simulates three messages with scripts that report `took`. */
function simulated(took: number) {
  const interpreter = {
    async answer(): Promise<string> {
      const over = scriptBegins()
      await Promise.resolve()
      over(took)
      return JSON.stringify([true, '{"fine":1}', []])
    },
  }
  const registry = createRegistry(createBuiltins({ interpreter }))
  const rule = {
    sensors: [{ label: 's', name: 'script', resource: '$', properties: { script: 'return { fine: 1 }' } }],
  }
  const messages = [1000, 2000, 3000].map((timestamp) => ({ resource: 'boiler', timestamp }))
  return simulateRequest({ registry, ports: {}, now: () => 0 }, rule, { messages, resource: 'boiler' })
}

describe('the scripts of a run', () => {
  it('share the time limit of the run', async () => {
    const { events } = await simulated(6000)
    expect(events.filter(({ type }) => type === 'result')).toHaveLength(3)
  })

  it('end the run when they take longer in total', async () => {
    await expect(simulated(7000)).rejects.toThrow(/^the run stopped after 20 s at 1970-01-01T00:00:03/)
  })

  it('belong to one tenant only', async () => {
    const outcomes = await Promise.allSettled([simulated(6000), simulated(6000), simulated(7000)])
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected'])
  })
})
