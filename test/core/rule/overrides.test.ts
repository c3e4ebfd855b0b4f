import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Report } from '../../../src/core/rule/check/report.ts'
import { applyOverrides, mergeOverrides, overriddenAt } from '../../../src/core/rule/overrides.ts'
import type { NodeOverride, RuleGraph } from '../../../src/core/rule/rule.ts'

const graph: RuleGraph = {
  sensors: [
    { label: 'a', name: 'p', properties: { k: 0 } },
    { label: 'b', name: 'p' },
  ],
  actuators: [
    { label: 'x', name: 'q' },
    { label: 'y', name: 'q' },
  ],
  triggers: [
    { sourceLabel: 'a', destinationLabel: 'x' },
    { sourceLabel: 'a', destinationLabel: 'y' },
  ],
}

describe('mergeOverrides', () => {
  it('merges actuators by label', () => {
    const action = (label: string, value: number): NodeOverride => ({
      name: 'a',
      properties: { actions: [{ label, requiredProperties: [{ k: value }] }] },
    })
    expect(mergeOverrides([action('x', 1), action('y', 1)], [action('y', 2)])).toEqual([
      {
        name: 'a',
        properties: {
          actions: [
            { label: 'x', requiredProperties: [{ k: 1 }] },
            { label: 'y', requiredProperties: [{ k: 2 }] },
          ],
        },
      },
    ])
  })

  const properties = fc.dictionary(fc.constantFrom('k', 'l', 'm'), fc.nat(9))
  const plug = fc.record(
    {
      version: fc.constantFrom('1.0.0', '2.0.0'),
      requiredProperties: fc.oneof(properties, fc.array(properties, { maxLength: 3 })),
    },
    { requiredKeys: [] },
  )
  const lists: fc.Arbitrary<NodeOverride[]> = fc.array(
    fc.record({
      name: fc.constantFrom('a', 'b'),
      properties: fc.record(
        { cost: fc.nat(5), resource: fc.constantFrom('r', 's'), sensor: plug },
        { requiredKeys: [] },
      ),
    }),
    { maxLength: 4 },
  )

  it('has the same result as applying one list after the other', () => {
    fc.assert(
      fc.property(lists, lists, (earlier, later) => {
        const report = new Report()
        const oneByOne = applyOverrides(applyOverrides(graph, earlier, '', report), later, '', report)
        expect(applyOverrides(graph, mergeOverrides(earlier, later), '', report)).toEqual(oneByOne)
        expect(report.issues).toEqual([])
      }),
    )
  })

  it('is associative', () => {
    fc.assert(
      fc.property(lists, lists, lists, (a, b, c) => {
        expect(mergeOverrides(mergeOverrides(a, b), c)).toEqual(mergeOverrides(a, mergeOverrides(b, c)))
      }),
    )
  })
})

describe('overriddenAt', () => {
  const values = fc.record({ k: fc.nat(9), l: fc.nat(9) }, { requiredKeys: [] })
  const plug = fc.record(
    { version: fc.constantFrom('1.0.0', '2.0.0'), requiredProperties: given() },
    { requiredKeys: [] },
  )
  const action = fc
    .record({ label: fc.constantFrom('x', 'y') })
    .chain(({ label }) => plug.map((one) => ({ ...one, label })))
  const sensorOverride = fc.record({
    name: fc.constantFrom('a', 'b'),
    properties: fc.record({ cost: fc.nat(9), resource: fc.constantFrom('r', 's'), sensor: plug }, { requiredKeys: [] }),
  })
  const actions = fc.array(action, { maxLength: 3 }).map((list) => ({ name: 'a', properties: { actions: list } }))
  const actuator = fc.record({ name: fc.constantFrom('x', 'y'), properties: plug.map((sensor) => ({ sensor })) })
  const lists = fc.array(fc.oneof(sensorOverride, actions, actuator), { maxLength: 6 }) as fc.Arbitrary<NodeOverride[]>

  function given() {
    return fc.oneof(values, fc.array(values, { maxLength: 3 }))
  }

  /** every path that an override can change */
  const places = ['/sensors/0', '/sensors/1', '/actuators/0', '/actuators/1'].flatMap((node) =>
    ['sequence', 'resource', 'version', 'properties/k', 'properties/l'].map((field) => `${node}/${field}`),
  )
  const at = (root: unknown, pointer: string): unknown =>
    pointer
      .split('/')
      .slice(1)
      .reduce<unknown>((part, step) => (part as Record<string, unknown> | undefined)?.[step], root)

  it('locates the origin of each value', () => {
    fc.assert(
      fc.property(lists, (nodes) => {
        const report = new Report()
        const applied = applyOverrides(graph, nodes, '/nodes', report)
        expect(report.hasErrors).toBe(false)
        for (const place of places) {
          const from = overriddenAt(graph, nodes, '/nodes', place)
          expect([place, at(applied, place)]).toEqual([
            place,
            at(from === undefined ? graph : { nodes }, from ?? place),
          ])
        }
      }),
    )
  })

  it.each(['/relations/0', '/sensors/7/resource', '/sensors/0', '/triggers/0/sourceLabel', ''])(
    'returns nothing for %j, which overrides cannot change',
    (place) => {
      const nodes: NodeOverride[] = [{ name: 'a', properties: { resource: 'r', cost: 1 } }]
      expect(overriddenAt(graph, nodes, '/nodes', place)).toBeUndefined()
    },
  )
})
