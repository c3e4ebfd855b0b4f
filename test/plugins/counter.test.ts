import { describe, expect, it } from 'vitest'
import { counter } from '../../plugins/counter/plug.ts'
import { checkPlug } from '../support/plug-context.ts'
import { runSeries } from '../support/plug-series.ts'

describe('counter', () => {
  it.each<[object, readonly object[], readonly number[]]>([
    [{}, [{ p: 1 }, { p: 1 }, { p: 0 }, { p: 1 }, { x: 1 }, { p: null }, { p: 1 }], [1, 1, 1, 2, 2, 2, 2]],
    [{ count: 'runs' }, [{ p: 1 }, { p: 1 }, { p: 0 }, { x: 1 }, { p: 1 }], [1, 2, 2, 2, 3]],
    [
      { reset: 'r == true' },
      [{ p: 1 }, { p: 0 }, { p: 1 }, { r: true }, { p: 0 }, { p: 1 }, { p: 0, r: true }],
      [1, 1, 2, 0, 0, 1, 0],
    ],
    [{ reset: 'r == true', count: 'runs' }, [{ p: 1 }, { p: 1, r: true }, { r: false }], [1, 1, 1]],
  ])('%j over %j counts %j', (properties, messages, counts) => {
    const ran = runSeries(
      counter,
      { condition: 'p > 0', ...properties },
      messages.map((one) => ({ ...one })),
    )
    expect(ran.map(({ rawData }) => rawData?.['count'])).toEqual(counts)
  })

  it('is Reached from the limit on', () => {
    const states = runSeries(counter, { condition: 'p > 0', count: 'runs', limit: 2 }, [
      { p: 1 },
      { p: 0 },
      { p: 1 },
      { p: 1 },
    ])
    expect(states.map(({ state }) => state)).toEqual(['Counting', 'Counting', 'Reached', 'Reached'])
  })

  it('rejects invalid properties', () => {
    expect(checkPlug(counter, { condition: 'p >', reset: '<', limit: 0 })).toHaveLength(3)
  })
})
