/** Tests every built-in sensor with values that are not numbers: none counts as 0, and languages and plugs agree. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { builtins } from '../../plugins/index.ts'
import type { Plug } from '../../src/core/plug/plug.ts'
import { compileCondition } from '../../src/core/language/expression/condition.ts'
import { readerOf } from '../../src/core/language/expression/reader.ts'
import { isEqual, isKnown, numberIn, ofData } from '../../src/kernel/values.ts'
import { runs } from '../support/arbitraries/runs.ts'
import { runPlugLater } from '../support/plug-context.ts'

/** Values of a message where a rule requires a number, each with its number. */
const VALUES: readonly (readonly [name: string, value: unknown, number: number | undefined])[] = [
  ['absent', undefined, undefined],
  ['null', null, undefined],
  ['NaN', Number.NaN, undefined],
  ['an infinity', Number.POSITIVE_INFINITY, undefined],
  ['an empty text', '', undefined],
  ['a blank text', ' ', undefined],
  ['"0123"', '0123', undefined],
  ['"1e3"', '1e3', undefined],
  ['"0x10"', '0x10', undefined],
  ['" 5 "', ' 5 ', undefined],
  ['true', true, undefined],
  ['false', false, undefined],
  ['a list', [], undefined],
  ['an object', {}, undefined],
  ['2^53', 2 ** 53, undefined],
  ['"21.50"', '21.50', 21.5],
  ['0', 0, 0],
]

/** Properties with which each sensor that requires a number reads `v`. */
const ASKING: Readonly<Record<string, readonly Record<string, unknown>[]>> = {
  changedBy: [
    { value: 'v', by: 1 },
    { value: 'v - 1', by: 1 },
  ],
  condition: [
    'v < 10',
    'v >= 10',
    '-v < 0',
    'Math.abs(v) < 10',
    'v * 2 < 10',
    'v + 1 < 10',
    'between(v, 0, 10)',
    'number(v) < 10',
    'let x = v < 10; x',
    'let x = Math.abs(v); x < 10',
    'let x = v + 1; x < 10',
    { '<': [{ var: 'v' }, 10] },
    { '<': [0, { var: 'v' }, 10] },
    { '<': [{ '+': [{ var: 'v' }, 1] }, 10] },
    { '<': [{ max: [{ var: 'v' }, 1] }, 10] },
    { some: [[1], { '<': [{ var: '' }, { '*': ['${streamdata.v}', 2] }] }] },
  ].map((condition) => ({ condition })),
  Function: [
    { formula: '<GLOBAL.v> * 2', threshold: 1 },
    { formula: '<max(5, minutes, GLOBAL.v)>', threshold: 1 },
    { formula: '${streamdata.v}', threshold: 1 },
    { formula: 'v', threshold: 1 },
    { formula: 'let x = v; x', threshold: 1 },
  ],
  holdsFor: [{ condition: 'v < 10', count: 1 }],
  debounce: [{ condition: 'v < 10', duration: '1s' }],
  counter: [{ condition: 'v < 10', limit: 1 }],
  measure: [
    { value: 'v', accumulator: 'last' },
    { value: 'v * 2', accumulator: 'integral' },
  ],
  hysteresis: [
    { value: 'v', enter: 8, leave: 5 },
    { value: 'v - 1', enter: 8, leave: 5 },
  ],
  inRange: [{ value: '$v', lowerLimit: 0, upperLimit: 10 }],
  objectInsideGeofence: [{ geofences: [{ type: 'circle', center: [0, 0], radius: 100 }], coordinates: ['$v', '$v'] }],
  streamingDataSensor: [{ parameter: 'v', threshold: 10 }],
  streamingRangeSensor: [{ parameter: 'v', target: 0, range: 10 }],
  transformer: [{ transformer: '{ x: v * 2 }' }, { transformer: '{ x: Math.abs(v) }' }],
  severityTable: [
    { value: 'v', table: [{ from: 8, severity: 'MAJOR' }] },
    { value: 'v * 2', table: [{ from: 8, severity: 'MAJOR' }] },
  ],
  windowStats: [
    { value: 'v', samples: 3 },
    { value: 'v * 2', samples: 3 },
  ],
  helloWorld: [{ reading: 'v' }],
}

/** Sensors that count booleans, as on the platform. */
const COUNTS_TRUTHS = new Set(['streamingDataSensor'])

/** Sensors that require no number by name or value: list a new sensor here or in ASKING. */
const OTHERS = new Set(
  builtins
    .filter(({ kind }) => kind === 'sensor')
    .map(({ name }) => name)
    .filter((name) => !(name in ASKING)),
)

function filled(given: unknown, value: unknown): unknown {
  if (given === '$v') return value
  if (Array.isArray(given)) return given.map((one) => filled(one, value))
  return given
}

