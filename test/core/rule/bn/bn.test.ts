import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import tables from '../../../../fixtures/bn/truth-tables.json' with { type: 'json' }
import twoDice from '../../../../fixtures/bn/two-dice.json' with { type: 'json' }
import { definePlug } from '../../../../src/core/plug/define.ts'
import { createRegistry } from '../../../../src/core/plug/registry.ts'
import type { BnGraph } from '../../../../src/core/rule/bn/bn-graph.ts'
import { fromBn } from '../../../../src/core/rule/bn/from-bn.ts'
import { toBn } from '../../../../src/core/rule/bn/to-bn.ts'
import type { Actuator, Relation, RelationType, RuleGraph, Sensor, Trigger } from '../../../../src/core/rule/rule.ts'
import { validateRule, validateTemplate } from '../../../../src/core/rule/validate.ts'
import { goodRule, plugs as samplePlugs } from '../sample.ts'
import { runs } from '../../../support/arbitraries/runs.ts'

const plug = (name: string, states: readonly string[], version = '1.0.1') =>
  definePlug({ name, version, kind: 'sensor', states, execute: () => undefined })

const dice = createRegistry([plug('dice', ['ONE', 'TWO'])])

/** A fixture table as a rule in both forms; every parent has a separate plug. */
function forms(table: (typeof tables)[number]) {
  const parents = table.parents.filter((parent) => !('gate' in parent))
  const upper = table.parents.find((parent) => 'gate' in parent)
  const registry = createRegistry(parents.map(({ label, states }) => plug(label, states)))
  const sensors: Sensor[] = parents.map(({ label }) => ({ label, name: label }))
  const gateOver: Relation[] = upper
    ? [
        {
          label: upper.label,
          type: 'AND',
          parentLabels: [parents[0]?.label ?? ''],
          combinations: [[parents[0]?.states[0] ?? '']],
        },
      ]
    : []
  const relation: Relation = {
    label: 'it',
    type: table.type as RelationType,
    parentLabels: table.parents.map(({ label }) => label),
    combinations: table.combinations,
  }
  return { rule: { sensors, relations: [...gateOver, relation] }, relation, registry }
}

describe('tables recorded from the platform', () => {
  it.each(tables)('$name: write', (table) => {
    const { rule, registry } = forms(table)
    const { bn, issues } = toBn(rule, registry)
    expect(issues).toEqual([])
    expect(bn?.posterior.at(-1)).toEqual({
      nodes: ['it', ...table.parents.map(({ label }) => label)],
      function: table.function,
    })
  })

  it.each(tables)('$name: read', (table) => {
    const { rule, registry, relation } = forms(table)
    const bn = toBn(rule, registry).bn as BnGraph
    const renamed = {
      ...bn,
      nodes: bn.nodes.map((node) => (node.name === 'it' ? { ...node, states: table.gateStates } : node)),
    }
    const { graph, issues } = fromBn({
      ...renamed,
      posterior: [...bn.posterior.slice(0, -1), { nodes: ['it', ...relation.parentLabels], function: table.function }],
    })
    expect(issues).toEqual([])
    expect(graph?.relations?.at(-1)).toEqual(relation)
  })
})

