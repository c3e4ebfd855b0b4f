import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Json } from '../../../../src/kernel/json.ts'
import type { ResourceEntity } from '../../../../src/services/resources/contract.ts'
import { wantedTasks } from '../../../../src/services/resources/managed-tasks/reconcile.ts'

const pump = { id: 'p1', resourceTypeId: 'pump' }
const typed = (templates: Json) => ({ id: 'pump', templates })
const keys = (templates: Json) => wantedTasks(pump, typed(templates)).map(({ key }) => key)

describe('the required tasks of a resource', () => {
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
  ])('are empty for a resource %s', (_what, resource, type) => {
    expect(wantedTasks(resource, type)).toEqual([])
  })

  it('keep their key when entries or settings are written in another order', () => {
    const [a, b] = [
      { templateName: 't', frequency: 1, tags: { x: 1, y: 2 } },
      { templateName: 'u', diagnosticTemplate: false },
    ]
    const turned = [{ templateName: 'u' }, { tags: { y: 2, x: 1 }, frequency: 1, templateName: 't' }]
    expect(keys([a, b]).toSorted()).toEqual(keys(turned).toSorted())
  })

  it('change their key when a setting or the type changes', () => {
    const [key] = keys([{ templateName: 't', frequency: 1 }])
    expect(keys([{ templateName: 't', frequency: 2 }])).not.toContain(key)
    const other = wantedTasks(
      { ...pump, resourceTypeId: 'b' },
      { ...typed([{ templateName: 't', frequency: 1 }]), id: 'b' },
    )
    expect(other.map((wanted) => wanted.key)).not.toContain(key)
  })

  it('are two of one template when the type names it twice, each with its own key', () => {
    expect(
      new Set(keys([{ templateName: 't' }, { templateName: 't' }, { templateName: 't', frequency: 5 }])).size,
    ).toBe(3)
  })

  it('never take name, resource or start from the entry', () => {
    const [wanted] = wantedTasks(
      pump,
      typed([{ templateName: 't', template: 'x', name: 'n', resource: 'r', start: false, parallel: false }]),
    )
    expect(wanted?.settings).toEqual({ parallel: false })
  })

  it('can be computed for any content of the type', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (templates) => {
        const all = keys(templates as Json)
        expect(new Set(all).size).toBe(all.length)
      }),
    )
  })
})
