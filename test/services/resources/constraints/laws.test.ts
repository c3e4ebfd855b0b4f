/** Tests that constraints, their merging and their JSON Schema agree with each other. */
import { Ajv } from 'ajv'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Attribute, AttributeType } from '../../../../src/services/resources/constraints/constraint-schema.ts'
import { checkAttributes } from '../../../../src/services/resources/constraints/enforcement.ts'
import { schemaOf } from '../../../../src/services/resources/constraints/json-schema.ts'
import { mergeAttributes, readConstraint } from '../../../../src/services/resources/constraint-service.ts'
import { RESERVED } from '../../../../src/services/resources/constraints/reserved.ts'
import { runs } from '../../../support/arbitraries/runs.ts'

const small = fc.integer({ min: 0, max: 4 })
const text = fc.constantFrom('', 'a', 'bb', 'ccc', '😀', '/resources/x', '/resources/')
const number = fc.constantFrom(-1, 0, 1, 2.5, 4)
const name = fc.constantFrom('a', 'b', 'x/y', '~')
const bounds = <K extends string>(low: K, high: K) =>
  fc
    .tuple(fc.option(small), fc.option(small))
    .filter(([from, to]) => from === null || to === null || from <= to)
    .map(([from, to]) => ({ ...(from !== null && { [low]: from }), ...(to !== null && { [high]: to }) }))

const { attributes } = fc.letrec<{ type: AttributeType; attributes: readonly Attribute[] }>((tie) => ({
  type: fc.oneof(
    { depthSize: 'small', maxDepth: 2 },
    bounds('minimum', 'maximum').map((given): AttributeType => ({ type: 'numeric', ...given })),
    bounds('minLength', 'maxLength').map((given): AttributeType => ({ type: 'string', ...given })),
    fc.constant<AttributeType>({ type: 'boolean' }),
    fc
      .uniqueArray(number, { minLength: 1 })
      .map((items): AttributeType => ({ type: 'enum', enumType: 'numeric', items })),
    fc.uniqueArray(text, { minLength: 1 }).map((items): AttributeType => ({ type: 'enum', enumType: 'string', items })),
    fc
      .uniqueArray(name, { maxLength: 1 })
      .map((keys): AttributeType => ({ type: 'resourceRef', ...(keys.length > 0 && { attributes: keys }) })),
    tie('attributes').map((inner): AttributeType => ({
      type: 'object',
      ...(inner.length > 0 && { attributes: inner }),
    })),
    fc
      .record({
        elementType: fc.option(tie('type')),
        size: bounds('minLength', 'maxLength'),
        unique: fc.boolean(),
        contains: fc.uniqueArray(fc.oneof(number, text, fc.boolean()), { maxLength: 1 }),
      })
      .map(({ elementType, size, unique, contains }): AttributeType => ({
        type: 'array',
        ...size,
        ...(elementType && { elementType }),
        ...(unique && { uniqueValues: true }),
        ...(contains.length > 0 && { contains }),
      })),
  ),
  attributes: fc.uniqueArray(fc.record({ name, required: fc.boolean(), type: tie('type') }), {
    selector: (attribute) => attribute.name,
    maxLength: 3,
  }),
}))

const scalar = fc.oneof(number, text, fc.boolean(), fc.constant(null))
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', maxDepth: 3 },
    scalar,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.oneof(name, fc.constant('$ref')), tie('value'), { maxKeys: 3, noNullPrototype: true }),
  ),
}))
const entity = fc.dictionary(name, value, { maxKeys: 4, noNullPrototype: true })

describe('constraints', () => {
  it('accept exactly the entities that their JSON Schema accepts', () => {
    const ajv = new Ajv({ strict: false })
    fc.assert(
      fc.property(attributes, entity, (constraint, each) => {
        expect(checkAttributes(constraint, each).length === 0).toBe(ajv.validate(schemaOf(constraint), each))
      }),
      runs(500),
    )
  })

  it('report the path and keyword that ajv reports', () => {
    const ajv = new Ajv({ strict: false, allErrors: true })
    const constraint: readonly Attribute[] = [
      { name: 'a', required: true, type: { type: 'string', maxLength: 1 } },
      { name: 'b', required: true, type: { type: 'array', elementType: { type: 'numeric', minimum: 2 } } },
      { name: 'c', required: true, type: { type: 'boolean' } },
    ]
    const wrong = { a: 'xx', b: [3, 1] }
    ajv.validate(schemaOf(constraint), wrong)
    const known = ajv.errors?.map(({ keyword, instancePath, params }) => {
      const missing: unknown = params['missingProperty']
      return `${instancePath}${typeof missing === 'string' ? `/${missing}` : ''} ${keyword}`
    })
    const own = checkAttributes(constraint, wrong).map(({ path, keyword }) => `${path} ${keyword}`)
    expect(own.sort()).toEqual(known?.sort())
  })

  it('merged accept what both accept, in either order', () => {
    fc.assert(
      fc.property(attributes, attributes, entity, (one, two, each) => {
        const holds = (constraint: readonly Attribute[]): boolean => checkAttributes(constraint, each).length === 0
        const both = mergeAttributes([one, two])
        const turned = mergeAttributes([two, one])
        expect(both === undefined).toBe(turned === undefined)
        if (both === undefined || turned === undefined) return
        expect(holds(both)).toBe(holds(one) && holds(two))
        expect(holds(turned)).toBe(holds(both))
      }),
      runs(500),
    )
  })

  it('merged with themselves are unchanged', () => {
    fc.assert(
      fc.property(attributes, (one) => {
        expect(mergeAttributes([one, one])).toEqual(one)
      }),
    )
  })

  it('survive a round trip', () => {
    fc.assert(
      fc.property(attributes, (one) => {
        expect(readConstraint({ name: 'c', attributes: one }, 'id')).toEqual({ id: 'id', name: 'c', attributes: one })
      }),
    )
  })

  it('of the reserved attributes are valid constraints', () => {
    expect(readConstraint({ name: 'reserved', attributes: RESERVED }, 'id').attributes).toEqual(RESERVED)
    expect(RESERVED).toHaveLength(16)
  })

  it.each<readonly [AttributeType, readonly AttributeType[]]>([
    [
      { type: 'numeric', minimum: 2 },
      [{ type: 'numeric', maximum: 1 }, { type: 'string' }, { type: 'enum', enumType: 'numeric', items: [1] }],
    ],
    [
      { type: 'string', minLength: 2 },
      [{ type: 'string', maxLength: 1 }, { type: 'numeric' }, { type: 'enum', enumType: 'string', items: ['a'] }],
    ],
    [{ type: 'boolean' }, [{ type: 'object' }, { type: 'enum', enumType: 'string', items: ['b'] }]],
    [{ type: 'enum', enumType: 'string', items: ['a'] }, [{ type: 'enum', enumType: 'string', items: ['b'] }]],
    [{ type: 'array', elementType: { type: 'string' } }, [{ type: 'array', elementType: { type: 'numeric' } }]],
    [{ type: 'resourceRef', resourceTypes: ['a'] }, [{ type: 'resourceRef', resourceTypes: ['b'] }]],
  ])('of one attribute, %j, contradict each of %j', (one, others) => {
    const attribute = (each: AttributeType): readonly Attribute[] => [{ name: 'x', required: false, type: each }]
    for (const two of others) expect(mergeAttributes([attribute(one), attribute(two)])).toBeUndefined()
  })
})