describe('a whole rule', () => {
  const simplified = twoDice.simplified as unknown as RuleGraph
  const bn = twoDice.bn as unknown as BnGraph

  it("is written in the platform's form", () => {
    expect(toBn(simplified, dice)).toEqual({ bn, issues: [] })
  })

  it('is read back unchanged', () => {
    expect(fromBn(bn)).toMatchObject({ graph: simplified, issues: [] })
  })

  it('in bn form validates like the simplified one', () => {
    const { task, ...graph } = goodRule()
    const written = toBn(goodRule() as RuleGraph, samplePlugs).bn
    expect(validateRule({ name: 'n', ...written, task }, samplePlugs)).toEqual({ rule: { ...graph, task }, issues: [] })
    expect(validateTemplate({ name: 'n', ...written }, samplePlugs)).toEqual({
      template: { ...graph, name: 'n' },
      issues: [],
    })
  })

  it('in bn form has its problems located in that form', () => {
    const input = structuredClone(toBn(goodRule() as RuleGraph, samplePlugs).bn) as unknown as Record<string, never>
    const at = (path: string) =>
      path
        .split('/')
        .slice(1)
        .reduce<Record<string, unknown>>((holder, step) => holder[step] as Record<string, unknown>, input)
    Object.assign(at('/nodes/0/properties/sensor'), { name: 'steam' })
    Object.assign(at('/nodes/1/properties'), { timeout: 'soon' })
    Object.assign(at('/nodes/2/properties/sensor/requiredProperties/0'), { duration: 'later' })
    Object.assign(at('/nodes/4/properties/actions/0'), { version: '9.9.9', triggeredStates: ['Up'] })
    const { issues } = validateRule(input, samplePlugs)
    expect(issues.map(({ path }) => path).toSorted()).toEqual([
      '/nodes/0/properties/sensor/name',
      '/nodes/1/properties/timeout',
      '/nodes/2/properties/sensor/requiredProperties/0/duration',
      '/nodes/4/properties/actions/0',
      '/nodes/4/properties/actions/0/version',
    ])
  })
})

