import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { debounce } from '../../plugins/debounce/plug.ts'
import { runs } from '../support/arbitraries/runs.ts'
import { checkPlug, runPlug } from '../support/plug-context.ts'
import { runSeries } from '../support/plug-series.ts'

const trailing = { condition: 'v > 0', duration: '3s' }
const leading = { ...trailing, edge: 'leading' }

describe('debounce', () => {
  it.each<[object, readonly (number | undefined)[], string]>([
    [trailing, [0, 1, 1, 0, 1, 1, 1, 1, 0, 0, 0, 0], '-------++++-'],
    [leading, [0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1], '---+++---++'],
    [trailing, [1, 0, undefined, undefined, undefined], '++++-'],
  ])('%j over %j shows %s', (properties, values, shown) => {
    const messages = values.map((v) => (v === undefined ? {} : { v }))
    const ran = runSeries(debounce, { ...properties }, messages, (i) => i * 1000)
    expect(ran.map(({ state }) => (state === 'On' ? '+' : '-')).join('')).toBe(shown)
  })

  it('shows a change without a further run', () => {
    const [, ran] = runSeries(debounce, trailing, [{ v: 0 }, { v: 1 }], (i) => i * 1000)
    expect(ran).toMatchObject({ state: 'Off', rawData: { since: 0, holds: true }, internalState: { due: 4000 } })
  })

  it('is the condition of all of the duration before, and otherwise what it was', () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { minLength: 1, maxLength: 40 }), (values) => {
        const ran = runSeries(
          debounce,
          trailing,
          values.map((one) => ({ v: Number(one) })),
          (i) => i * 1000,
        )
        let shown = values[0]
        values.forEach((_, i) => {
          if (i >= 3 && values.slice(i - 3, i).every((one) => one === values[i - 1])) shown = values[i - 1]
          expect(ran[i]?.state === 'On').toBe(shown)
        })
      }),
      runs(200),
    )
  })

  it('fails without a value, and rejects invalid properties', () => {
    expect(() => runPlug(debounce, { properties: trailing })).toThrow('no message has contained')
    expect(checkPlug(debounce, { condition: 'v >', duration: 'soon' })).toHaveLength(2)
  })
})
