import { describe, expect, it } from 'vitest'
import { iterate } from '../../plugins/iterate/plug.ts'
import { checkPlug } from '../support/plug-context.ts'
import { runSeries } from '../support/plug-series.ts'

describe('iterate', () => {
  it.each([
    [{ stopIndex: 1 }, ['Iterating 0', 'Iterating 1', 'Done 1', 'Done 1']],
    [{ startIndex: 5, stopIndex: 9, step: 3 }, ['Iterating 5', 'Iterating 8', 'Done 8', 'Done 8']],
    [{ startIndex: 2, stopIndex: 1, step: -1 }, ['Iterating 2', 'Iterating 1', 'Done 1', 'Done 1']],
    [{ startIndex: 2, stopIndex: 1 }, ['Done 2', 'Done 2', 'Done 2', 'Done 2']],
  ])('%j returns %j', (properties, lines) => {
    const ran = runSeries(iterate, properties, [{}, {}, {}, {}])
    expect(ran.map(({ state, rawData }) => `${state} ${String(rawData?.['value'])}`)).toEqual(lines)
  })

  it('rejects a step of 0', () => {
    expect(checkPlug(iterate, { step: 0 }).join()).toContain('step is 0')
  })
})
