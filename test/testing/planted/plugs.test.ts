import { describe, expect, it } from 'vitest'
import { builtins } from '../../../plugins/index.ts'
import type { Rule } from '../../../src/index.ts'
import { checkRule, readings } from '../../../src/testing/index.ts'
import { PLUG_BUGS } from './plugs.ts'

const SEEDS = [1, 2, 3, 4, 5]
const rule: Rule = {
  sensors: [{ label: 'probe', name: 'probe', resource: '$' }],
  actuators: [{ label: 'act', name: 'log', properties: { message: 'probe' } }],
  triggers: [{ sourceLabel: 'probe', destinationLabel: 'act', statesTrigger: ['Yes'] }],
  task: { resource: 'r1', time: 'arrival', duplicates: 'take' },
}
const options = {
  metrics: { t: readings(0, 100) },
  disturbances: ['duplicate', 'gap', 'late'] as const,
  patience: 50,
  durations: [600_000],
  numRuns: 300,
  shrink: false,
  cover: false as const,
}

describe('a bug in a plug is found with every seed', () => {
  it.each(PLUG_BUGS)('$name', async ({ plugs, property, told }) => {
    const log = builtins.filter(({ name }) => name === 'log')
    for (const seed of SEEDS) {
      const check = checkRule(rule, property, { ...options, plugs: () => [...log, ...plugs()], seed })
      await expect(check, `seed ${seed}`).rejects.toThrow(told)
    }
  })
})
