import { describe, expect, it } from 'vitest'
import { builtins } from '../../../plugins/index.ts'
import { checkRule, PropertyError } from '../../../src/testing/index.ts'
import { runs, some } from '../../support/arbitraries/runs.ts'
import { planted, RULE_BUGS, SUBJECTS } from './rules.ts'

const SEEDS = some([1, 2, 3, 4, 5])
/** The models of the rules take each message as it arrives. */
const settings = { time: 'arrival', duplicates: 'take' } as const
const search = { plugs: builtins, numRuns: 600, shrink: false, settings }

describe('a correct rule', () => {
  it.each(Object.entries(SUBJECTS))('%s raises no false alarm', async (_, { rule, properties, options }) => {
    const report = await checkRule(rule, properties, { ...search, ...options, ...runs(60), seed: 6 })
    expect(report.cases).toBe(runs(60).numRuns)
  })
})

describe('a planted bug in a rule is found with every seed', () => {
  it.each(RULE_BUGS)('$name ($subject)', async (bug) => {
    const { properties, options } = SUBJECTS[bug.subject]
    for (const seed of SEEDS) {
      const check = checkRule(planted(bug), properties, { ...search, ...options, ...bug.options, seed })
      await expect(check, `seed ${seed}`).rejects.toBeInstanceOf(PropertyError)
    }
  })
})
