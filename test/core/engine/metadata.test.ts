/** Tests `META.$.<key>` in every property: metadata of the node's resource, or of the task's when the node has none. */
import { describe, expect, it } from 'vitest'
import { createBuiltins } from '../../../plugins/index.ts'
import type { NodeView } from '../../../src/core/engine/api.ts'
import type { Sensor } from '../../../src/core/rule/rule.ts'
import { createEngine, VirtualClock } from '../../../src/index.ts'
import { sensorPlug } from '../../support/make-plug.ts'
import { node } from '../../support/rule-nodes.ts'

const METADATA: Readonly<Record<string, Record<string, unknown>>> = {
  own: {
    name: 'of own',
    limit: 1,
    wait: 'PT1S',
    parent: { $ref: '/resources/parent%201' },
    items: [{ id: 1 }],
    deep: { a: 1 },
  },
  task: { name: 'of task', limit: 2, wait: 'PT2S', parent: 'parent 2', items: [{ id: 1 }, { id: 2 }], deep: { a: 2 } },
}

const seen: { readonly node: string; readonly properties: Readonly<Record<string, unknown>> }[] = []
const keeps = sensorPlug('keeps', ['Done'], {
  input: {
    text: { type: 'string' },
    number: { type: 'double' },
    object: { type: 'object' },
    list: { type: 'array' },
    wait: { type: 'string', format: { type: 'duration' } },
    resource: { type: 'string', format: { type: 'resource' } },
    template: { type: 'string', format: { type: 'template' } },
    part: { type: 'string' },
  },
  execute({ node, properties }) {
    seen.push({ node: node.NAME, properties })
    return 'Done'
  },
})

async function shown(sensors: readonly Sensor[]): Promise<readonly NodeView[]> {
  seen.length = 0
  const clock = new VirtualClock(0)
  const engine = createEngine({
    plugs: [...createBuiltins(), keeps],
    scheduler: clock,
    ports: { metadata: (resource) => METADATA[resource] },
  })
  const task = await engine.start({ sensors: [...sensors] }, { resource: 'task' })
  clock.advanceTo(0)
  for (const resource of ['own', 'task']) {
    engine.receive({ resource, t: 1, META: 'mine' })
    await engine.settled()
  }
  const views = task.nodes()
  await engine.close()
  return views
}

describe('META.$ in properties', () => {
  const properties = {
    text: 'META.$.name',
    number: 'META.$.limit',
    object: { inner: ['META.$.name'] },
    list: ['META.$.limit'],
    wait: 'META.$.wait',
    resource: 'META.$.parent',
    template: 'at {{META.$.name}}',
    part: 'not META.$.name',
  }

  it.each([
    ['own', 'own', 'of own', 1, 'PT1S', 'parent 1'],
    ['$', 'task', 'of task', 2, 'PT2S', 'parent 2'],
  ])('refers to the resource %s, for any property', async (resource, _, name, limit, wait, parent) => {
    await shown([{ label: 's', name: 'keeps', resource, properties }])
    expect(seen[0]?.properties).toEqual({
      text: name,
      number: limit,
      object: { inner: [name] },
      list: [limit],
      wait,
      resource: parent,
      template: `at ${name}`,
      part: 'not META.$.name',
    })
  })

  it("refers to the task's for a node without a resource", async () => {
    const clock = { pollingPeriod: 1000 }
    await shown([
      { label: 's', name: 'keeps', properties: { text: 'META.$.name', template: '{{META.$.name}}' }, ...clock },
    ])
    expect(seen[0]?.properties).toEqual({ text: 'of task', template: 'of task' })
  })

  it.each<[string, Record<string, unknown>]>([
    ['condition', { condition: 'META.$.limit == 1 && META.$.deep.a == 1' }],
    ['condition', { condition: { '==': [{ var: 'META.$.limit' }, 1] } }],
    ['condition', { condition: 'let limit = META.$.limit; return limit == 1 && META.$.deep.a == 1' }],
  ])('is equal in code: %s %j', async (name, given) => {
    const both = ['own', '$'].map((resource) => ({ label: resource, name, resource, properties: given }))
    const views = await shown(both)
    expect(views.map(({ mostLikelyState }) => mostLikelyState?.state)).toEqual(['True', 'False'])
  })

  it.each<[string, Record<string, unknown>]>([
    ['transformer', { transformer: '{ v: META.$.limit, a: META.$.deep.a }' }],
    ['script', { script: 'return { v: META.$.limit, a: META.$.deep.a }' }],
    ['script', { script: '(options) => ({ v: ${node.resource.meta.limit}, a: META.$.deep["a"] })' }],
  ])('is equal in code: %s %j', async (name, given) => {
    const both = ['own', '$'].map((resource) => ({ label: resource, name, resource, properties: given }))
    const views = await shown(both)
    expect(views.map(({ rawData }) => rawData)).toEqual([
      { v: 1, a: 1 },
      { v: 2, a: 2 },
    ])
  })

  it('does not hide a message value called META, or a name of a script', async () => {
    const views = await shown([
      { label: 'a', name: 'transformer', resource: 'own', properties: { transformer: '{ v: META }' } },
      node(
        'b',
        'script',
        { script: 'const META = { $: { limit: 9 } }; return { v: META.$.limit }' },
        { resource: 'own' },
      ),
    ])
    expect(views.map(({ rawData }) => rawData)).toEqual([{ v: 'mine' }, { v: 9 }])
  })

  it('can supply the items of a loop', async () => {
    await shown([
      { label: 's', name: 'keeps', resource: '$', properties: { number: '${loop.id}' }, loopDef: 'META.$.items' },
    ])
    expect(seen.map(({ properties: { number } }) => number)).toEqual([1, 2])
  })

  it('without a key in code is rejected', async () => {
    await expect(
      shown([{ label: 's', name: 'condition', resource: '$', properties: { condition: 'META.$ == 1' } }]),
    ).rejects.toThrow('does not name a metadata key')
  })
})
