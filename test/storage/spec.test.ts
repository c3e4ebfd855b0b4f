import { describe, expect, it } from 'vitest'
import type { CollectionSpec } from '../../src/storage/contract.ts'
import { Problems } from '../../src/storage/problems.ts'
import { readFields, Specs, type FieldValue } from '../../src/storage/spec.ts'
import { failureOf } from '../contracts/storage/medium.ts'
import { THINGS, type Thing } from '../contracts/storage/things.ts'

function read(document: Thing): readonly FieldValue[] {
  const problems = new Problems()
  const fields = readFields(new Specs().know(THINGS), document, '/value', problems)
  problems.throwIfAny('The document')
  return fields
}

describe('the fields of a document', () => {
  it('come in the order of the specification, absent ones as undefined', () => {
    expect(read({ size: 3, status: 'on' })).toEqual([undefined, 'on', 3, undefined, undefined])
  })

  it('have texts once each, none of them being no field, and no minus zero', () => {
    expect(read({ tags: ['b', 'a', 'b'] })[3]).toEqual(['b', 'a'])
    expect(read({ tags: [] })[3]).toBeUndefined()
    expect(Object.is(read({ size: -0 })[2], 0)).toBe(true)
    expect(Object.is((read({ at: { lat: -0, lng: 0 } })[4] as { lat: number }).lat, 0)).toBe(true)
  })

  it('that cannot be read are named, with what was thrown', async () => {
    const spec: CollectionSpec<{ a: { b: string } }> = {
      name: 'deep',
      version: 1,
      fields: { b: { type: 'text', of: (d) => d.a.b } },
    }
    const problems = new Problems()
    readFields(new Specs().know(spec), {}, '/0/value', problems)
    const failure = await failureOf(() => problems.throwIfAny('The document'))
    expect(failure.message).toMatch(/\/0\/value: the field b of deep cannot be read: .*undefined/)
  })
})

describe('specifications', () => {
  it('are distinguished by version and types, not by their functions', async () => {
    const specs = new Specs()
    const known = specs.know(THINGS)
    expect(specs.know({ ...THINGS }).fields.map((field) => field.type)).toEqual(known.fields.map((field) => field.type))
    const failure = await failureOf(() => specs.know({ ...THINGS, version: 2 }))
    expect(failure.message).toMatch(/things was opened with two specifications: version 1 .* and version 2/)
  })

  it('name lists of fields that are asked about together, each 2 to 4 different ones that have an order', async () => {
    const failure = await failureOf(() =>
      new Specs().know({
        ...THINGS,
        together: [['status'], ['status', 'status'], ['status', 'tags'], ['status', 'nothing'], ['name', 'size']],
      }),
    )
    expect(failure.issues.map((issue) => issue.path)).toEqual([
      '/together/0',
      '/together/1',
      '/together/2/1',
      '/together/3/1',
    ])
  })

  it('keep no order of a text that is only looked through, so no list of fields names it', async () => {
    const note = { type: 'text', of: (thing: Thing) => thing.name, only: 'contains' } as const
    const spec = { ...THINGS, fields: { ...THINGS.fields, note } }
    expect(new Specs().know(spec).fields.map(({ unindexed }) => unindexed)).toEqual([
      false,
      false,
      false,
      true,
      false,
      true,
    ])
    const failure = await failureOf(() => new Specs().know({ ...spec, together: [['status', 'note']] }))
    expect(failure.issues.map((issue) => issue.path)).toEqual(['/together/0/1'])
    const specs = new Specs()
    specs.know(spec)
    const other = { ...THINGS.fields, note: { type: 'text', of: note.of } as const }
    expect((await failureOf(() => specs.know({ ...THINGS, fields: other }))).message).toMatch(/two specifications/)
  })

  it('that differ in those lists are two', async () => {
    const specs = new Specs()
    specs.know(THINGS)
    const failure = await failureOf(() => specs.know({ ...THINGS, together: [['status', 'size']] }))
    expect(failure.message).toMatch(/things was opened with two specifications/)
  })

  it('report everything that is wrong with one', async () => {
    const bad = {
      name: 'A',
      version: 0,
      fields: { Id: { type: 'text', of: String }, ab: { type: 'text', of: String }, AB: { type: 'text', of: String } },
    }
    const { issues } = await failureOf(() => new Specs().know(bad as unknown as CollectionSpec<Thing>))
    expect(issues.map((issue) => issue.path)).toEqual(['/name', '/version', '/fields/Id', '/fields/AB'])
  })
})
