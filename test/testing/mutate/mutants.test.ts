import { describe, expect, it } from 'vitest'
import { builtins } from '../../../plugins/index.ts'
import { createRegistry, validateRule, type Rule, type Template } from '../../../src/index.ts'
import { mutantsOf, mutateRule, neverMoreThan, readings } from '../../../src/testing/index.ts'
import { sensor } from '../../support/rule-nodes.ts'

const registry = createRegistry(builtins)
const rule: Rule = {
  sensors: [
    sensor('hot', 'inRange', { value: '${streamdata.t}', lowerLimit: 50, upperLimit: 90 }, { evictionTime: 5000 }),
    sensor('open', 'condition', { condition: { and: [{ var: 'door' }, { '>': [{ var: 't' }, 1] }] } }),
    { label: 'stays', name: 'holdsFor', resource: '$', properties: { condition: 't > 1', duration: '5m' } },
  ],
  relations: [
    {
      label: 'both',
      type: 'GENERAL',
      parentLabels: ['hot', 'open'],
      combinations: [
        ['Above', 'True'],
        ['Below', 'True'],
      ],
    },
  ],
  actuators: [
    { label: 'a', name: 'log', properties: { message: '{{RESOURCE}} is hot', level: 'WARN' } },
    { label: 'b', name: 'log', properties: { message: 'b' } },
  ],
  triggers: [
    { sourceLabel: 'both', destinationLabel: 'a', statesTrigger: ['TRUE'], invocationPolicy: 60 },
    { sourceLabel: 'both', destinationLabel: 'b', statesTrigger: ['FALSE'] },
    { sourceLabel: 'stays', destinationLabel: 'b', stateChangeTrigger: { stateFrom: 'Pending', stateTo: 'Holds' } },
  ],
  task: { type: 'scheduled', cron: '0 0 3 * * ?', timeZone: 'Europe/Brussels', resource: 'r', misfire: 'once' },
}
const template: Template = {
  name: 'limit',
  variables: [{ name: 'limit', type: 'double', defaultValue: 90 }],
  sensors: [
    sensor(
      'hot',
      'streamingDataSensor',
      { parameter: 't', threshold: '${variables.limit}' },
      { pollingPeriod: 60_000 },
    ),
  ],
  actuators: [{ label: 'a', name: 'log', properties: { message: 'a' } }],
  triggers: [{ sourceLabel: 'hot', destinationLabel: 'a', statesTrigger: ['Above', 'Equal'] }],
  taskDefaults: { type: 'periodic', frequency: 30_000 },
}

