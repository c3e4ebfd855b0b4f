import { describe, expect, it } from 'vitest'
import type { Json } from '../../../../src/kernel/json.ts'
import { notedChange } from '../../../../src/services/resources/managed-tasks/noted-change.ts'

const ref = { $ref: '/resources/m1' }
const resource = (type: string, own: Record<string, Json> = {}, oldValues?: Record<string, Json>): Json => ({
  type,
  objectType: 'resource',
  timestamp: 0,
  resource: { id: 'r', ...own },
  ...(oldValues && { oldValues }),
})
const type = (kind: string, own: Record<string, Json> = {}, oldValues?: Record<string, Json>): Json => ({
  type: kind,
  objectType: 'resourcetype',
  timestamp: 0,
  resourcetype: { id: 't', ...own },
  ...(oldValues && { oldValues }),
})
const tasks = { kind: 'resource', id: 'r', tasks: true, nodes: false }
const nodes = { kind: 'resource', id: 'r', tasks: false, nodes: true }

describe('the effect of a change on tasks', () => {
  it.each<[string, Json, unknown]>([
    ['a resource that is created with a type', resource('create', { resourceTypeId: 't' }), tasks],
    ['a resource that is created without a type', resource('create'), undefined],
    ['a resource that is discovered', resource('discovered'), undefined],
    ['a resource that goes', resource('delete'), tasks],
    ['a link', resource('update', { resourceTypeId: 't' }, { resourceTypeId: null }), { ...tasks, nodes: true }],
    ['other metadata', resource('update', { name: 'x' }, { name: null }), undefined],
    ['an added reference', resource('update', { m: ref }, { m: null }), nodes],
    ['a reference that goes', resource('update', {}, { m: ref }), nodes],
    ['a reference inside', resource('update', { m: { a: [ref] } }, { m: 1 }), nodes],
    ['a reference that stays', resource('update', { m: ref, n: 2 }, { n: 1 }), undefined],
    ['an added type', type('create'), { kind: 'type', id: 't', nodes: false }],
    [
      'other templates',
      type('update', { templates: [] }, { templates: null }),
      { kind: 'type', id: 't', nodes: false },
    ],
    ['a reference of a type', type('update', { m: ref }, { m: null }), { kind: 'type', id: 't', nodes: true }],
    ['other metadata of a type', type('update', { name: 'x' }, { name: null }), { kind: 'retry', id: 't' }],
    ['a type that goes', type('delete'), { kind: 'type', id: 't', nodes: false }],
    ['something else', { type: 'update' }, undefined],
    ['a text', 'x', undefined],
  ])('%s', (_what, body, expected) => {
    expect(notedChange(body)).toEqual(expected)
  })
})
