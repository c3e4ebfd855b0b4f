import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FiringMatcher, type Difference } from '../../../src/core/simulate/diff-firings.ts'

const TOLERANCE = 5

/** Feeds both lists in order of time, equal firings as equal. */
function matched(old: readonly number[], fresh: readonly number[], tolerance = TOLERANCE) {
  const differences: Difference[] = []
  const matcher = new FiringMatcher(tolerance, (difference) => void differences.push(difference))
  for (const time of [...new Set([...old, ...fresh])].toSorted((a, b) => a - b)) {
    const before = old.filter((at) => at === time).length
    const after = fresh.filter((at) => at === time).length
    const equal = Math.min(before, after)
    if (equal > 0) matcher.equal('n', equal)
    for (let i = equal; i < before; i++) matcher.single('old', 'n', { time, source: 's' })
    for (let i = equal; i < after; i++) matcher.single('new', 'n', { time, source: 's' })
    matcher.settle(time)
  }
  matcher.settle(Number.POSITIVE_INFINITY)
  const [tally] = matcher.tallies
  return { differences, tally }
}

function told({ kind, time, ...rest }: Difference): string {
  return kind === 'moved' && 'by' in rest ? `${kind} ${time} by ${rest.by}` : `${kind} ${time}`
}

describe('a firing', () => {
  it.each<[string, number[], number[], string[]]>([
    ['of both runs at one time is equal', [1, 1, 9], [1, 1, 9], []],
    ['of one run alone is its own', [1], [], ['onlyOld 1']],
    ['of the new run alone is its own', [], [1], ['onlyNew 1']],
    ['that occurs later has moved', [1], [6], ['moved 1 by 5']],
    ['that occurs earlier has moved back', [6], [1], ['moved 1 by -5']],
    ['beyond the tolerance has not moved', [1], [7], ['onlyOld 1', 'onlyNew 7']],
    ['that both have is equal before it is a move', [0, 5], [5, 10], ['onlyOld 0', 'onlyNew 10']],
    ['moves to the first that is left', [0, 2], [3, 4], ['moved 0 by 3', 'moved 2 by 2']],
    ['once too often in one run is its own', [3, 3], [3], ['onlyOld 3']],
  ])('%s', (_, old, fresh, expected) => {
    expect(matched(old, fresh).differences.map(told)).toEqual(expected)
  })
})

describe('firings of one instant', () => {
  it('are matched before moves are searched (DIFF-2)', () => {
    const differences: Difference[] = []
    const matcher = new FiringMatcher(TOLERANCE, (difference) => void differences.push(difference))
    matcher.single('new', 'n', { time: 3, source: 's' })
    matcher.settle(3)
    matcher.single('old', 'n', { time: 5, source: 's' })
    matcher.settle(5)
    matcher.single('new', 'n', { time: 5, source: 's' })
    matcher.settle(Number.POSITIVE_INFINITY)
    expect(differences.map(told)).toEqual(['onlyNew 3'])
    expect(matcher.tallies).toEqual([{ node: 'n', old: 1, new: 2, equal: 1, moved: 0, onlyOld: 0, onlyNew: 1 }])
  })
})

describe('all firings', () => {
  const times = fc.array(fc.nat(60), { maxLength: 15 })

  it('DIFF-1: count once each', () => {
    fc.assert(
      fc.property(times, times, (old, fresh) => {
        const { tally } = matched(old, fresh)
        const { equal = 0, moved = 0, onlyOld = 0, onlyNew = 0 } = tally ?? {}
        expect([equal + moved + onlyOld, equal + moved + onlyNew]).toEqual([old.length, fresh.length])
      }),
    )
  })

  it('DIFF-3: move without crossing, at most by the tolerance', () => {
    fc.assert(
      fc.property(times, times, fc.nat(20), (old, fresh, tolerance) => {
        const moves = matched(old, fresh, tolerance).differences.filter((one) => one.kind === 'moved')
        for (const move of moves) expect(Math.abs(move.by)).toBeLessThanOrEqual(tolerance)
        const news = moves.toSorted((a, b) => a.old.time - b.old.time).map((move) => move.new.time)
        expect(news).toEqual(news.toSorted((a, b) => a - b))
      }),
    )
  })

  it('leave no two unmatched firings within the tolerance', () => {
    fc.assert(
      fc.property(times, times, (old, fresh) => {
        const { differences } = matched(old, fresh)
        const alone = (kind: Difference['kind']) =>
          differences.filter((one) => one.kind === kind).map((one) => one.time)
        for (const before of alone('onlyOld'))
          for (const after of alone('onlyNew')) expect(Math.abs(before - after)).toBeGreaterThan(TOLERANCE)
      }),
    )
  })
})
