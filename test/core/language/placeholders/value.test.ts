import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compileValue } from '../../../../src/core/language/placeholders/value.ts'
import { AppError, messageOf } from '../../../../src/kernel/errors.ts'
import { fakeScope } from './fake-scope.ts'
import { thrown } from './thrown.ts'
import { growth } from '../../../support/cpu-time.ts'
import { runs } from '../../../support/arbitraries/runs.ts'

const scope = fakeScope({
  nodes: {
    dice: { value: 5, items: [{ t: 1 }, { t: 2 }], state: 'ONE', collectedTime: 1000, nothing: null, text: 'hi' },
    'my node': { x: 1 },
    unsure: { value: 1 },
  },
  stream: { temperature: 21.5, gps: { lat: 50 }, evil: '${task.TASK_ID} {{dice.value}}' },
  variables: { limit: 90 },
  secrets: { KEY: 's3cret' },
  metadata: { city: 'Gent', location: { lat: 51 } },
  taskResource: 'boiler-1',
  loop: { id: 7 },
})

describe('a value with placeholders', () => {
  it.each<[string, unknown]>([
    ['${streamdata.temperature}', 21.5],
    ['${nodes.dice.rawData.items}', [{ t: 1 }, { t: 2 }]],
    ['${nodes.dice.rawData.items[1].t}', 2],
    ['${nodes.dice.rawData.items.1.t}', 2],
    ['${nodes.dice.rawData.items.length}', 2],
    ['${nodes["my node"].rawData.x}', 1],
    ['${nodes.dice.rawData.nothing}', null],
    ['${nodes.dice.collectedTime}', 1000],
    ['"${nodes.dice.state}" == "ONE"', '"ONE" == "ONE"'],
    ['$${nodes.dice.state} == "ONE"', '"ONE" == "ONE"'],
    ['$${nodes.dice.rawData.items}.length', '[{"t":1},{"t":2}].length'],
    ['$${nodes.dice.state}', '"ONE"'],
    ['$$${variables.limit}', '$90'],
    ['items: ${nodes.dice.rawData.items}', 'items: [{"t":1},{"t":2}]'],
    ['${nodes.dice.rawData.nothing}!', 'null!'],
    ['${?nodes.unsure.state}', undefined],
    ['<${?nodes.unsure.state}>', '<>'],
    ['$${?nodes.unsure.state} !== ""', ' !== ""'],
    ['$${?nodes.unsure.state}', ''],
    ['${task.TASK_ID}/${task.RESOURCE}/${task.NODE_NAME}/${node.NAME}', 'task-1/boiler-1/node-1/node-1'],
    ['${node.RESOURCE}', 'boiler-1'],
    ['${task.resource.meta.location.lat}', 51],
    ['${node.resource.meta.city}', 'Gent'],
    ['${vault.KEY}', 's3cret'],
    ['${loop.id}', 7],
    ['${loop}', { id: 7 }],
    ['META.$.city', 'Gent'],
    ['META.$.location.lat', 51],
    ['META.$.nope', undefined],
    ['\\${task.TASK_ID}', '${task.TASK_ID}'],
    ['\\$${task.TASK_ID}', '$${task.TASK_ID}'],
    ['\\\\${task.TASK_ID}', '\\task-1'],
    ['costs $5 {x}', 'costs $5 {x}'],
    ['', ''],
  ])('%s becomes %j', (text, expected) => {
    expect(compileValue(text).evaluate(scope)).toEqual(expected)
  })

  it('is filled in inside lists and objects, but not in keys', () => {
    const value = {
      '${x}': ['${loop.id}', { deep: 'n${loop.id}' }],
      missing: '${?loop.no}',
      list: ['${?loop.no}'],
      n: 1,
    }
    expect(compileValue(value).evaluate(scope)).toEqual({ '${x}': [7, { deep: 'n7' }], list: [null], n: 1 })
  })

  it('is constant and unmodified when it has none', () => {
    const value = { a: [1, { b: 'text' }], c: null }
    const compiled = compileValue(value)
    expect(compiled.constant).toBe(true)
    expect(compiled.evaluate(scope)).toBe(value)
  })

  it('is constant when it has only escapes', () => {
    const compiled = compileValue({ a: ['\\${x}'] })
    expect(compiled).toMatchObject({ constant: true })
    expect(compiled.evaluate(scope)).toEqual({ a: ['${x}'] })
  })

  it('does not expand inserted text', () => {
    expect(compileValue('a ${streamdata.evil}').evaluate(scope)).toBe('a ${task.TASK_ID} {{dice.value}}')
    expect(compileValue('${streamdata.evil}', { template: true }).evaluate(scope)).toBe(
      '${task.TASK_ID} {{dice.value}}',
    )
    const template = compileValue('{{GLOBAL.evil}}${streamdata.evil}', { template: true })
    expect(template.evaluate(scope)).toBe('${task.TASK_ID} {{dice.value}}${task.TASK_ID} {{dice.value}}')
  })

  it.each([
    ['${nodes.dice.rawData.valeu}', /node "dice" has no "valeu"; it has value, items.*did you mean "value"/],
    ['${nodes.other.rawData.x}', /node "other" has no result yet/],
    ['${nodes.unsure.state}', /is unknown/],
    ['${nodes.dice.rawData.text.length}', /node "dice".text is a string and has no "length"/],
    ['${nodes.dice.rawData.items[9]}', /is a list of 2/],
    ['${streamdata.humidity}', /no current message has the value "humidity"/],
    ['${streamdata.gps.lon}', /streamdata.gps has no "lon"/],
    ['${variables.limits}', /variable "limits" has no value/],
    ['${vault.NOPE}', /secret "NOPE" does not exist/],
    ['${task.resource.meta.town}', /the metadata has no "town"; it has city, location/],
    ['${nodes.dice.rawData.toString}', /has no "toString"/],
  ])('%s without a value is an error that lists the available values', (text, message) => {
    const error = thrown(() => compileValue({ p: text }).evaluate(scope))
    expect(error).toMatchObject({ code: 'BINDING' })
    expect(messageOf(error)).toMatch(message)
    expect((error as AppError).issues).toMatchObject([{ path: '/p', type: 'BINDING' }])
  })

  it('does not list nodes without a value as available', () => {
    const withGap = fakeScope({ nodes: { dice: { gap: undefined, value: 3 } } })
    const error = thrown(() => compileValue('${nodes.dice.rawData.none}').evaluate(withGap))
    expect(messageOf(error)).toContain('node "dice" has no "none"; it has value;')
  })

  it('reads the resource of the node, and that of the task if the node has none', () => {
    const read = (resources: Parameters<typeof fakeScope>[0]) =>
      compileValue('${?node.RESOURCE}').evaluate(fakeScope(resources))
    expect(read({ nodeResource: 'pump-1', taskResource: 'boiler-1' })).toBe('pump-1')
    expect(read({ taskResource: 'boiler-1' })).toBe('boiler-1')
    expect(read({})).toBeUndefined()
    expect(messageOf(thrown(() => compileValue('${node.RESOURCE}').evaluate(fakeScope())))).toMatch(
      /neither the node nor the task has a resource/,
    )
  })

  it('reports all invalid placeholders at once', () => {
    const error = thrown(() => compileValue({ a: '${', b: ['${foo.x} ${streamdata}'], constructor: 1 }))
    expect((error as AppError).issues.map((issue) => issue.path).toSorted()).toEqual([
      '/a',
      '/b/0',
      '/b/0',
      '/constructor',
    ])
  })

  it('is rejected when it nests too deeply', () => {
    let value: unknown = 'x'
    for (let i = 0; i < 5000; i++) value = [value]
    expect(thrown(() => compileValue(value))).toMatchObject({ code: 'BINDING' })
  })

  it('that cannot be written as JSON is a coded error', () => {
    const circle: Record<string, unknown> = {}
    circle.self = circle
    const compiled = compileValue('x ${nodes.c.rawData}')
    expect(thrown(() => compiled.evaluate(fakeScope({ nodes: { c: circle } })))).toMatchObject({ code: 'BINDING' })
  })

  const fragments = fc.constantFrom(
    '${',
    '$${',
    '${?',
    '}',
    '{{',
    '{{{',
    '}}',
    '}}}',
    '{{#each ',
    '{{/each}}',
    '{{#if ',
    '{{/if}}',
    '{{else}}',
    '\\',
    '"',
    "'",
    'nodes.dice.rawData.',
    'streamdata.',
    'task.',
    'toString',
    '__proto__',
    'constructor',
    'value',
    '[0]',
    '["',
    '"]',
    '.',
    ' ',
    'this',
    '@index',
    'add',
    'date',
    'META.$.',
    'GLOBAL.',
    'loop',
    '1',
  )
  const texts = fc.oneof(
    fc.string(),
    fc.array(fragments, { maxLength: 14 }).map((parts) => parts.join('')),
  )

  it('throws only coded errors for any text', () => {
    fc.assert(
      fc.property(texts, fc.boolean(), (text, template) => {
        try {
          compileValue([text], { template }).evaluate(scope)
        } catch (error) {
          expect(error).toBeInstanceOf(AppError)
        }
      }),
      runs(2000),
    )
  })

  it('never reaches a prototype', () => {
    const names = fc.constantFrom(
      'toString',
      'valueOf',
      'hasOwnProperty',
      'length',
      'map',
      'call',
      'name',
      '__proto__',
      'constructor',
    )
    const start = fc.constantFrom(
      'nodes.dice.rawData',
      'nodes.dice.rawData.text',
      'streamdata.temperature',
      'loop',
      'variables',
    )
    fc.assert(
      fc.property(start, fc.array(names, { minLength: 1, maxLength: 4 }), (root, steps) => {
        const text = `\${?${[root, ...steps].join('.')}}`
        let value: unknown
        try {
          value = compileValue(text).evaluate(scope)
        } catch (error) {
          expect(error).toMatchObject({ code: 'BINDING' })
        }
        expect(value).toBeUndefined()
      }),
    )
  })

  it('leaves text without placeholders as it is', () => {
    const plain = fc.string().filter((text) => !/\$\{|\{\{|^META\.\$\./.test(text))
    fc.assert(
      fc.property(plain, (text) => {
        expect(compileValue(text, { template: true }).evaluate(scope)).toBe(text)
      }),
    )
  })

  it.each(['${', '${a["', '${a[\'${a["', '\\', '\\\\${', '{{', '{{#each a}}', '{{a "', '${a[${'])(
    'of only %s takes time proportional to its length',
    (unit) => {
      const compile = (count: number) => {
        try {
          compileValue(unit.repeat(count), { template: true })
        } catch (error) {
          expect(error).toBeInstanceOf(AppError)
        }
      }
      expect(growth(compile, 5000, 10)).toBeLessThan(40)
    },
  )
})
