import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Json } from '../../../../src/kernel/json.ts'
import { fillMetadata, planCall } from '../../../../src/services/resources/commands/plan-call.ts'

const actuator = { name: 'valve', version: '1.0.0', properties: { speed: 1, to: '{{ip}}', who: 'default' } }
const PUMP = {
  id: 'p1',
  ip: '10.0.0.7',
  commands: [{ open: { actuator } }, { close: { actuator: { name: 'valve' } } }, { odd: { actuator: {} } }, 'x'],
}

describe('the call of a command', () => {
  it('has the mapped actuator, with the fields of the command over its properties', () => {
    expect(planCall('p1', PUMP, { name: 'open', timestamp: 5, who: 'me at {{ip}}', more: [1] })).toEqual({
      name: 'valve',
      version: '1.0.0',
      properties: { speed: 1, to: '10.0.0.7', who: 'me at 10.0.0.7', more: [1] },
    })
  })

  it('has the latest version when none is mapped', () => {
    expect(planCall('p1', PUMP, { name: 'close' })).toEqual({ name: 'valve', version: 'latest', properties: {} })
  })

  it('has neither name nor time nor resource as properties', () => {
    const call = planCall('p1', PUMP, { name: 'close', timestamp: 5, resource: 'p1' })
    expect(call).toMatchObject({ properties: {} })
  })

  it.each([
    ['the resource does not exist', undefined, 'open', "Resource 'p1' not found"],
    ['the command does not exist', PUMP, 'explode', "Command 'explode' not found for resource 'p1'"],
    ['a command of a prototype is requested', PUMP, 'constructor', "Command 'constructor' not found for resource 'p1'"],
    ['the resource has no commands', { id: 'p1' }, 'open', "Command 'open' not found for resource 'p1'"],
    ['no actuator is named', PUMP, 'odd', "Command 'odd' of resource 'p1' lacks an actuator"],
  ])('is not possible when %s', (_what, resource, name, errorMessage) => {
    expect(planCall('p1', resource, { name })).toEqual({ errorMessage })
  })
})

const METADATA: Record<string, Json> = {
  id: 'p1',
  limit: 5,
  on: true,
  none: null,
  place: { city: 'Ghent', at: { lat: 51 } },
  'a.b': 'dotted',
  a: { b: 'nested' },
  list: [1, 2],
}

describe('placeholders of a command', () => {
  it.each<[string, Json, Json]>([
    ['a text without any', 'plain', 'plain'],
    ['a single one becomes the value itself', '{{limit}}', 5],
    ['also an object', '{{place}}', { city: 'Ghent', at: { lat: 51 } }],
    ['also a list', '{{list}}', [1, 2]],
    ['also true', '{{on}}', true],
    ['space around the key does not count', '{{ limit }}', 5],
    ['within a text it is text', 'at {{limit}} bar', 'at 5 bar'],
    ['an object within a text is JSON', 'x{{list}}', 'x[1,2]'],
    ['two of them are text', '{{limit}}{{on}}', '5true'],
    ['dots lead into objects', '{{place.at.lat}}', 51],
    ['a key with dots takes precedence', '{{a.b}}', 'dotted'],
    ['what does not exist is empty', '{{nothing}}', ''],
    ['what does not exist is empty within a text', '<{{nothing.at.all}}>', '<>'],
    ['null is empty', '<{{none}}>', '<>'],
    ['prototypes are not there', '{{constructor}}{{place.__proto__}}{{list.length}}', '2'],
    ['an open one is text', 'a {{limit', 'a {{limit'],
    ['braces alone are text', 'a }} b {{', 'a }} b {{'],
    ['objects and lists are filled inside', { a: ['{{limit}}', { b: '{{id}}' }] }, { a: [5, { b: 'p1' }] }],
    ['numbers stay', 7, 7],
    ['null stays', null, null],
  ])('%s', (_what, value, expected) => {
    expect(fillMetadata(value, METADATA)).toEqual(expected)
  })

  it('are not replaced recursively', () => {
    expect(fillMetadata('{{x}} {{x}}', { x: '{{y}}', y: 'no' })).toBe('{{y}} {{y}}')
  })

  it('accept any value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.dictionary(fc.string(), fc.jsonValue()), (value, metadata) => {
        fillMetadata(value as Json, metadata as Record<string, Json>)
      }),
    )
  })

  it('of a long text take time linear in its length', () => {
    const text = '{{'.repeat(200_000)
    expect(fillMetadata(text, {})).toBe(text)
  })
})
