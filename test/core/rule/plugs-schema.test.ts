import { readdirSync } from 'node:fs'
import { Ajv } from 'ajv'
import { describe, expect, it } from 'vitest'
import { builtins } from '../../../plugins/index.ts'
import { createRegistry } from '../../../src/core/plug/registry.ts'
import { plugsSchema } from '../../../src/core/rule/plugs-schema.ts'
import { validateRule } from '../../../src/core/rule/validate.ts'
import { definePlug } from '../../../src/index.ts'
import { readText } from '../../support/repository.ts'

const valve = definePlug({
  name: 'valve',
  version: '1.0.0',
  kind: 'sensor',
  states: ['Open'],
  input: { mode: { type: 'enum', values: ['fast', 'slow'], mandatory: true } },
  execute: () => 'Open',
})
const check = new Ajv({
  strict: true,
  strictTypes: false,
  strictRequired: false,
  allowUnionTypes: true,
  allErrors: true,
}).compile(plugsSchema([...builtins, valve]))
const sensor = (name: string, properties?: object, more: object = {}) => ({
  sensors: [{ label: 'a', name, resource: '$', ...(properties && { properties }), ...more }],
})
const hot = sensor('streamingDataSensor', { parameter: 't', threshold: 9 })
const fixtures = ['rules', 'needs'].flatMap((folder) =>
  readdirSync(`fixtures/${folder}`)
    .filter((name) => name.endsWith('.json'))
    .map((name) => `fixtures/${folder}/${name}`)
    // plugs whose form is defined already
    .filter((path) => !readText(path).includes('"aggregate"') || builtins.some(({ name }) => name === 'aggregate')),
)

describe('the schema of rules with all plugs', () => {
  it('may be named by a rule', () => {
    expect(validateRule({ $schema: './rules.schema.json', ...hot }, createRegistry(builtins)).issues).toEqual([])
  })

  it.each(fixtures)('accepts %s', (path) => {
    check(JSON.parse(readText(path)))
    expect(check.errors).toBeNull()
  })

  it.each<[string, object]>([
    ['a schema of its own', { $schema: './rules.schema.json', ...hot }],
    ['a placeholder for a number', sensor('hysteresis', { value: 'v', enter: '${variables.on}', leave: '75' })],
    [
      'a placeholder for a choice',
      { ...hot, actuators: [{ label: 'b', name: 'log', properties: { message: 'x', level: '${variables.level}' } }] },
    ],
    ['a choice of an own plug', sensor('valve', { mode: 'fast' })],
    ['a template', { name: 'x', variables: [{ name: 'limit', type: 'double' }], ...hot }],
    ['null for an optional property', sensor('windowStats', { value: 'v', samples: null, duration: '5m' })],
  ])('accepts %s', (_, rule) => {
    check(rule)
    expect(check.errors).toBeNull()
  })

  it.each<[string, object]>([
    ['no sensors', { actuators: [] }],
    ['an unknown plug', sensor('streamingDatSensor', {})],
    ['an actuator as sensor', sensor('log', { message: 'x' })],
    ['a missing property', sensor('streamingDataSensor', { parameter: 't' })],
    ['missing properties', sensor('streamingDataSensor')],
    ['a misspelt property', sensor('streamingDataSensor', { parameter: 't', threshold: 9, treshold: 8 })],
    ['a text for a number', sensor('hysteresis', { value: 'v', enter: 'high', leave: 75 })],
    ['a text that only looks like a number', sensor('hysteresis', { value: 'v', enter: '0x10', leave: 75 })],
    ['a fraction for a whole number', sensor('windowStats', { value: 'v', samples: 1.5 })],
    ['a wrong choice', sensor('windowStats', { value: 'v', samples: 5, statistic: 'median' })],
    ['a wrong choice of an own plug', sensor('valve', { mode: 'medium' })],
    ['an invalid duration', sensor('holdsFor', { condition: 'x', duration: '5 minutes' })],
    ['a number for a duration', sensor('holdsFor', { condition: 'x', duration: 300 })],
    ['a list for a text', sensor('noDataFor', { duration: '5m', parameter: ['t'] })],
    ['a text for a truth', sensor('alwaysON', {}, { dataTrigger: 'yes' })],
    ['a misspelt field of a node', sensor('alwaysON', {}, { evictionTimes: 5 })],
    ['a misspelt field of a rule', { ...hot, trigger: [] }],
    ['an empty label', { sensors: [{ label: '', name: 'alwaysON' }] }],
    [
      'an unknown type of a relation',
      { ...hot, relations: [{ label: 'r', type: 'XOR', parentLabels: ['a'], combinations: [['x']] }] },
    ],
    [
      'a relation without parents',
      { ...hot, relations: [{ label: 'r', type: 'AND', parentLabels: [], combinations: [['x']] }] },
    ],
    ['a trigger without destination', { ...hot, triggers: [{ sourceLabel: 'a' }] }],
    ['a negative cool-down', { ...hot, triggers: [{ sourceLabel: 'a', destinationLabel: 'b', invocationPolicy: -1 }] }],
    ['an unknown type of a task', { ...hot, task: { type: 'sometimes' } }],
    ['a template with a wrong variable', { name: 'x', variables: [{ name: 'limit', type: 'number' }], ...hot }],
  ])('rejects %s', (_, rule) => {
    expect(check(rule)).toBe(false)
  })
})
