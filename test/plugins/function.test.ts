import { describe, expect, it } from 'vitest'
import { createFunction } from '../../plugins/function/plug.ts'
import { checkPlug, runPlug, runPlugLater } from '../support/plug-context.ts'
import { Sandbox } from '../../src/core/language/script/sandbox.ts'

const functionSensor = createFunction(new Sandbox())

const nodes = {
  n: {
    v: 6,
    text: '2.5',
    state: 'On',
    list: [
      { t: 1, name: 'x' },
      { t: 5, name: 'y' },
    ],
    latitude: 51.05,
    longitude: 3.72,
  },
  m: { stream: { latitude: 50.85, longitude: 4.35 }, formulaValue: 10 },
}
const value = (formula: string) =>
  runPlug(functionSensor, { properties: { formula, threshold: 0 }, nodes, message: { t: 20 }, variables: { limit: 4 } })
    .rawData?.['formulaValue']

/** Results of a formula for successive values, with a run every so many seconds. */
function series(formula: string, values: readonly unknown[], seconds = 1): unknown[] {
  let internalState: unknown
  return values.map((v, i) => {
    const ran = runPlug(functionSensor, {
      properties: { formula, threshold: 0 },
      nodes: { n: { v, state: String(v) } },
      internalState,
      now: i * seconds * 1000,
    })
    internalState = JSON.parse(JSON.stringify(ran.internalState))
    return ran.rawData?.['formulaValue'] ?? null
  })
}

