import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { builtins } from '../../plugins/index.ts'
import { type Rule } from '../../src/index.ts'
import {
  checkRule,
  fires,
  inState,
  never,
  neverMoreThan,
  readings,
  sometimes,
  type CheckOptions,
} from '../../src/testing/index.ts'
import { sensorPlug } from '../support/make-plug.ts'
import { sensor } from '../support/rule-nodes.ts'

const rule: Rule = {
  sensors: [
    { label: 'hot', name: 'streamingDataSensor', resource: '$', properties: { parameter: 't', threshold: 90 } },
    { label: 'on', name: 'condition', resource: '$', properties: { condition: { '==': [{ var: 'on' }, true] } } },
  ],
  relations: [{ label: 'both', type: 'AND', parentLabels: ['hot', 'on'], combinations: [['Above', 'True']] }],
  actuators: [{ label: 'alarm', name: 'log', properties: { message: 'hot' } }],
  triggers: [{ sourceLabel: 'both', destinationLabel: 'alarm', statesTrigger: ['TRUE'], invocationPolicy: 600 }],
  task: { resource: 'boiler' },
}
const options: CheckOptions = {
  plugs: builtins,
  metrics: { t: readings(60, 120), on: fc.boolean() },
  disturbances: [],
  numRuns: 40,
  seed: 1,
}
const holds = () => true

describe('the report of a check', () => {
  it('counts cases, firings, states, rows, and withheld firings', async () => {
    const printed: string[] = []
    const report = await checkRule(rule, holds, { ...options, print: (text) => void printed.push(text) })
    expect(report).toMatchObject({ cases: 40, seed: 1, neverMet: [] })
    expect(report.messages).toBeGreaterThan(40 * 10)
    expect(report.fired['alarm']?.share).toBeGreaterThan(0.3)
    expect(report.held).toBeGreaterThan(0)
    expect(Object.keys(report.states['hot'] ?? {})).toEqual(['Below', 'Equal', 'Above'])
    expect(report.rows['both']).toEqual({ '[Above, True]': expect.any(Number) as number })
    expect(printed).toEqual([report.toString()])
    expect(printed[0]).toMatch(/^ {2}alarm {2}fired \d+ times, in \d+ % of the cases$/m)
  })

  it('lists what no case reached, and fails if `cover` requires it', async () => {
    const cold = { ...options, metrics: { t: readings(60, 89), on: fc.boolean() } }
    const report = await checkRule(rule, holds, { ...cold, cover: false })
    expect(report.neverMet).toEqual(
      expect.arrayContaining(['hot was never Above', 'no case had the row [Above, True] of both', 'alarm never fired']),
    )
    const check = (cover: CheckOptions['cover']) =>
      checkRule(rule, holds, { ...cold, ...(cover !== undefined && { cover }) })
    await expect(check(undefined)).rejects.toThrow('nothing fired in 40 cases')
    await expect(check({ fired: { alarm: 0.2 } })).rejects.toThrow(
      'alarm fired in 0 % of the cases; cover requires 20 %',
    )
    await expect(check({ states: 'all' })).rejects.toThrow('no case had the state Above of hot; cover requires all')
    await expect(check({ rows: 'all' })).rejects.toThrow(
      'no case had the row [Above, True] of both; cover requires all',
    )
  })

  it('fails for a property that asserts nothing', async () => {
    const never5 = sometimes(inState('hot', 'Above'))
    const cold = { ...options, metrics: { t: readings(60, 89), on: fc.boolean() } }
    await expect(checkRule(rule, never5, cold)).rejects.toThrow('"hot is Above" was true in none of 40 cases')
    await expect(checkRule(rule, neverMoreThan(1, { within: '1h' }), cold)).rejects.toThrow(
      '"something fires" was true in none',
    )
  })
})

describe('an invalid check', () => {
  it.each<[string, Parameters<typeof checkRule>[1], Partial<CheckOptions>]>([
    ['a condition', never(fires('alrm')), {}],
    ['a function', (run) => run.firings('alrm').length === 0, {}],
    ['cover', holds, { cover: { fired: { alrm: 1 } } }],
  ])('reports an unknown label: in %s', async (_, property, more) => {
    const check = checkRule(rule, property, { ...options, ...more })
    await expect(check).rejects.toMatchObject({
      code: 'NOT_FOUND',
      message: expect.stringContaining('did you mean "alarm"?') as string,
    })
  })

  it('reports a state of an unknown label', async () => {
    const check = checkRule(rule, ({ moments }) => moments.every((moment) => moment.state('hott') === null), options)
    await expect(check).rejects.toThrow('the rule has no sensor or gate "hott"; did you mean "hot"?')
  })
})

describe('failing plugs', () => {
  const fragile = sensorPlug('fragile', ['Fine'], {
    execute(context) {
      if (context.streamValue('t') === 120) throw new Error('too hot for me')
      return 'Fine'
    },
  })
  const breaks: Rule = {
    ...rule,
    sensors: [{ label: 'hot', name: 'fragile', resource: '$' }],
    relations: [],
    triggers: [],
  }
  const more = { ...options, plugs: [...builtins, fragile] }

  it('fail the check, unless allowed', async () => {
    await expect(checkRule(breaks, holds, more)).rejects.toThrow(
      /hot failed at .*: too hot for me; allow it with allowErrors/,
    )
    await expect(checkRule(breaks, holds, { ...more, allowErrors: ['on'] })).rejects.toThrow('too hot for me')
    const report = await checkRule(breaks, holds, { ...more, allowErrors: ['hot'] })
    expect(report.failed['hot']).toMatchObject({ first: 'too hot for me' })
  })

  it('may fail at values that the stream disturbed', async () => {
    const report = await checkRule(rule, holds, { ...options, disturbances: ['nan', 'missing'] })
    expect(report.failed['hot']?.count).toBeGreaterThan(0)
  })
})

describe('variables and metadata of a case', () => {
  const limited: Rule = {
    ...rule,
    sensors: [sensor('hot', 'streamingDataSensor', { parameter: 't', threshold: '${variables.limit}' })],
    relations: [],
    triggers: [{ sourceLabel: 'hot', destinationLabel: 'alarm', statesTrigger: ['Above'] }],
  }
  it('are generated, and reported on failure', async () => {
    const variables = { limit: fc.integer({ min: 70, max: 110 }) }
    const seen = new Set<unknown>()
    await checkRule(limited, (run) => void seen.add(run.variables?.['limit']), { ...options, variables })
    expect(seen.size).toBeGreaterThan(10)
    await expect(checkRule(limited, (run) => run.firings().length === 0, { ...options, variables })).rejects.toThrow(
      /^variables: \{"limit":\d+\}$/m,
    )
  })
})