async function stateOf(plug: Plug, properties: Record<string, unknown>, value: unknown): Promise<string | undefined> {
  const own = Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, filled(one, ofData(value))]))
  const message = value === undefined ? { other: 1 } : { v: value, other: 1 }
  const { state, rawData } = await runPlugLater(plug, { properties: own, message })
  return rawData?.['error'] === undefined && state !== 'Collecting' ? state : undefined
}

describe('a value that is not a number', () => {
  const cases = Object.entries(ASKING).flatMap(([name, all]) => {
    const plug = builtins.find((one) => one.name === name)
    if (plug === undefined) throw new Error(`there is no plug ${name}`)
    return all.map((properties) => [`${name} ${JSON.stringify(properties)}`, plug, properties] as const)
  })

  it.each(cases)('is rejected by %s', async (_, plug, properties) => {
    for (const [name, value, number] of VALUES) {
      const counted = typeof value === 'boolean' && COUNTS_TRUTHS.has(plug.name) ? Number(value) : number
      const state = await stateOf(plug, properties, value).catch(() => undefined)
      if (counted === undefined) expect(state, name).toBeUndefined()
      else expect(state, name).toBe(await stateOf(plug, properties, counted))
    }
  })

  it('is tested in every built-in sensor that reads a number of the message', () => {
    expect([...OTHERS].toSorted()).toMatchInlineSnapshot(`
      [
        "AlarmEventSensor",
        "JSON",
        "acknowledgeAlarm",
        "aggregate",
        "alwaysON",
        "alwaysONWithOFF",
        "bitflip",
        "callURL",
        "callWebscript",
        "classify",
        "clearAlarm",
        "commentAlarm",
        "composite",
        "createAlarm",
        "datetime",
        "debugDialog",
        "delaySensor",
        "dice",
        "executeCommand",
        "executeQuery",
        "forwardMessage",
        "getAlarmsByFilter",
        "getChildren",
        "getLatestAlarm",
        "getLatestMessages",
        "getLatestMetrics",
        "getMetadata",
        "getMetricSeries",
        "getMetricValue",
        "getObject",
        "getWeekDay",
        "hasDataSince",
        "invokeCount",
        "isBetweenTwoDates",
        "isDate",
        "isHour",
        "isMonth",
        "isParameterAvailable",
        "isParameterEqual",
        "isWeekday",
        "isWeekend",
        "iterate",
        "noDataFor",
        "objectEvent",
        "pick",
        "predict",
        "putObject",
        "queryResources",
        "script",
        "shelveAlarm",
        "stateMachine",
        "storeMessage",
        "stream",
        "template",
        "throttle",
        "updateAlarm",
        "updateMetadata",
      ]
    `)
  })
})

describe('languages and plugs', () => {
  const plug = (name: string) => builtins.find((one) => one.name === name) as Plug
  const any = fc.oneof(
    fc.constantFrom(...VALUES.map(([, value]) => value)),
    fc.double(),
    fc.string({ maxLength: 3 }),
    fc.integer({ min: -3, max: 30 }),
    fc.integer({ min: -3, max: 30 }).map(String),
  )

  const held = (condition: unknown, message: Readonly<Record<string, unknown>>): boolean | undefined => {
    try {
      const context = { streamValue: (key: string) => message[key], lookup: () => undefined, isNew: () => true }
      return compileCondition(condition).holds(readerOf(context), 0)
    } catch {
      return undefined
    }
  }

  it('agree on every comparison of a value with a number', async () => {
    await fc.assert(
      fc.asyncProperty(any, fc.constantFrom(-1, 0, 10, 21.5), async (v, limit) => {
        const number = numberIn(ofData(v))
        const expected = number === undefined ? undefined : number < limit
        expect(held(`v < ${limit}`, { v })).toBe(expected)
        expect(held({ '<': [{ var: 'v' }, limit] }, { v })).toBe(expected)
        if (typeof v === 'boolean') return
        const state = await stateOf(plug('streamingDataSensor'), { parameter: 'v', threshold: limit }, v).catch(
          () => undefined,
        )
        expect(state === undefined ? undefined : state === 'Below').toBe(expected)
      }),
      runs(300),
    )
  })

  it('agree on equality', async () => {
    await fc.assert(
      fc.asyncProperty(any, fc.constantFrom<number | string>(0, 21.5, '21.50', '0123', 'on'), async (v, wanted) => {
        const expected = isKnown(ofData(v)) ? isEqual(v, wanted) : undefined
        expect(held(`v == ${JSON.stringify(wanted)}`, { v })).toBe(expected)
        expect(held({ '==': [{ var: 'v' }, wanted] }, { v })).toBe(expected)
        const state = await stateOf(plug('isParameterEqual'), { parameter: 'v', value: wanted }, v).catch(
          () => undefined,
        )
        expect(state === undefined ? undefined : state === 'YES').toBe(expected)
      }),
      runs(300),
    )
  })
})
