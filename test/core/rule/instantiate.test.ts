import { describe, expect, it } from 'vitest'
import { describeIssue } from '../../../src/kernel/errors.ts'
import { instantiate } from '../../../src/core/rule/instantiate.ts'
import type { NodeOverride, TaskSettings, Template, VariableDeclaration } from '../../../src/core/rule/rule.ts'
import { validateRule, validateTemplate } from '../../../src/core/rule/validate.ts'
import { goodRule, plugs } from './sample.ts'

function template(more: Partial<Template> = {}): Template {
  const { task: _task, ...graph } = goodRule()
  const { template: valid } = validateTemplate({ ...graph, name: 'boiler.json', ...more }, plugs)
  if (valid === undefined) throw new Error('the sample is broken')
  return valid
}

const texts = (source: Template, request?: TaskSettings) =>
  instantiate(source, request).issues.map((i) => `${i.severity} ${i.type} ${describeIssue(i)}`)

describe('settings', () => {
  const defaults: TaskSettings = { type: 'periodic', frequency: 1000, parallel: false, tags: { a: 1, b: 1 } }

  it.each<[string, TaskSettings, TaskSettings]>([
    ['the defaults stand when nothing is given', {}, defaults],
    ['settings of the request win', { parallel: true }, { ...defaults, parallel: true }],
    ['tags merge by key', { tags: { b: 2 } }, { ...defaults, tags: { a: 1, b: 2 } }],
    [
      'another unit replaces the default frequency',
      { pollingInterval: 5 },
      { type: 'periodic', pollingInterval: 5, parallel: false, tags: { a: 1, b: 1 } },
    ],
    [
      'another type drops the default clock',
      { type: 'reactive' },
      { type: 'reactive', parallel: false, tags: { a: 1, b: 1 } },
    ],
    ['the same type keeps it', { type: 'periodic' }, defaults],
    ['another clock needs its own type', { cron: 'x' }, { cron: 'x', parallel: false, tags: { a: 1, b: 1 } }],
    [
      'rrule replaces cron',
      { type: 'scheduled', rrule: 'x' },
      { type: 'scheduled', rrule: 'x', parallel: false, tags: { a: 1, b: 1 } },
    ],
  ])('%s', (_name, request, task) => {
    expect(instantiate(template({ taskDefaults: defaults }), request).rule.task).toEqual(task)
  })

  it('of the rule are defaults for the task', () => {
    const { rule } = validateRule(goodRule(), plugs)
    expect(instantiate(rule ?? {}, { resource: 'boiler-1' }).rule).toEqual({
      ...goodRule(),
      task: { ...goodRule().task, resource: 'boiler-1' },
    })
  })

  it("the template's name is not a setting of the task", () => {
    expect(instantiate(template(), { template: 'boiler.json', name: 'n' } as TaskSettings).rule.task).toEqual({
      name: 'n',
    })
  })
})

