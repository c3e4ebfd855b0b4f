/** Tests the notes of `check` about rules that an evaluation per answer decided differently. */
import { describe, expect, it } from 'vitest'
import { builtins } from '../../../../plugins/index.ts'
import { createRegistry } from '../../../../src/core/plug/registry.ts'
import type { Relation, Rule, Sensor, TaskSettings, Trigger } from '../../../../src/core/rule/rule.ts'
import { validateRule } from '../../../../src/core/rule/validate.ts'

const plugs = createRegistry(builtins)
const sensor = (label: string, more: Partial<Sensor> = {}): Sensor => ({
  label,
  name: 'streamingDataSensor',
  resource: '$',
  properties: { parameter: label, threshold: 0 },
  ...more,
})
const reader = (label: string, read: string, more: Partial<Sensor> = {}): Sensor =>
  sensor(label, { name: 'condition', properties: { condition: `nodes.${read}.rawData.value > 0` }, ...more })
const gate = (type: Relation['type']): Relation => ({
  label: 'g',
  type,
  parentLabels: ['a', 'b'],
  combinations: [['Above', 'Above']],
})
const fires = (more: Partial<Trigger> = {}): Trigger => ({ sourceLabel: 'g', destinationLabel: 'note', ...more })
const rule = (parts: Rule, task: TaskSettings = {}): Rule => ({
  sensors: [sensor('a'), sensor('b')],
  actuators: [{ label: 'note', name: 'log', properties: { message: 'x' } }],
  ...parts,
  task: { type: 'reactive', ...task },
})
const found = (tested: Rule) =>
  validateRule(tested, plugs, { evaluation: true })
    .issues.filter(({ type }) => type === 'EVALUATION')
    .map(({ severity, path, message }) => `${severity} ${path}: ${message}`)

describe('a warning', () => {
  it.each<[string, Rule, string]>([
    [
      'for several sensors of one message behind one destination',
      rule({ triggers: [fires({ sourceLabel: 'a' }), fires({ sourceLabel: 'b' })] }),
      'INFO /triggers/0: "note" follows "a", "b", which a single input may run: it fires at most once for that input, after all of them have finished, and not for each result',
    ],
    [
      'for a relation that one of several sensors decides',
      rule({ relations: [gate('OR')], triggers: [fires({ statesTrigger: ['TRUE'] })] }),
      'INFO /triggers/0: "note" follows "a", "b"',
    ],
    [
      'for a relation whose sensors keep their states',
      rule({ relations: [gate('AND')], triggers: [fires({ statesTrigger: ['TRUE'] })] }, { resetObservations: false }),
      'INFO /triggers/0: "note" follows "a", "b"',
    ],
    [
      'for a read against the declared order',
      rule({ sensors: [reader('a', 'b'), sensor('b')], triggers: [fires({ sourceLabel: 'a' })] }),
      'INFO /sensors/0: sensor "a" reads "b", declared after it: it runs after the nodes that it reads',
    ],
    [
      'for a cool-down on a change of state',
      rule({
        triggers: [
          fires({
            sourceLabel: 'a',
            invocationPolicy: 60,
            stateChangeTrigger: { stateFrom: 'Below', stateTo: 'Above' },
          }),
        ],
      }),
      'INFO /triggers/0/invocationPolicy: trigger "a" -> "note": a change during the cool-down is lost',
    ],
  ])('is reported %s', (_, tested, text) => {
    const issues = found(tested)
    expect(issues, JSON.stringify(issues)).toHaveLength(1)
    expect(issues[0]?.startsWith(text), issues[0]).toBe(true)
    expect(validateRule(tested, plugs).issues.filter(({ type }) => type === 'EVALUATION')).toEqual([])
  })
})

describe('no warning', () => {
  it.each<[string, Rule]>([
    ['with one sensor behind each destination', rule({ triggers: [fires({ sourceLabel: 'a' })] })],
    [
      'whose relation needs the answers of all its sensors, which each input forgets',
      rule({ relations: [gate('AND')], triggers: [fires({ statesTrigger: ['TRUE'] })] }),
    ],
    [
      'that looks for a change of what each input decides once',
      rule({
        relations: [gate('OR')],
        triggers: [fires({ stateChangeTrigger: { stateFrom: 'FALSE', stateTo: 'TRUE' } })],
      }),
    ],
    [
      'whose sensors no input shares',
      rule({
        sensors: [sensor('a'), sensor('b', { resource: 'q' })],
        relations: [gate('OR')],
        triggers: [fires({ statesTrigger: ['TRUE'] })],
      }),
    ],
    [
      'that reads in the declared order',
      rule({ sensors: [sensor('b'), reader('a', 'b')], triggers: [fires({ sourceLabel: 'a' })] }),
    ],
    [
      'that reads across sequences',
      rule({ sensors: [reader('a', 'b'), sensor('b', { sequence: 2 })], triggers: [fires({ sourceLabel: 'a' })] }),
    ],
    [
      'with a cool-down on a state',
      rule({ triggers: [fires({ sourceLabel: 'a', statesTrigger: ['Above'], invocationPolicy: 60 })] }),
    ],
  ])('is reported for a rule %s', (_, tested) => {
    expect(found(tested)).toEqual([])
  })
})
