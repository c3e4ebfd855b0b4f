import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Json } from '../../../../src/kernel/json.ts'
import type { ResourceEntity } from '../../../../src/services/resources/contract.ts'
import { wantedTasks } from '../../../../src/services/resources/managed-tasks/reconcile.ts'

const pump = { id: 'p1', resourceTypeId: 'pump' }
const typed = (templates: Json) => ({ id: 'pump', templates })
const keys = (templates: Json) => wantedTasks(pump, typed(templates)).map(({ key }) => key)

describe('the tasks that a resource should have', () => {
  it('are one for each template of its type, with the settings of the entry', () => {
    const wanted = wantedTasks(
      pump,
      typed([
        { templateName: 't', type: 'periodic', frequency: 60_000 },
        { templateName: 'u', type: 'scheduled', cron: '0 0 12 * * ?', tags: { a: 1 } },
      ]),
    )
    expect(wanted).toMatchObject([
      { resource: 'p1', type: 'pump', templateName: 't', settings: { type: 'periodic', frequency: 60_000 } },
      {
        resource: 'p1',
        type: 'pump',
        templateName: 'u',
        settings: { type: 'scheduled', cron: '0 0 12 * * ?', tags: { a: 1 } },
      },
    ])
  })

  it.each<[string, ResourceEntity | undefined, ResourceEntity | undefined]>([
    ['that does not exist', undefined, typed([{ templateName: 't' }])],
    ['without a type', { id: 'p1' }, typed([{ templateName: 't' }])],
    ['of another type', { id: 'p1', resourceTypeId: 'fan' }, typed([{ templateName: 't' }])],
    ['of a type that does not exist', pump, undefined],
    ['of a type without templates', pump, { id: 'pump' }],
    ['whose type has something else there', pump, typed('t')],
    ['whose type names templates badly', pump, typed(['t', null, {}, { templateName: '' }, { templateName: 1 }])],
    ['whose type has diagnostic templates only', pump, typed([{ templateName: 't', diagnosticTemplate: true }])],
  ])('are none for a resource %s', (_what, resource, type) => {
    expect(wantedTasks(resource, type)).toEqual([])
  })

  it('keep their key when entries are written in another order, and keys of settings too', () => {
    const [a, b] = [
      { templateName: 't', frequency: 1, tags: { x: 1, y: 2 } },
      { templateName: 'u', diagnosticTemplate: false },
    ]
    const turned = [{ templateName: 'u' }, { tags: { y: 2, x: 1 }, frequency: 1, templateName: 't' }]
    expect(keys([a, b]).toSorted()).toEqual(keys(turned).toSorted())
  })

  it('have another key when a setting changes, or the type', () => {
    const [key] = keys([{ templateName: 't', frequency: 1 }])
    expect(keys([{ templateName: 't', frequency: 2 }])).not.toContain(key)
    const other = wantedTasks(
      { ...pump, resourceTypeId: 'b' },
      { ...typed([{ templateName: 't', frequency: 1 }]), id: 'b' },
    )
    expect(other.map((wanted) => wanted.key)).not.toContain(key)
  })

  it('are two of one template when the type names it twice, each with a key of its own', () => {
    expect(
      new Set(keys([{ templateName: 't' }, { templateName: 't' }, { templateName: 't', frequency: 5 }])).size,
    ).toBe(3)
  })

  it('take neither name nor resource nor start from the entry', () => {
    const [wanted] = wantedTasks(
      pump,
      typed([{ templateName: 't', template: 'x', name: 'n', resource: 'r', start: false, parallel: false }]),
    )
    expect(wanted?.settings).toEqual({ parallel: false })
  })

  it('never fail on whatever the type holds', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (templates) => {
        const all = keys(templates as Json)
        expect(new Set(all).size).toBe(all.length)
      }),
    )
  })
})