describe('mutantsOf', () => {
  const mutants = mutantsOf(rule, registry)
  it.each([
    'sensors/hot/properties/upperLimit: 90 -> 91',
    'sensors/hot/properties/upperLimit: 90 -> 81',
    'sensors/hot/evictionTime: removed',
    'sensors/hot/evictionTime: 5000 -> 10000',
    'sensors/hot/evictionTime: 5000 -> 5',
    'sensors/open/evictionTime: none -> 60000',
    'sensors/hot/resource: $ -> another',
    'sensors/hot/tickTrigger: false',
    'sensors/hot/dataTrigger: false',
    'sensors/open/properties/condition: and -> or',
    'sensors/open/properties/condition/and/0/var: "door" -> "door_x"',
    'sensors/open/properties/condition/and/0/var: "door" -> "t"',
    'sensors/open/properties/condition/and/1: > -> >=',
    'sensors/open/properties/condition/and/1: > -> <',
    'sensors/stays/properties/condition: "t > 1" -> "t >= 1"',
    'sensors/stays/properties/condition: "t > 1" -> "t > 2"',
    'sensors/stays/properties/duration: "5m" -> "6m"',
    'sensors/stays/properties/duration: "5m" -> "5s"',
    'relations/both: removed',
    'relations/both/combinations: and In Range, True',
    'relations/both/combinations/0/0: Above -> In Range',
    'relations/both/combinations/1: removed (Below, True)',
    'relations/both/parentLabels: without open',
    'triggers/both -> a: removed',
    'triggers/both -> a/destinationLabel: a -> b',
    'triggers/both -> a/invocationPolicy: removed',
    'triggers/both -> a/invocationPolicy: 60 -> 59',
    'triggers/both -> a/invocationPolicy: 60 -> 60000',
    'triggers/both -> a/invocationPolicy: 60 -> 1',
    'triggers/both -> a/sourceLabel: both -> open, True',
    'actuators/a/properties/message: "{{RESOURCE}} is hot" -> "{{RESOURCE_x}} is hot"',
    'actuators/a/properties/level: "WARN" -> "DEBUG"',
    'actuators/b: removed',
    'triggers/both -> a/statesTrigger: TRUE -> FALSE',
    'triggers/both -> a/statesTrigger: and FALSE',
    'triggers/stays -> b/invocationPolicy: none -> 600',
    'triggers/stays -> b/stateChangeTrigger: only the state',
    'triggers/stays -> b/stateChangeTrigger: reversed',
    'task/resetObservations: true -> false',
    'task/gatesNeedFullObservation: false -> true',
    'task/timeZone: Europe/Brussels -> Pacific/Auckland',
    'task/timeZone: removed',
    'task/cron: 0 0 3 * * ? -> 0 0 4 * * ?',
    'task/dst: times that do not exist are skipped',
    'task/misfire: removed',
  ])('contains %s', (name) => {
    expect(mutants.map((one) => one.name)).toContain(name)
  })

  it.each([
    'variables/limit/defaultValue: 90 -> 91',
    'variables/limit/overrideByStream: false -> true',
    'sensors/hot/properties/threshold: "${variables.limit}" -> 90',
    'sensors/hot/pollingPeriod: 60000 -> 60',
    'triggers/hot -> a/statesTrigger: without Equal',
    'task/frequency: 30000 -> 60000',
  ])('of a template contains %s', (name) => {
    expect(mutantsOf(template, registry).map((one) => one.name)).toContain(name)
  })

  it('contains no duplicates, no copy of the rule, and no invalid rule', () => {
    const texts = mutants.map((one) => JSON.stringify(one.rule))
    expect(new Set(texts).size).toBe(texts.length)
    expect(texts).not.toContain(JSON.stringify(rule))
    for (const mutant of mutants) expect(validateRule(mutant.rule, registry).rule, mutant.name).toBeDefined()
  })
})

describe('mutateRule', () => {
  it('rejects a rule that violates its own properties', async () => {
    const hot: Rule = { ...rule, task: { resource: 'r' } }
    const check = mutateRule(hot, (run) => run.firings('b').length === 0, {
      plugs: builtins,
      numRuns: 300,
      seed: 1,
      metrics: { t: readings(0, 100) },
      cover: false,
      allowErrors: true,
    })
    await expect(check).rejects.toMatchObject({ code: 'PROPERTY' })
  })
  it('reports which properties killed mutants, and which mutants survive', async () => {
    const simple: Rule = {
      sensors: [sensor('s', 'streamingDataSensor', { parameter: 't', threshold: 90 })],
      actuators: [{ label: 'a', name: 'log', properties: { message: 'a' } }],
      triggers: [{ sourceLabel: 's', destinationLabel: 'a', statesTrigger: ['Above'], invocationPolicy: 600 }],
      task: { resource: 'r' },
    }
    const { killed, survived } = await mutateRule(simple, neverMoreThan(1, { within: '10m', node: 'a' }), {
      plugs: builtins,
      numRuns: 6,
      seed: 1,
      metrics: { t: readings(0, 100) },
    })
    expect(killed).toContainEqual({
      name: 'triggers/s -> a/invocationPolicy: removed',
      by: expect.stringContaining('a fires at most once within 10 min') as string,
    })
    expect(survived).toContain('sensors/s/properties/threshold: 90 -> 91')
  })
  it('distinguishes surviving mutants from equivalent ones', async () => {
    const simple: Rule = {
      sensors: [sensor('s', 'streamingDataSensor', { parameter: 't', threshold: 90 })],
      actuators: [{ label: 'a', name: 'log', properties: { message: 'a' } }],
      triggers: [{ sourceLabel: 's', destinationLabel: 'a', statesTrigger: ['Above'] }],
      task: { resource: 'r' },
    }
    const mutation = await mutateRule(simple, () => true, {
      plugs: builtins,
      numRuns: 10,
      seed: 1,
      cover: false,
      metrics: { t: readings(0, 80) },
    })
    expect(mutation.alike).toContain('sensors/s/properties/threshold: 90 -> 91')
    expect(mutation.survived).toContain('triggers/s -> a/statesTrigger: Above -> Below')
    expect(mutation.toString()).toMatch(
      /^ {2}acts as the rule in all cases: sensors\/s\/properties\/threshold: 90 -> 91$/m,
    )
  })
})