describe('reading', () => {
  const node = (name: string, properties: BnGraph['nodes'][number]['properties'] = { sensor: { name: 'dice' } }) => ({
    name,
    states: ['ONE', 'TWO'],
    properties,
  })
  const gate = (name: string, states = ['TRUE', 'FALSE'], properties = {}) => ({ name, states, properties })
  const bn = (...functions: number[]): BnGraph => ({
    nodes: [node('a'), node('b'), gate('g')],
    posterior: [{ nodes: ['g', 'a', 'b'], function: functions }],
  })
  const messages = (graph: unknown) =>
    fromBn(graph as BnGraph).issues.map(({ type, path, message }) => `${type} ${path} ${message}`)

  it.each<[string, number[], string]>([
    [
      'fractions',
      [0, 0, 0, 0.3, 1, 1, 1, 0.7],
      'TABLE /posterior/0/function/3 the table of "g" has the probability 0.3',
    ],
    [
      'the wrong length',
      [0, 0, 1, 1],
      'TABLE /posterior/0/function the table of "g" has 4 numbers, expected 8 (2 x 2 x 2)',
    ],
    [
      'halves that agree',
      [0, 0, 0, 1, 1, 1, 1, 1],
      'TABLE /posterior/0/function/7 the table of "g" has the same probability for both states, 1',
    ],
  ])('a table with %s is rejected', (_name, functions, message) => {
    expect(fromBn(bn(...functions)).graph).toBeUndefined()
    expect(messages(bn(...functions))).toEqual([message])
  })

  it.each<[string, unknown, string]>([
    [
      'an unknown parent',
      { nodes: [node('a'), gate('g')], posterior: [{ nodes: ['g', 'x'], function: [1, 0] }] },
      'LABEL /posterior/0/nodes/1 the table of "g" names an unknown node "x"',
    ],
    [
      'a node without sensor and table',
      { nodes: [node('a'), gate('g')], posterior: [] },
      'TABLE /nodes/1 the node "g" is neither a sensor nor a relation',
    ],
    [
      'a sensor with a table',
      { nodes: [node('a'), node('b')], posterior: [{ nodes: ['b', 'a'], function: [1, 0, 0, 1] }] },
      'TABLE /posterior/0 the sensor "b" has a table',
    ],
    [
      'a gate of three states',
      { nodes: [node('a'), gate('g', ['A', 'B', 'C'])], posterior: [{ nodes: ['g', 'a'], function: [1, 0, 0, 1] }] },
      'TABLE /posterior/0 the relation "g" has 3 states, expected two',
    ],
    [
      'two tables',
      {
        nodes: [node('a'), gate('g')],
        posterior: [
          { nodes: ['g', 'a'], function: [1, 0, 0, 1] },
          { nodes: ['g', 'a'], function: [1, 0, 0, 1] },
        ],
      },
      'TABLE /posterior/1 the node "g" has two tables',
    ],
    ['a broken shape', { nodes: [{ name: 'a' }], posterior: [] }, 'TYPE /nodes/0/states node "a" has no "states"'],
  ])('%s is rejected', (_name, graph, message) => {
    expect(messages(graph)).toEqual([message])
  })

  it.each<[string, number[], Partial<Relation>]>([
    ['one TRUE row is AND', [0, 1, 0, 0], { type: 'AND', combinations: [['ONE', 'TWO']] }],
    [
      'one FALSE row of two-state parents is OR of the other states',
      [0, 1, 1, 1],
      { type: 'OR', combinations: [['TWO', 'TWO']] },
    ],
    [
      'anything else lists its TRUE rows',
      [1, 0, 0, 1],
      {
        type: 'GENERAL',
        combinations: [
          ['ONE', 'ONE'],
          ['TWO', 'TWO'],
        ],
      },
    ],
  ])('%s', (_name, half, expected) => {
    expect(fromBn(bn(...half, ...half.map((value) => 1 - value))).graph?.relations?.[0]).toMatchObject(expected)
  })

  it('writes one FALSE row of several parents as GENERAL, which the platform has', () => {
    const half = [1, 1, 1, 1, 1, 1, 1, 1, 0]
    const three = (name: string) => ({ ...node(name), states: ['A', 'B', 'C'] })
    const graph: BnGraph = {
      nodes: [three('a'), three('b'), gate('g')],
      posterior: [{ nodes: ['g', 'a', 'b'], function: [...half, ...half.map((value) => 1 - value)] }],
    }
    expect(fromBn(graph).graph?.relations?.[0]).toMatchObject({ type: 'GENERAL', combinations: { length: 8 } })
  })

  it('gates may have any state names, in either order', () => {
    const graph: BnGraph = {
      nodes: [
        node('a'),
        gate('ok', ['OK', 'NOK'], {
          actions: [
            { name: 'log', label: 'l', triggeredStates: ['NOK'], nodeTrigger: { stateFrom: '*', stateTo: 'OK' } },
            { name: 'log', label: 'l', begins: ['OK'], ends: ['NOK'] },
          ],
        }),
        gate('not', ['FALSE', 'TRUE']),
      ],
      posterior: [
        { nodes: ['ok', 'a'], function: [1, 0, 0, 1] },
        { nodes: ['not', 'ok'], function: [1, 0, 0, 1] },
      ],
    }
    expect(fromBn(graph).graph).toMatchObject({
      relations: [
        { label: 'ok', combinations: [['ONE']] },
        { label: 'not', type: 'AND', parentLabels: ['ok'], combinations: [['FALSE']] },
      ],
      triggers: [
        { statesTrigger: ['FALSE'], stateChangeTrigger: { stateFrom: '*', stateTo: 'TRUE' } },
        { begins: ['TRUE'], ends: ['FALSE'] },
      ],
      actuators: [{ label: 'l', name: 'log' }],
    })
  })

  it('merges an actuator in several nodes, unless it differs', () => {
    const fired = (text: string) => ({
      sensor: { name: 'dice' },
      actions: [{ name: 'log', label: 'l', requiredProperties: [{ text }] }],
    })
    const { graph, issues } = fromBn({
      nodes: [node('a', fired('x')), node('b', fired('x')), node('c', fired('y'))],
      posterior: [],
    })
    expect(graph?.actuators?.map(({ label }) => label)).toEqual(['l', 'l_2'])
    expect(graph?.triggers?.map(({ destinationLabel }) => destinationLabel)).toEqual(['l', 'l', 'l_2'])
    expect(issues).toEqual([
      expect.objectContaining({ severity: 'WARNING', type: 'LABEL', path: '/nodes/2/properties/actions/0/label' }),
    ])
  })

  it('never throws for JSON', () => {
    const junk = fc.jsonValue({ maxDepth: 3 })
    const nodes = fc.array(fc.record({ name: junk, states: junk, properties: junk }, { requiredKeys: [] }))
    fc.assert(
      fc.property(
        fc.oneof(junk, fc.record({ nodes, posterior: junk, metadata: junk }, { requiredKeys: [] })),
        (graph) => {
          expect(Array.isArray(fromBn(graph as unknown as BnGraph).issues)).toBe(true)
          expect(Array.isArray(validateRule(graph, samplePlugs).issues)).toBe(true)
        },
      ),
    )
  })
})