describe('overrides', () => {
  const withNodes = (nodes: readonly NodeOverride[], source = template()) => instantiate(source, { nodes })
  const node = (label: string, nodes: readonly NodeOverride[]) => {
    const { rule } = withNodes(nodes)
    return [...(rule.sensors ?? []), ...(rule.actuators ?? [])].find((one) => one.label === label)
  }

  it('apply each listed field to the sensor', () => {
    const properties = {
      cost: 7,
      resource: 'r',
      evictionTime: 1,
      keepRawData: true,
      downtime: 'restart' as const,
      pollingPeriod: 2,
      pollingFixedRate: false,
      tickTrigger: false,
      dataTrigger: false,
    }
    expect(node('flip', [{ name: 'flip', properties }])).toEqual({
      label: 'flip',
      name: 'coin',
      sequence: 7,
      resource: 'r',
      evictionTime: 1,
      keepRawData: true,
      downtime: 'restart',
      pollingPeriod: 2,
      pollingFixedRate: false,
      tickTrigger: false,
      dataTrigger: false,
    })
  })

  it('merge properties by key; the last of equal keys wins', () => {
    const nodes = [
      {
        name: 'heat',
        properties: {
          sensor: {
            name: 'stream',
            version: '1.0.0',
            label: 'heat',
            requiredProperties: [{ threshold: 1 }, { mode: 'loose' }, { threshold: 2 }],
          },
        },
      },
      { name: 'heat', properties: { sensor: { requiredProperties: { mode: 'strict' } } } },
    ]
    expect(node('heat', nodes)?.properties).toEqual({ dataName: 'temperature', threshold: 2, mode: 'strict' })
  })

  it('set the version of the plug', () => {
    expect(node('flip', [{ name: 'flip', properties: { sensor: { version: '1.9.0' } } }])).toMatchObject({
      version: '1.9.0',
    })
  })

  it.each<[string, NodeOverride]>([
    [
      'through the node that fires it, by label',
      { name: 'late', properties: { actions: [{ label: 'note', requiredProperties: [{ key: 5 }] }] } },
    ],
    [
      'through the node that fires it, when it is the only one',
      { name: 'late', properties: { actions: [{ requiredProperties: [{ key: 5 }] }] } },
    ],
    [
      'through the node that fires it, by plug',
      { name: 'late', properties: { actions: [{ name: 'log', requiredProperties: [{ key: 5 }] }] } },
    ],
    ['by its own label', { name: 'note', properties: { sensor: { requiredProperties: [{ key: 5 }] } } }],
    [
      'by its own label, as an action',
      { name: 'note', properties: { actions: [{ requiredProperties: [{ key: 5 }] }] } },
    ],
  ])('apply to an actuator %s', (_name, override) => {
    expect(node('note', [override])?.properties).toMatchObject({ key: 5, message: 'it is ${nodes.heat.rawData.value}' })
  })

  it('of the template precede those of the request', () => {
    const cost = (value: number): NodeOverride[] => [
      { name: 'heat', properties: { cost: value, resource: `r${value}` } },
    ]
    const { rule } = instantiate(template({ taskDefaults: { nodes: cost(1) } }), {
      nodes: [{ name: 'heat', properties: { cost: 2 } }],
    })
    expect(rule.sensors?.[0]).toMatchObject({ sequence: 2, resource: 'r1' })
    expect(rule.task).toEqual({})
  })

  it('leave template and request unmodified', () => {
    const source = template()
    const nodes = [{ name: 'heat', properties: { cost: 3, sensor: { requiredProperties: [{ threshold: 1 }] } } }]
    const before = structuredClone({ source, nodes })
    const { rule } = withNodes(nodes, source)
    expect(rule.sensors?.[0]).toMatchObject({ sequence: 3, properties: { threshold: 1 } })
    expect({ source, nodes }).toEqual(before)
    expect(Object.isFrozen(source.sensors)).toBe(false)
  })

  it.each<[NodeOverride, string]>([
    [{ name: 'haet', properties: {} }, 'ERROR OVERRIDE /nodes/0/name: unknown node "haet"; did you mean "heat"?'],
    [
      { name: 'heat', properties: { sensor: { name: 'steam' } } },
      'ERROR OVERRIDE /nodes/0/properties/sensor/name: the node "heat" runs the plug "stream", not "steam"',
    ],
    [
      { name: 'heat', properties: { sensor: { label: 'cold' } } },
      'ERROR OVERRIDE /nodes/0/properties/sensor/label: the node "heat" has the label "heat", not "cold"',
    ],
    [
      { name: 'late', properties: { actions: [{ label: 'nte' }] } },
      'ERROR OVERRIDE /nodes/0/properties/actions/0/label: the node "late" does not fire "nte"; did you mean "note"?',
    ],
    [
      { name: 'flip', properties: { actions: [{}] } },
      'ERROR OVERRIDE /nodes/0/properties/actions/0: ambiguous: "flip" fires 0 nodes',
    ],
    [
      { name: 'note', properties: { cost: 1 } },
      'WARNING OVERRIDE /nodes/0/properties/cost: cost has no effect on the actuator "note"',
    ],
    [
      { name: 'both', properties: { resource: 'r' } },
      'WARNING OVERRIDE /nodes/0/properties/resource: resource has no effect on the relation "both"',
    ],
    [
      {
        name: 'heat',
        properties: {
          sensor: { requiredProperties: [JSON.parse('{"__proto__":{"x":1}}') as Record<string, unknown>] },
        },
      },
      'ERROR KEY /nodes/0/properties/sensor/requiredProperties/__proto__: the key "__proto__" is not allowed',
    ],
  ])('%j is reported', (override, text) => {
    const found = texts(template(), { nodes: [override] })
    expect(found).toEqual([expect.stringContaining(text)])
  })
})

