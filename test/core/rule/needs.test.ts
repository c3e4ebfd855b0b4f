import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Check } from 'typebox/value'
import { describe, expect, it } from 'vitest'
import { builtins } from '../../../plugins/index.ts'
import { createRegistry } from '../../../src/core/plug/registry.ts'
import { RuleSchema } from '../../../src/core/rule/rule-schema.ts'
import { validateRule } from '../../../src/core/rule/validate.ts'
import { describeIssue } from '../../../src/kernel/errors.ts'
import { root } from '../../support/repository.ts'

const plugs = createRegistry(builtins)
const folder = join(root, 'fixtures/needs')
const names = readdirSync(folder)
const textOf = (name: string) => readFileSync(join(folder, name), 'utf8')
const issuesOf = (rule: unknown) => validateRule(rule, plugs).issues
const lines = (rule: unknown) => issuesOf(rule).map((i) => `${i.severity} ${i.type} ${describeIssue(i)}`)

/** Problems that remain until the engine runs all parts of the form. */
const NOT_YET = /^ERROR PLANNED|unknown sensor plug "aggregate"/

describe('each rule for a need', () => {
  it.each(names)('%s fits the schema, and at most its planned parts are rejected', (name) => {
    const rule: unknown = JSON.parse(textOf(name))
    expect(Check(RuleSchema, rule)).toBe(true)
    expect(lines(rule).filter((line) => !NOT_YET.test(line))).toEqual([])
  })

  it.each(names)('%s has at most 25 lines', (name) => {
    expect(textOf(name).trimEnd().split('\n').length).toBeLessThanOrEqual(25)
  })
})

describe('a COUNT or SHARE relation', () => {
  const of = (relation: object) => ({
    sensors: ['a', 'b'].map((label) => ({
      label,
      name: 'streamingDataSensor',
      resource: 'r',
      properties: { parameter: label, threshold: 5 },
    })),
    relations: [
      { label: 'g', type: 'COUNT', parentLabels: ['a', 'b'], combinations: [['Above', 'Above']], ...relation },
    ],
    task: { type: 'reactive' },
  })

  it.each([
    [{ atLeast: 1 }, []],
    [{ type: 'SHARE', atLeast: 0.5, atMost: 0.9 }, []],
    [{}, ['ERROR GATE /relations/0: COUNT relation "g" has no limit; write "atLeast": 3 or "atMost"']],
    [
      { atLeast: 1.5 },
      [
        'ERROR GATE /relations/0/atLeast: COUNT relation "g": atLeast 1.5 is not a whole number; write a whole number, such as "atLeast": 3',
      ],
    ],
    [
      { type: 'SHARE', atMost: 30 },
      [
        'ERROR GATE /relations/0/atMost: SHARE relation "g": atMost 30 is not a share from 0 to 1; write a share from 0 to 1, such as "atLeast": 0.5',
      ],
    ],
    [
      { atLeast: 2, atMost: 1 },
      ['ERROR GATE /relations/0/atMost: COUNT relation "g": atMost 1 is below atLeast 2; swap them'],
    ],
    [
      { atLeast: 5 },
      [
        'WARNING GATE /relations/0: relation "g" is FALSE whatever its parents are; omit it, or change its combinations',
      ],
    ],
    [
      { type: 'AND', atLeast: 1 },
      [
        'WARNING FIELD /relations/0/atLeast: AND relation "g": atLeast has no effect, only COUNT and SHARE have it; omit it, or make the relation COUNT',
      ],
    ],
  ])('with %j has the issues %j', (relation, expected) => {
    expect(lines(of(relation))).toEqual(expected)
  })
})

describe('inputs of a sensor', () => {
  const of = (sensor: object) => ({
    sensors: [{ label: 'a', name: 'condition', properties: { condition: 't > 1' }, ...sensor }],
    task: { type: 'reactive' },
  })
  const wrong = (sensor: object) => lines(of(sensor)).filter((line) => /GROUP|TYPE|FIELD/.test(line))

  it.each([
    [
      { group: { type: 'pump', tag: 'x' } },
      'ERROR GROUP /sensors/0/group: sensor "a": group has type and tag of type, parent, tag, query, resources, expected one; write one, such as { "type": "pump" }',
    ],
    [
      { group: { type: 'pump' }, resource: 'r' },
      'ERROR GROUP /sensors/0/resource: sensor "a" has a group and the resource "r"; omit the resource: the sensor observes each member of its group',
    ],
    [
      { resource: 'r', window: { zone: 'UTC' } },
      'ERROR GROUP /sensors/0/window: sensor "a": window has none of sliding, tumbling, session, calendar, expected one; write one, such as { "sliding": "10m" }',
    ],
    [
      { resource: 'r', hold: { t: 'long' } },
      'ERROR TYPE /sensors/0/hold/t: sensor "a": hold of "t" is "long", expected a duration; write a duration such as 2h or PT2H',
    ],
    [
      { resource: 'r', default: { t: [1] } },
      'ERROR TYPE /sensors/0/default/t: sensor "a": the default of "t" is not a number, text, true or false; write a value such as 0',
    ],
    [
      { resource: 'r', hold: { tt: '1h' } },
      'WARNING FIELD /sensors/0/hold/tt: sensor "a" does not read "tt", so hold has no effect on it; write the name of a value in its properties',
    ],
  ])('%j are reported', (sensor, expected) => {
    expect(wrong(sensor)[0]).toBe(expected)
  })
})
