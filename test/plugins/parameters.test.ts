import { describe, expect, it } from 'vitest'
import { createBuiltins } from '../../plugins/index.ts'
import { namesRead } from '../../src/core/language/expression/names-read.ts'
import type { Plug, PlugContext } from '../../src/core/plug/plug.ts'
import { finishProperties } from '../../src/core/plug/properties.ts'
import { AppError } from '../../src/kernel/errors.ts'
import { plugServices } from '../support/plug-services.ts'
import { plugContext } from '../support/plug-context.ts'

const services = plugServices()
const sensors = createBuiltins({ services }).filter(({ kind }) => kind === 'sensor')
const named = sensors.map((plug) => [plug.name, plug] as const)

const place = { latitude: 51, longitude: 3 }

/** Properties besides the examples, for each way in which a plug can read a value of the message. */
const MORE: Readonly<Record<string, readonly Record<string, unknown>[]>> = {
  streamingDataSensor: [{ parameter: 'a', threshold: 'b' }],
  isParameterEqual: [
    { parameter: 'a.b', value: 1 },
    { node: 'n', parameter: 'a', value: 1 },
  ],
  condition: [{ condition: 'a > 1 || b > 2' }, { condition: { '>': [{ var: 'a' }, { var: 'b' }] } }],
  transformer: [{ transformer: '{ sum: a + b }' }, { transformer: 'const x = a; return { x }' }],
  windowStats: [{ value: 'a - b', samples: 3 }],
  changedBy: [{ value: 'a - b', by: 1 }],
  hysteresis: [{ value: 'a - b', enter: 2, leave: 1 }],
  holdsFor: [{ condition: 'a > b', count: 2 }],
  Function: [
    { formula: '<GLOBAL.a> + <avg(5, minutes, GLOBAL.b)> + <GLOBAL.c>[-1] + ${streamdata.d}', threshold: 1 },
    { formula: 'distance(GLOBAL, n)', threshold: 1 },
    { formula: 'a * 2', threshold: 1 },
  ],
  composite: [
    {
      sensor: 'streamingDataSensor',
      propertyList: [
        { parameter: 'a', threshold: 1 },
        { parameter: 'b', threshold: 'c' },
      ],
    },
    { sensor: 'condition', propertyList: [{ condition: 'a > 1' }] },
    { sensor: 'invokeCount', propertyList: [{}] },
  ],
}

/** A message with a number under every name, and the names that were read. */
function watched(properties: Readonly<Record<string, unknown>>, prepared: unknown) {
  const asked = new Set<string>()
  const base = plugContext({ nodes: { n: place }, nodeResource: 'r', taskResource: 'r' }, properties, prepared, [])
  const streamValue = (key: string): number => {
    asked.add(key)
    return 21
  }
  const all = new Proxy<Record<string, unknown>>(
    {},
    {
      get: (_, key) => streamValue(String(key)),
      ownKeys: () => {
        asked.add('the message as a whole')
        return []
      },
    },
  )
  const context: PlugContext = {
    ...base,
    streamValue,
    streamTime: (key = 'the time of any message') => {
      asked.add(key)
      return 0
    },
    isNew: (key) => {
      asked.add(key)
      return true
    },
    streamData: all,
    rawData: { ...base.rawData, GLOBAL: all },
    lookup: (path) => (path[0] === 'streamdata' ? streamValue(path[1] ?? '') : base.lookup(path)),
  }
  return { context, asked }
}

async function call(plug: Plug, given: Record<string, unknown>): Promise<readonly string[]> {
  const { properties, problems } = finishProperties(plug, given)
  if (properties === undefined) throw new Error(problems.map(({ message }) => message).join())
  const { context, asked } = watched(properties, plug.prepare?.(properties))
  try {
    await plug.execute(context)
  } catch (error) {
    // reads before a failure count as well
    if (!(error instanceof AppError)) throw error
  }
  // every message may have a timestamp
  return [...asked].filter((name) => name !== 'timestamp').toSorted()
}

describe('the message values that a built-in sensor reads', () => {
  it.each(named)('are declared by %s', (_, plug) => {
    expect(plug.parameters).toBeDefined()
  })

  it.each(named)('are declared correctly by %s, for any parameter name', async (name, plug) => {
    const examples = Object.fromEntries(Object.entries(plug.input).map(([key, field]) => [key, field.example]))
    for (const properties of [examples, ...(MORE[name] ?? [])]) {
      const names = namesRead(plug, properties)
      const asked = await call(plug, properties)
      expect(asked.filter((one) => names?.includes(one) === false)).toEqual([])
    }
  })

  it.each([
    ['streamingDataSensor', { parameter: 'a', threshold: 'b' }, ['a', 'b']],
    ['streamingDataSensor', { parameter: 'a', threshold: '5' }, ['a']],
    ['streamingRangeSensor', { parameter: 'a', target: 1, range: 1 }, ['a']],
    ['isParameterEqual', { parameter: 'a.b', value: 1 }, ['a.b', 'a']],
    ['isParameterEqual', { node: 'n', parameter: 'a', value: 1 }, []],
    ['windowStats', { value: 'a - b', samples: 3 }, ['a', 'b']],
    ['changedBy', { value: 'a', by: 1 }, ['a']],
    ['hysteresis', { value: 'a', enter: 2, leave: 1 }, ['a']],
    ['holdsFor', { condition: 'a > b', count: 2 }, ['a', 'b']],
    ['condition', { condition: { '>': [{ var: 'a' }, 1] } }, ['a']],
    ['transformer', { transformer: 'const x = a; return { x }' }, ['a']],
    ['Function', { formula: '<GLOBAL.a> + <n.b> + <avg(5, minutes, GLOBAL.c)>', threshold: 1 }, ['a', 'c']],
    ['Function', { formula: 'distance(GLOBAL, n)', threshold: 1 }, ['latitude', 'lat', 'longitude', 'lon', 'lng']],
    [
      'composite',
      {
        sensor: 'windowStats',
        propertyList: [
          { value: 'a', samples: 2 },
          { value: 'b', samples: 2 },
        ],
      },
      ['a', 'b'],
    ],
    ['dice', {}, []],
    ['inRange', { value: 1, lowerLimit: 0, upperLimit: 2 }, []],
    ['getMetricValue', { metric: 'a' }, []],
  ])('%s with %j names %j', (name, properties, expected) => {
    const plug = sensors.find((one) => one.name === name)
    expect(plug && namesRead(plug, properties)).toEqual(expected)
  })

  it.each([
    ['stream', {}],
    ['script', { script: '(options) => ({ a: options.streamData.a })' }],
    ['getLatestMetrics', {}],
    ['invokeCount', {}],
    ['noDataFor', { duration: '1m', parameter: 'a' }],
    ['isParameterAvailable', { parameter: 'a' }],
    ['composite', { sensor: 'invokeCount', propertyList: [{}] }],
  ])('of %s with %j cannot be read, or a missing value was not declared before', (name, properties) => {
    const plug = sensors.find((one) => one.name === name)
    expect(plug && namesRead(plug, properties)).toBeUndefined()
  })
})