describe('variables', () => {
  const declared = (...variables: VariableDeclaration[]) => template({ variables })

  it('use a default, a given value over it, and pass on an undeclared one', () => {
    const source = declared(
      { name: 'limit', type: 'double', defaultValue: 5 },
      { name: 'room', type: 'string', defaultValue: 'hall' },
    )
    const { variables, rule, issues } = instantiate(source, { variables: { room: 'attic', extra: [1] } })
    expect(issues).toEqual([])
    expect(variables).toEqual({ limit: 5, room: 'attic', extra: [1] })
    expect(rule.task?.variables).toEqual(variables)
  })

  it("without a value are reported in the platform's words if mandatory", () => {
    const { issues } = instantiate(declared({ name: 'threshold', type: 'double', mandatory: true }))
    expect(issues).toEqual([
      {
        path: '/variables/threshold',
        message: "Variable 'threshold' not found",
        suggestion: 'set variables.threshold',
        severity: 'ERROR',
        type: 'VARIABLE',
        details: { variable: 'threshold' },
      },
    ])
  })

  it('of resources without a value are missing too, and reported once', () => {
    const source = template()
    Object.assign(source.sensors?.[0] ?? {}, { resource: '$boiler' })
    Object.assign(source.sensors?.[1] ?? {}, { resource: '$boiler' })
    expect(texts(source)).toEqual([expect.stringContaining("Variable 'boiler' not found")])
    expect(texts({ ...source, variables: [{ name: 'boiler', type: 'string', mandatory: true }] })).toHaveLength(1)
    expect(texts(source, { variables: { boiler: 'b1' } })).toEqual([])
  })

  it.each<[VariableDeclaration['type'], unknown, unknown]>([
    ['double', '2.5', 2.5],
    ['integer', 3, 3],
    ['integer', 2.5, undefined],
    ['long', 'ten', undefined],
    ['boolean', 'true', true],
    ['boolean', 1, undefined],
    ['string', 5, undefined],
    ['object', { a: 1 }, { a: 1 }],
    ['object', '{"a":1}', { a: 1 }],
    ['object', 'a', undefined],
  ])('as %s convert %j to %j', (type, given, typed) => {
    const { variables, issues } = instantiate(declared({ name: 'v', type }), { variables: { v: given } })
    expect(variables['v']).toEqual(typed)
    expect(issues.map((issue) => issue.path)).toEqual(typed === undefined ? ['/variables/v'] : [])
  })

  it('as enum accept only its values', () => {
    const source = declared({ name: 'speed', type: 'integer', format: { type: 'enum', values: [1, 2] } })
    expect(texts(source, { variables: { speed: 2 } })).toEqual([])
    expect(texts(source, { variables: { speed: 3 } })).toEqual([
      expect.stringContaining('the variable "speed" is 3, not one of 1, 2'),
    ])
  })

  it('named like a prototype property are rejected', () => {
    const variables = JSON.parse('{"__proto__": {"x": 1}}') as Record<string, unknown>
    expect(texts(template(), { variables })).toEqual([expect.stringContaining('ERROR KEY /variables/__proto__')])
  })
})

describe('a complete instantiation', () => {
  it('results in a valid rule', () => {
    const { rule, issues } = instantiate(template(), {
      name: 't',
      type: 'periodic',
      frequency: 5000,
      resource: 'b',
      nodes: [{ name: 'heat', properties: { sensor: { requiredProperties: [{ threshold: 9 }] } } }],
    })
    expect(issues).toEqual([])
    expect(validateRule(rule, plugs).issues).toEqual([])
  })
})