describe('writing', () => {
  it('a table with too many numbers is rejected', () => {
    const sensors = Array.from({ length: 20 }, (_, i) => ({ label: `d${i}`, name: 'dice' }))
    const parentLabels = sensors.map(({ label }) => label)
    const { bn, issues } = toBn(
      {
        sensors,
        relations: [{ label: 'g', type: 'AND', parentLabels, combinations: [parentLabels.map(() => 'ONE')] }],
      },
      dice,
    )
    expect(bn).toBeUndefined()
    expect(issues).toEqual([expect.objectContaining({ type: 'TOO_LARGE', path: '/relations/0' })])
  })

  it('a row that does not fit is rejected', () => {
    const sensors = [{ label: 'a', name: 'dice' }]
    const rule: RuleGraph = {
      sensors,
      relations: [{ label: 'g', type: 'AND', parentLabels: ['a'], combinations: [['SEVEN']] }],
    }
    expect(toBn(rule, dice)).toMatchObject({
      bn: undefined,
      issues: [{ type: 'STATE', path: '/relations/0/combinations/0' }],
    })
  })

  it('a sensor without a known plug has no states to write', () => {
    expect(toBn({ sensors: [{ label: 'a', name: 'x' }] }, dice)).toMatchObject({
      bn: undefined,
      issues: [{ type: 'PLUG', path: '/sensors/0/name' }],
    })
  })
})

