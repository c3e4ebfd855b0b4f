import { describe, expect, it } from 'vitest'
import { builtins } from '../../../plugins/index.ts'
import type { Rule } from '../../../src/index.ts'
import { checkRule, readings } from '../../../src/testing/index.ts'
import { some } from '../../support/arbitraries/runs.ts'
import { PLUG_BUGS } from './plugs.ts'

const SEEDS = some([1, 2, 3, 4, 5])
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

const IN_ROWS: ReadonlySet<string> = new Set([
  'steps with another cut',
  'steps that count the limit',
  'steps the wrong way round',
  'a calculation that is not what it does',
])

describe('a planted bug in a plug is found with every seed', () => {
  it.each(PLUG_BUGS)('$name', async ({ name, plugs, property, told }) => {
    // Bugs in row execution only appear where messages stay in rows: stamped at the clock, each newer than the last.
    const inRows = IN_ROWS.has(name)
    const subject: Rule = inRows ? { ...rule, task: { resource: 'r1', duplicates: 'take' } } : rule
    const more = inRows ? { disturbances: ['gap'] as const, numRuns: 1_500 } : {}
    const log = builtins.filter(({ name }) => name === 'log')
    for (const seed of SEEDS) {
      const check = checkRule(subject, property, { ...options, ...more, plugs: () => [...log, ...plugs()], seed })
      await expect(check, `seed ${seed}`).rejects.toThrow(told)
    }
  })
})