describe('Function', () => {
  it.each([
    ['1 + 2 * 3 - 4 / 8 % 3', 6.5],
    ['-2 ^ 2 + 2 ^ 3 ^ 2', 508],
    ['(1 + 2) * -3', -9],
    ['1.5e2 + .5', 150.5],
    ['sqrt(16) + abs(-1) + floor(2.7) + log10(1000) + cbrt(27)', 13],
    ['<n.v> * 2', 12],
    ['<n.text> + <GLOBAL.t>', 22.5],
    ['<m.formulaValue> / 4', 2.5],
    ['${nodes.n.rawData.v} + $${variables.limit}', 10],
    ['<n.list[0].t> + <n.list[(@.length-1)].t>', 6],
    ["<n.list[?(@.name == 'y')].t>", 5],
    ['<n.list[?(@.t &gt; 1)].t> + <n.list[?(@.t &lt;= 1)].t>', 6],
    ['<n.list[count]>', 2],
    ['<n.list[*].t[max]> - <n.list[*].t[min]>', 4],
    ["<n.list[?(@.name != 'z')][count]>", 2],
    ['nodes.n.rawData.v > 5 ? 1 : 0', 1],
  ])('%s evaluates to %d', (formula, expected) => {
    expect(value(formula)).toBeCloseTo(expected, 10)
  })

  it.each([
    [7, 'Above'],
    [6, 'Equal'],
    [5, 'Below'],
  ])('%d compared with the threshold 6 returns %s', (v, state) => {
    expect(runPlug(functionSensor, { properties: { formula: '<n.v>', threshold: 6 }, nodes: { n: { v } } }).state).toBe(
      state,
    )
  })

  it.each<[string, readonly unknown[], readonly unknown[]]>([
    ['<n.v> - <n.v>[-1]', [1, 4, 9], [null, 3, 5]],
    ['<n.v>[-2]', [1, 4, 9, 16], [null, null, 1, 4]],
    ['(<n.v> - <n.v>[-1]) / dt', [0, 20, 60], [null, 2, 4]],
    ['<max(n.v)>', [3, 5, 1], [3, 5, 5]],
    ['<avg(n.v)>', [1, 2, 6], [1, 1.5, 3]],
    ['<avg(2, samples, n.v)>', [1, 3, 5], [1, 2, 4]],
    ['<min(25, seconds, n.v)>', [1, 2, 3, 4], [1, 1, 1, 2]],
    ['<sum(1, minutes, n.v)>', [1, 1, 1, 1, 1, 1, 1], [1, 2, 3, 4, 5, 6, 6]],
    ['<std(n.v)>', [1, 1, 4], [0, 0, Math.sqrt(3)]],
    ['<count(5, n.v)>', [5, 1, 5], [1, 1, 2]],
    ['<count(A, 2, samples, n.state)>', ['A', 'A', 'B', 'B'], [1, 2, 1, 0]],
    ['<sequence([A,B], n.state)>', ['A', 'B', 'B', 'A', 'B'], [0, 1, 0, 0, 1]],
    ['<max(n.v)> - <n.v>', [5, 3], [0, 2]],
  ])('%s over %j returns %j', (formula, values, expected) => {
    expect(series(formula, values, 10)).toEqual(
      expected.map((one) => (one === null ? null : (expect.closeTo(one as number, 10) as unknown))),
    )
  })

  /** Values of successive messages, 10 s apart; `undefined`: a run without a new message. */
  function ofMessages(formula: string, messages: readonly (Record<string, unknown> | undefined)[], lateness?: string) {
    let internalState: unknown
    let message: Record<string, unknown> = {}
    let messageTime = 0
    return messages.map((given, i) => {
      const now = 100_000 + i * 10_000
      if (given !== undefined) [message, messageTime] = [given, now]
      const properties = { formula, threshold: 0, ...(lateness !== undefined && { lateness }) }
      const ran = runPlug(functionSensor, { properties, message, messageTime, internalState, now })
      internalState = JSON.parse(JSON.stringify(ran.internalState))
      return ran.rawData?.['formulaValue'] ?? null
    })
  }

  it.each([
    ['<sum(5, minutes, GLOBAL.v)>', [4, 4, 9]],
    ['<count(4, GLOBAL.v)>', [1, 1, 1]],
    ['<max(GLOBAL.v)> - <GLOBAL.v>', [0, 0, 0]],
    ['<GLOBAL.v> - <GLOBAL.v>[-1]', [null, null, 1]],
    ['(<GLOBAL.v> - <GLOBAL.v>[-1]) / dt', [null, null, 0.05]],
    ['<sum(15, seconds, GLOBAL.v)>', [4, 4, 5]],
  ])('%s counts each value of a message once', (formula, expected) => {
    expect(ofMessages(formula, [{ v: 4 }, undefined, { v: 5 }])).toEqual(expected)
  })

  it('drops values that leave its window on a run without a new value, and then requires more values', () => {
    expect(ofMessages('<sum(15, seconds, GLOBAL.v)>', [{ v: 4 }, undefined, undefined])).toEqual([4, 4, null])
  })

  it('counts values of messages at their own time, and drops values later than the allowed lateness', () => {
    const messages = [1000, 11_000, 5000, 4999].map((timestamp, i) => ({ v: 2 ** i, timestamp }))
    expect(ofMessages('<sum(1, minutes, GLOBAL.v)>', messages)).toEqual([1, 3, 7, 15])
    expect(ofMessages('<sum(1, minutes, GLOBAL.v)>', messages, '6s')).toEqual([1, 3, 7, 7])
    const properties = { formula: '<sum(1, minutes, GLOBAL.v)>', threshold: 0, lateness: '0s' }
    const first = runPlug(functionSensor, { properties, message: { v: 1, timestamp: 5 }, now: 9 })
    const { internalState } = first
    expect(
      runPlug(functionSensor, { properties, message: { v: 2, timestamp: 4 }, now: 9, internalState }).rawData,
    ).toEqual({ formulaValue: 1, late: 1 })
    expect(checkPlug(functionSensor, { lateness: 'soon' }).join()).toContain('lateness: "soon" is not a valid duration')
  })

  it('measures kilometres between two nodes', () => {
    expect(value('distance(n, m)')).toBeCloseTo(49.4, 0)
  })

  it('returns no state while it needs further runs', () => {
    const ran = runPlug(functionSensor, { properties: { formula: 'dt', threshold: 1 } })
    expect(ran).toMatchObject({ state: undefined, rawData: {} })
  })

  it('restarts when its formula changes', () => {
    const first = runPlug(functionSensor, {
      properties: { formula: '<max(n.v)>', threshold: 1 },
      nodes: { n: { v: 9 } },
    })
    const second = { properties: { formula: '<max(n.v)> + 0', threshold: 1 }, nodes: { n: { v: 2 } } }
    expect(runPlug(functionSensor, { ...second, internalState: first.internalState }).rawData).toEqual({
      formulaValue: 2,
    })
  })

  it.each([
    ['<gone.v>', '<gone.v> has no value'],
    ['<n.list>', 'must be a number'],
    ['1 / 0', 'Infinity'],
    ['${variables.gone}', 'is not a number, so the result is unknown'],
    ['distance(n, gone)', 'lacks latitude'],
  ])('%s fails: %s', (formula, text) => {
    expect(() => value(formula)).toThrow(text)
  })

  it.each([
    ['1 +', 'column 4'],
    ['<n.v', 'is not closed'],
    ['<n>', '<node.field>'],
    ['<n.v[?(@.x ~ 1)]>', 'is malformed at'],
    ['<avg(5, n.v)>', 'two arguments'],
    ['<avg(5, weeks, n.v)>', 'the unit "weeks"'],
    ['<avg(0, samples, n.v)>', 'use one above 0'],
    ['<sequence(A, n.v)>', 'lacks a list'],
    ['<n.v> + nonsense(3)', '"nonsense" is not a function'],
    ['<n.v> 5', 'not expected'],
    [`<n.v> + ${'('.repeat(200)}1${')'.repeat(200)}`, 'too deep'],
  ])('rejects %s: %s', (formula, text) => {
    expect(checkPlug(functionSensor, { formula }).join()).toContain(text)
  })

  it('accepts statements without operands, which run in the sandbox', async () => {
    const formula = 'let best = 0; for (const { t } of nodes.n.rawData.list) best = Math.max(best, t); return best'
    const ran = await runPlugLater(functionSensor, { properties: { formula, threshold: 4 }, nodes })
    expect(ran).toMatchObject({ state: 'Above', rawData: { formulaValue: 5 } })
    const none = runPlugLater(functionSensor, {
      properties: { formula: 'let x = 1; return x / 0', threshold: 4 },
      nodes,
    })
    await expect(none).rejects.toThrow('Infinity')
  })
})
