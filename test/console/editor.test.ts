/** What the editor does to a rule: edits by forms, and the merge of two changed versions. */
import { describe, expect, it } from 'vitest'
import {
  changedItem,
  freshLabel,
  nodeAt,
  renamed,
  withItem,
  withoutNode,
  withParents,
} from '../../src/console/editor/rule-edits.ts'
import { fieldText, readField } from '../../src/console/words/field-text.ts'
import { differences, merged, nodesOf } from '../../src/console/editor/three-way.ts'

const RULE = {
  name: 'overheating',
  sensors: [
    { label: 'temperature', name: 'streamingDataSensor', properties: { parameter: 'temperature', threshold: 90 } },
    { label: 'pump', name: 'condition', properties: { condition: 'nodes.temperature.state == "Above"' } },
  ],
  relations: [{ label: 'hot', type: 'AND', parentLabels: ['temperature', 'pump'], combinations: [['Above', 'False']] }],
  actuators: [{ label: 'alarm', name: 'createAlarm', properties: { text: '{{temperature.data}} of temperature' } }],
  triggers: [{ sourceLabel: 'hot', destinationLabel: 'alarm', statesTrigger: ['TRUE'] }],
}

describe('edits of a rule', () => {
  it('find nodes, and free labels', () => {
    expect(nodeAt(RULE, 'hot')).toMatchObject({ list: 'relations', index: 0 })
    expect(nodeAt(RULE, 'nothing')).toBeUndefined()
    expect(freshLabel(RULE, 'alarm')).toBe('alarm_2')
    expect(freshLabel(RULE, 'log')).toBe('log')
  })

  it('add and change items, and remove fields', () => {
    const added = withItem(RULE, 'triggers', { sourceLabel: 'pump', destinationLabel: 'alarm' })
    expect(added['triggers']).toHaveLength(2)
    const changed = changedItem(RULE, 'triggers', 0, { statesTrigger: undefined, invocationPolicy: 60 })
    expect(changed['triggers']).toEqual([{ sourceLabel: 'hot', destinationLabel: 'alarm', invocationPolicy: 60 }])
  })

  it('remove a node with its triggers and columns', () => {
    expect(withoutNode(RULE, 'pump')).toMatchObject({
      relations: [{ parentLabels: ['temperature'], combinations: [['Above']] }],
      triggers: RULE.triggers,
    })
    expect(withoutNode(RULE, 'hot')).toMatchObject({ relations: [], triggers: [] })
  })

  it('rename a node in gates, triggers, placeholders and expressions, but not in other text', () => {
    const { sensors, relations, actuators } = renamed(RULE, 'temperature', 'heat') as unknown as typeof RULE
    expect(sensors[0]).toEqual({ ...RULE.sensors[0], label: 'heat' })
    expect(sensors[1]?.properties.condition).toBe('nodes.heat.state == "Above"')
    expect(relations[0]?.parentLabels).toEqual(['heat', 'pump'])
    expect(actuators[0]?.properties.text).toBe('{{heat.data}} of temperature')
  })

  it('keep the states of the parents that stay', () => {
    expect(withParents(RULE.relations[0] ?? {}, ['pump', 'door'])).toEqual({
      parentLabels: ['pump', 'door'],
      combinations: [['False', '']],
    })
  })

  it.each([
    ['90', 'double', 90],
    ['90', 'string', '90'],
    ['', 'any', undefined],
    ['true', 'any', true],
    ['pump == true', 'any', 'pump == true'],
    ['"90"', 'any', '90'],
    ['{"a":1}', 'object', { a: 1 }],
    ['${variables.limit}', 'double', '${variables.limit}'],
  ])('read the field %j of type %s as %j, and show it again', (text, type, value) => {
    expect(readField(text, type)).toEqual(value)
    expect(fieldText(value, type)).toBe(text)
  })
})

describe('two changes of one rule', () => {
  const limit = (threshold: number) =>
    changedItem(RULE, 'sensors', 0, { properties: { ...RULE.sensors[0]?.properties, threshold } })
  const pause = changedItem(RULE, 'triggers', 0, { invocationPolicy: 60 })

  it('are merged when they are about different things', () => {
    const both = merged(RULE, limit(95), pause, new Map())
    expect(both).toEqual(changedItem(limit(95), 'triggers', 0, { invocationPolicy: 60 }))
    expect(differences(RULE, limit(95), pause)).toEqual([
      { path: 'sensors / temperature / properties / threshold', base: 90, theirs: 95, yours: 90, changedBy: 'theirs' },
      {
        path: 'triggers / hot → alarm / invocationPolicy',
        base: undefined,
        theirs: undefined,
        yours: 60,
        changedBy: 'yours',
      },
    ])
  })

  it('are in conflict when they are about one thing, until a side is chosen', () => {
    const [conflict] = differences(RULE, limit(95), limit(80))
    expect(conflict).toMatchObject({ base: 90, theirs: 95, yours: 80, changedBy: 'both' })
    const path = conflict?.path ?? ''
    expect(merged(RULE, limit(95), limit(80), new Map([[path, 'yours']]))).toEqual(limit(80))
    expect(merged(RULE, limit(95), limit(80), new Map([[path, 'theirs']]))).toEqual(limit(95))
  })

  it('may add and remove nodes', () => {
    const without = withoutNode(RULE, 'pump')
    const added = withItem(RULE, 'actuators', { label: 'note', name: 'log' })
    const both = merged(RULE, without, added, new Map())
    expect(nodeAt(both, 'pump')).toBeUndefined()
    expect(nodeAt(both, 'note')).toBeDefined()
    expect([...nodesOf(differences(RULE, without, added), 'theirs').keys()]).toEqual(['pump', 'hot'])
    expect([...nodesOf(differences(RULE, without, added), 'yours').keys()]).toEqual(['note'])
  })

  it('of equal triggers stay apart', () => {
    const twice = withItem(RULE, 'triggers', RULE.triggers[0] ?? {})
    expect(merged(RULE, twice, RULE, new Map())).toEqual(twice)
  })
})
