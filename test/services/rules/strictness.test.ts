/**
 * Tests properties that a plug does not declare: an error in strict requests, otherwise a warning, wherever a rule is
 * submitted.
 */
import { afterEach, beforeEach, expect, it } from 'vitest'
import { pluck } from '../support/answer.ts'
import { bench, type Bench } from './support/bench-of-rules.ts'
import { GRAPH, ruleOf, templateOf } from './support/rules.ts'

let rules: Bench
beforeEach(async () => {
  rules = await bench()
  await rules.api.tasks.create(ruleOf())
  await rules.api.templates.create(templateOf('fine'))
})
afterEach(() => rules.close())

const sensors = GRAPH.sensors.map((sensor) => ({ ...sensor, properties: { limit: 90, limt: 80 }, colour: 'red' }))
const made = { template: 'fine', name: 'watch', type: 'reactive', resource: 'boiler-1' }
const override = { name: 'hot', colour: 'red', properties: { sensor: { requiredProperties: { limt: 80 } } } }
const heat = { name: 'heat', version: '1.0.0', label: 'hot', requiredProperties: [{ limit: 90 }, { limt: 80 }] }
const node = { name: 'hot', states: ['COLD', 'HOT'], colour: 'red', properties: { resource: '$', sensor: heat } }
const UNKNOWN = { type: 'UNKNOWN_PROPERTY', suggestion: 'did you mean "limit"?' }

it.each<[string, object, string]>([
  ['POST /api/tasks', { ...ruleOf(), sensors }, '/sensors/0/properties/limt'],
  ['PUT /api/tasks/t1', { ...ruleOf(), sensors }, '/sensors/0/properties/limt'],
  ['POST /api/tasks', { ...made, nodes: [override] }, '/nodes/0/properties/sensor/requiredProperties/limt'],
  ['POST /api/templates', templateOf('new', { sensors }), '/sensors/0/properties/limt'],
  [
    'POST /api/templates',
    { name: 'new', nodes: [node], posterior: [] },
    '/nodes/0/properties/sensor/requiredProperties/1/limt',
  ],
  ['PUT /api/templates/fine', templateOf('fine', { sensors }), '/sensors/0/properties/limt'],
])('%s, case %#, is rejected when strict, and causes a warning otherwise', async (ask, body, path) => {
  const [method = '', url = ''] = ask.split(' ')
  const stored = async () => [
    (await rules.ask('GET', '/api/tasks')).text,
    (await rules.ask('GET', '/api/templates')).text,
  ]
  const before = await stored()
  const strict = await rules.ask(method, `${url}?strict=true`, body)
  expect(strict.status).toBe(400)
  expect(strict.at('details')).toContainEqual(expect.objectContaining({ ...UNKNOWN, severity: 'ERROR', path }))
  expect((await rules.ask(method, `${url}?failOnWarning=true`, body)).status).toBe(400)
  expect(await stored()).toEqual(before)
  const taken = await rules.ask(method, url, body)
  expect(taken.status).toBe(method === 'PUT' ? 200 : 201)
  expect(taken.at('warnings')).toMatchObject([{ ...UNKNOWN, severity: 'WARNING', path }])
})

it('all warnings are returned if requested, and only those of properties rejected by strict', async () => {
  const odd = sensors.map((sensor) => ({ ...sensor, properties: { limit: 90 } }))
  expect((await rules.ask('POST', '/api/tasks?strict=true', { ...ruleOf(), sensors: odd })).status).toBe(201)
  const told = await rules.ask('POST', '/api/templates?returnWarnings=true', templateOf('odd', { sensors }))
  expect(pluck(told.at('warnings'), 'type')).toEqual(['FIELD', 'UNKNOWN_PROPERTY'])
  const all = 'returnWarnings=true&failOnWarning=true&strict=true'
  const noted = await rules.ask('POST', `/api/templates?${all}`, templateOf('plain'))
  expect([noted.status, noted.at('warnings')]).toEqual([201, []])
})
