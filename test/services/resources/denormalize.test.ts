import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Json } from '../../../src/kernel/json.ts'
import type { ResourceEntity } from '../../../src/services/resources/contract.ts'
import { denormalize, originsOf } from '../../../src/services/resources/denormalize.ts'

const name = fc.constantFrom('id', 'parentId', 'name', 'tags', '$constraints', '$bulkOperation', 'a', 'b', 'c', '')
const value = fc.jsonValue({ maxDepth: 2 }).map((json) => json as Json)
const attributes = fc.dictionary(name, value, { noNullPrototype: true })
const resource = attributes.map((own): ResourceEntity => ({ ...own, id: 'r' }))
const KEPT_BACK = ['id', 'parentId', '$constraints', '$bulkOperation']

// Holds RESOURCE-2
describe('the shown form of a resource', () => {
  it('contains every own attribute unchanged, and the inherited ones of its type', () => {
    fc.assert(
      fc.property(resource, attributes, (own, type) => {
        const inherited = Object.keys(type).filter((key) => !KEPT_BACK.includes(key))
        const names = new Set([...Object.keys(own), ...inherited])
        const shown = denormalize(own, type)
        expect(shown).toMatchObject(own)
        expect(new Set(Object.keys(shown))).toEqual(names)
        for (const key of inherited) if (!Object.hasOwn(own, key)) expect(shown[key]).toEqual(type[key])
      }),
    )
  })

  it('is its own attributes without a type', () => {
    const own = { id: 'r', a: 1 }
    expect(denormalize(own, undefined)).toBe(own)
  })

  it('matches its origins', () => {
    fc.assert(
      fc.property(resource, attributes, (own, type) => {
        const origins = originsOf(own, { id: 't', attributes: type })
        expect(Object.fromEntries(origins.map((each) => [each.attribute, each.value]))).toEqual(denormalize(own, type))
        for (const { attribute, from } of origins) expect(from === 'resource').toBe(Object.hasOwn(own, attribute))
      }),
    )
  })

  it('reports a value of the type that a different own value hides', () => {
    const type = { id: 't', attributes: { a: 1, b: [1, { c: 2 }], parentId: 'x' } }
    expect(originsOf({ id: 'r', a: 2, b: [1, { c: 2 }], parentId: 'y' }, type)).toEqual([
      { attribute: 'a', value: 2, from: 'resource', id: 'r', hidden: 1 },
      { attribute: 'b', value: [1, { c: 2 }], from: 'resource', id: 'r' },
      { attribute: 'id', value: 'r', from: 'resource', id: 'r' },
      { attribute: 'parentId', value: 'y', from: 'resource', id: 'r' },
    ])
  })
})