describe('simplified -> bn -> simplified', () => {
  const registry = createRegistry([plug('two', ['A', 'B']), plug('three', ['A', 'B', 'C']), plug('one', ['A'])])
  const STATES: Record<string, readonly string[]> = { two: ['A', 'B'], three: ['A', 'B', 'C'], one: ['A'] }
  const text = fc.constantFrom('x', 'y', '')
  const extras = fc.record(
    {
      version: fc.constant('1.0.1'),
      position: fc.tuple(fc.nat(9), fc.nat(9)),
      properties: fc.dictionary(fc.constantFrom('k', 'l', 'm'), fc.jsonValue({ maxDepth: 1 })),
      resource: text,
      timeout: fc.constant('PT5S'),
      loopDef: fc.constant('[]'),
      iconURL: text,
      retryConfig: fc.constant({ maxRetries: 2 }),
    },
    { requiredKeys: [] },
  )
  const sensorExtras = fc.record(
    {
      sequence: fc.nat(3),
      tickTrigger: fc.boolean(),
      evictionTime: fc.nat(),
      keepRawData: fc.boolean(),
      downtime: fc.constantFrom('restart', 'continue', 'confirm'),
      schedule: text,
      pollingFixedRate: fc.boolean(),
    },
    { requiredKeys: [] },
  )
  const rules = fc
    .record({
      sensors: fc.array(fc.tuple(fc.constantFrom('two', 'three', 'one'), extras, sensorExtras), {
        minLength: 1,
        maxLength: 4,
      }),
      actuators: fc.array(extras, { maxLength: 3 }),
      gates: fc.array(
        fc.tuple(fc.constantFrom<RelationType>('AND', 'OR', 'GENERAL', 'NAND'), fc.infiniteStream(fc.nat())),
        { maxLength: 3 },
      ),
      triggers: fc.array(fc.tuple(fc.nat(), fc.nat(), fc.nat(6), fc.nat(), fc.nat(2)), { maxLength: 8 }),
      notes: fc.option(fc.array(fc.record({ position: fc.tuple(fc.nat(9), fc.nat(9)), text })), { nil: undefined }),
    })
    .map(build)

  function build({
    sensors: plain,
    actuators: bare,
    gates,
    triggers: links,
    notes,
  }: {
    sensors: [string, object, object][]
    actuators: object[]
    gates: [RelationType, fc.Stream<number>][]
    triggers: [number, number, number, number, number][]
    notes: { position: [number, number]; text: string }[] | undefined
  }): RuleGraph {
    const sensors = plain.map(
      ([name, ...more], i): Sensor => Object.assign({ label: `s${i}`, name }, ...more) as Sensor,
    )
    const actuators = bare.map((more, i): Actuator => ({ label: `x${i}`, name: 'log', ...more }))
    const states = new Map(sensors.map(({ label, name }) => [label, STATES[name] ?? []]))
    const relations: Relation[] = []
    gates.forEach(([type, stream], i) => {
      const next = (): number => stream.next().value as number
      const parentLabels = Array.from(
        { length: 1 + (next() % 3) },
        () => [...states.keys()][next() % states.size] ?? '',
      )
      const row = () =>
        parentLabels.map((label) => states.get(label)?.[next() % (states.get(label)?.length ?? 1)] ?? '')
      const rows = Array.from({ length: type === 'GENERAL' ? 1 + (next() % 4) : 1 }, row)
      relations.push({
        label: `g${i}`,
        type,
        parentLabels,
        combinations: [...new Map(rows.map((r) => [r.join(), r])).values()],
      })
      states.set(`g${i}`, ['TRUE', 'FALSE'])
    })
    const destinations = [...sensors, ...actuators].map(({ label }) => label)
    const triggers = links.map(([from, to, kind, state, policy]): Trigger => {
      const source = [...states.keys()][from % states.size] ?? ''
      const some = states.get(source)?.[state % (states.get(source)?.length ?? 1)] ?? ''
      return {
        sourceLabel: source,
        destinationLabel: destinations[to % destinations.length] ?? '',
        ...(kind === 1 || kind === 3 ? { statesTrigger: [some] } : {}),
        ...(kind === 4 || kind === 6 ? { begins: [some] } : {}),
        ...(kind === 5 || kind === 6 ? { ends: [some] } : {}),
        ...(kind === 2 || kind === 3 ? { stateChangeTrigger: { stateFrom: '*', stateTo: some } } : {}),
        ...(policy === 0 ? {} : { invocationPolicy: policy - 1 }),
      }
    })
    return {
      sensors,
      ...(actuators.length > 0 ? { actuators } : {}),
      ...(relations.length > 0 ? { relations } : {}),
      ...(triggers.length > 0 ? { triggers } : {}),
      ...(notes ? { notes } : {}),
    }
  }

  /**
   * Removes what the form cannot express: the order of actuators. A relation with a table other than that of AND, OR or
   * NAND is GENERAL.
   */
  function comparable(rule: RuleGraph | undefined): unknown {
    return {
      ...rule,
      actuators: rule?.actuators?.toSorted((a, b) => a.label.localeCompare(b.label)),
      relations: rule?.relations?.map((relation) => ({
        ...relation,
        combinations: relation.combinations.map((row) => row.join()),
      })),
    }
  }

  it('returns the same rule', () => {
    fc.assert(
      fc.property(rules, (rule) => {
        // an OR or NAND over parents with a single state has the table of every or no row and comes back as GENERAL
        fc.pre(
          !rule.relations?.some(
            ({ type, parentLabels }) =>
              type !== 'GENERAL' &&
              type !== 'AND' &&
              parentLabels.some((label) =>
                rule.sensors?.some((sensor) => sensor.label === label && sensor.name === 'one'),
              ),
          ),
        )
        const { bn, issues } = toBn(rule, registry)
        expect(issues).toEqual([])
        const back = fromBn(JSON.parse(JSON.stringify(bn)) as BnGraph)
        expect(back.issues).toEqual([])
        expect(comparable(back.graph)).toEqual(comparable(JSON.parse(JSON.stringify(rule)) as RuleGraph))
      }),
      runs(1000),
    )
  })
})
