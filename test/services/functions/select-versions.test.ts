import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  compareNames,
  type Inclusion,
  latestOf,
  type Selectable,
} from '../../../src/services/functions/registry/select-versions.ts'

describe('the latest version', () => {
  it('is what one finds by looking at each in turn', () => {
    const flag = fc.constantFrom(undefined, true, false)
    const part = fc.nat({ max: 2 })
    const one = fc.record({
      name: fc.constantFrom('a', 'b'),
      version: fc.tuple(part, part, part).map((parts) => parts.join('.')),
      draft: fc.boolean(),
      deprecated: fc.boolean(),
      status: fc.constantFrom('running', 'undeployed'),
    })
    const versions = fc.uniqueArray(one, { selector: ({ name, version }) => `${name}@${version}` })
    fc.assert(
      fc.property(versions, flag, flag, flag, (all, draft, deprecated, undeployed) => {
        const include = { draft, deprecated, undeployed }
        const names = ['a', 'b']
        const naive = names.flatMap(
          (name) =>
            naiveLatest(
              all.filter((two) => two.name === name),
              include,
            ) ?? [],
        )
        expect(
          names.flatMap(
            (name) =>
              latestOf(
                all.filter((two) => two.name === name),
                include,
              ) ?? [],
          ),
        ).toEqual(naive)
      }),
    )
  })
})

/** By a rank for each: better ranks win, then higher versions. */
function naiveLatest(versions: readonly Selectable[], include: Inclusion): Selectable | undefined {
  let best: Selectable | undefined
  const rank = (one: Selectable): number => {
    const isDraft = one.draft && include.draft !== true
    const isDeprecated = one.deprecated && include.deprecated !== true
    if (!isDraft && !isDeprecated) return 0
    if (!isDraft) return 1
    return isDeprecated ? 3 : 2
  }
  for (const one of versions) {
    if (one.draft && include.draft === false) continue
    if (one.deprecated && include.deprecated === false) continue
    if (one.status === 'undeployed' && include.undeployed !== true) continue
    const better = best === undefined ? -1 : rank(one) - rank(best)
    if (best === undefined || better < 0 || (better === 0 && one.version > best.version)) best = one
  }
  return best
}

it('puts names in order without their case', () => {
  expect(['b', 'A', 'a', 'B'].toSorted(compareNames)).toEqual(['A', 'a', 'B', 'b'])
})
