import { describe, expect, it } from 'vitest'
import { builtins } from '../../../plugins/index.ts'
import type { Rule } from '../../../src/index.ts'
import { cases } from '../../support/arbitraries/runs.ts'
import {
  checkRule,
  duplicatesChangeNothing,
  readings,
  resourcesAreAlike,
  sameAs,
  scaled,
  shiftedInTime,
  type CheckOptions,
  type RuleProperty,
} from '../../../src/testing/index.ts'

function rule(properties: Record<string, unknown>, sensor = 'streamingDataSensor', state = 'Above'): Rule {
  return {
    sensors: [{ label: 'hot', name: sensor, resource: '$', properties }],
    actuators: [{ label: 'alarm', name: 'log', properties: { message: 'hot' } }],
    triggers: [{ sourceLabel: 'hot', destinationLabel: 'alarm', statesTrigger: [state], invocationPolicy: 600 }],
    task: { resource: 'boiler' },
  }
}
const celsius = rule({ parameter: 't', threshold: 90 })
const fahrenheit = rule({ parameter: 't', threshold: 194 })
const held = rule({ condition: 't > 70', count: 3 }, 'holdsFor', 'Holds')
const counting: Rule = { ...held, task: { resource: 'boiler', duplicates: 'take' } }
const atNight = rule({ hour: 6 }, 'isHour', 'TRUE')
const named: Rule = { ...celsius, sensors: celsius.sensors?.map((one) => ({ ...one, resource: 'boiler' })) ?? [] }
const options: CheckOptions = {
  plugs: builtins,
  metrics: { t: readings(60, 120) },
  numRuns: 80,
  seed: 1,
  disturbances: ['late', 'gap'],
}
const toFahrenheit = (value: number) => Math.round(value * 180 + 3200) / 100

describe('relations of two runs', () => {
  it.each<[string, Rule, RuleProperty]>([
    ['a rule without a calendar, shifted', celsius, shiftedInTime('7h')],
    ['a rule with hours of the day, shifted by days', atNight, shiftedInTime('2d')],
    ['a threshold in other units', celsius, scaled({ t: toFahrenheit }, fahrenheit)],
    ['a threshold, with each message twice', celsius, duplicatesChangeNothing()],
    ['a rule for any resource', celsius, resourcesAreAlike()],
    ['a rule that is written otherwise', celsius, sameAs(rule({ condition: 't > 90' }, 'condition', 'True'))],
  ])('%s: holds', async (_, subject, property) => {
    const report = await checkRule(subject, property, { ...options, numRuns: cases(200) })
    expect(report.fired['alarm']?.count).toBeGreaterThan(0)
  })

  it.each<[string, Rule, RuleProperty, RegExp, number]>([
    ['a rule with hours of the day, shifted by hours', atNight, shiftedInTime('7h'), /shifted: /, 1],
    [
      'the same threshold in other units',
      celsius,
      scaled({ t: toFahrenheit }, celsius),
      /in other units: alarm fires at/,
      1,
    ],
    [
      'a rule that counts, with each message twice',
      counting,
      duplicatesChangeNothing(),
      /with each message twice: /,
      2,
    ],
    ['a rule for one resource', named, resourcesAreAlike(), /for other resources: nothing more fires/, 1],
    ['a rule with another threshold', celsius, sameAs(rule({ parameter: 't', threshold: 90.1 })), /t 90\.1$/m, 1],
    [
      'a rule with another cool-down',
      celsius,
      sameAs({ ...celsius, triggers: [{ sourceLabel: 'hot', destinationLabel: 'alarm', statesTrigger: ['Above'] }] }),
      /by the other rule/,
      2,
    ],
  ])('%s: fails, with the smallest stream', async (_, subject, property, text, messages) => {
    const error: unknown = await checkRule(subject, property, options).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'PROPERTY', failing: { messages: expect.any(Array) as unknown } })
    const { message, failing } = error as { message: string; failing: { messages: unknown[] } }
    expect(message).toMatch(text)
    expect(failing.messages).toHaveLength(messages)
  })

  it('rejects a shift of 0', () => {
    expect(() => shiftedInTime(0)).toThrow('use a duration such as 7d')
  })
})
