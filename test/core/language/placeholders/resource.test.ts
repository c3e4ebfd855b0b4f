import { describe, expect, it } from 'vitest'
import {
  parseResource,
  resolveResource,
  type ResourceScope,
} from '../../../../src/core/language/placeholders/resource.ts'
import { messageOf } from '../../../../src/kernel/errors.ts'
import { thrown } from './thrown.ts'

const variables = new Map<string, unknown>([
  ['room', 'room-7'],
  ['taskId', 'a variable of that name'],
  ['ref', { $ref: '/resources/r%201' }],
  ['number', 5],
  ['empty', ''],
])
const metadata = {
  parent: { $ref: '/resources/building%2F1' },
  api: { $ref: '/api/resources/b2' },
  plain: 'b3',
  'main room': 'b4',
  nested: { child: 'b5' },
  broken: { $ref: '/resources/%zz' },
  other: { $ref: 'https://example.org/resources/b6' },
  flag: true,
}
const scope: ResourceScope = {
  taskId: 'task-1',
  taskResource: 'boiler-1',
  variable: (name) => variables.get(name),
  metadata: () => metadata,
}

describe('a resource', () => {
  it.each([
    ['pump 1', 'pump 1'],
    ['a$b', 'a$b'],
    ['META', 'META'],
    ['$', 'boiler-1'],
    ['$taskId', 'task-1'],
    ['$room', 'room-7'],
    ['$ref', 'r 1'],
    ['META.$.parent', 'building/1'],
    ['META.$.api', 'b2'],
    ['META.$.plain', 'b3'],
    ['META.$.main room', 'b4'],
    ['META.$.nested.child', 'b5'],
    ['${task.RESOURCE}', 'boiler-1'],
    ['${task.RESOURCE}/valve-${variables.number}', 'boiler-1/valve-5'],
    ['${variables.number}', '5'],
    ['${variables.ref}', 'r 1'],
    ['x${?variables.none}', 'x'],
    ['${task.resource.meta.plain}-${task.TASK_ID}', 'b3-task-1'],
  ])('%s resolves to %s', (text, id) => {
    expect(resolveResource(parseResource(text), scope)).toBe(id)
  })

  it.each([
    ['$nope', /"\$nope" stands for the variable "nope".*set variables.nope/],
    ['$number', /"\$number" is 5, which is not a resource id/],
    ['$empty', /is not a resource id/],
    ['META.$.nope', /"META.\$.nope" is not in the metadata.*which has parent, api/],
    ['META.$.broken', /percent-encoded/],
    ['META.$.other', /is not a resource id; it should be a resource id/],
    ['META.$.flag', /is true, which is not a resource id/],
    ['META.$.plain.length', /is not in the metadata/],
    ['${variables.nope}', /variable "nope" has no value/],
    ['${?variables.nope}', /results in an empty id/],
  ])('%s that cannot be resolved is an error with the reason', (text, message) => {
    const error = thrown(() => resolveResource(parseResource(text), scope))
    expect(error).toMatchObject({ code: 'RESOLUTION' })
    expect(messageOf(error)).toMatch(message)
  })

  it.each(['$', 'META.$.plain', '${task.RESOURCE}', '${task.resource.meta.plain}'])(
    '%s requires a task resource',
    (text) => {
      const bare: ResourceScope = { taskId: 't', variable: () => undefined, metadata: () => undefined }
      expect(thrown(() => resolveResource(parseResource(text), bare))).toMatchObject({ code: 'RESOLUTION' })
    },
  )

  it.each([
    ['', 1],
    ['  ', 1],
    ['$__proto__', 1],
    ['META.$.', 1],
    ['META.$.a.constructor', 1],
    ['${nodes.a.state} ${streamdata.x} ${task.NODE_NAME}', 3],
    ['${task.RESOURCE', 1],
    ['${vault.K}', 1],
    ['${loop.x}', 1],
  ])('"%s" can never be resolved and is rejected with %i problems', (text, count) => {
    const error = thrown(() => parseResource(text))
    expect(error).toMatchObject({ code: 'VALIDATION' })
    expect((error as { issues: unknown[] }).issues).toHaveLength(count)
  })

  it('lists the bindings of a text', () => {
    expect(parseResource('a-${variables.x}')).toEqual({
      kind: 'text',
      text: 'a-${variables.x}',
      bindings: [{ text: '${variables.x}', root: 'variables', segments: ['x'], optional: false, pointer: '' }],
    })
  })
})
