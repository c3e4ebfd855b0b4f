import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compileRule } from '../../../src/core/graph/compile.ts'
import { TRUE, UNKNOWN, type Graph } from '../../../src/core/graph/graph.ts'
import { posterior } from '../../../src/core/graph/posterior.ts'
import { decide } from '../../../src/core/graph/relations.ts'
import { createRegistry } from '../../../src/core/plug/registry.ts'
import type { Relation, RelationType, Rule } from '../../../src/core/rule/rule.ts'
import { runs } from '../../support/arbitraries/runs.ts'
import { gate, rule, countLimits } from '../../support/rule-writing.ts'
import { ScriptedPlugs } from '../../support/scripted-plugs.ts'

const plugs = createRegistry(new ScriptedPlugs().plugs)
const compile = (given: Rule): Graph => compileRule(given, plugs).graph

/** The probability of a node's first state, with sensors in the given states. */
function probability(graph: Graph, label: string, known: Readonly<Record<string, string>> = {}): number {
  const node = graph.byLabel.get(label)
  if (node === undefined || node.kind === 'actuator') throw new Error(`no ${label}`)
  const nodes = [
    ...graph.sensors.map((sensor) => ({ state: sensor.states.indexOf(known[sensor.label] ?? '') })),
    ...graph.gates.map(() => ({ state: UNKNOWN })),
  ]
  return posterior(node, nodes)[0] ?? Number.NaN
}

describe('a graph whose gates share many unobserved sensors', () => {
  const count = 21
  const labels = Array.from({ length: count }, (_, i) => `s${i}`)
  const sensors = Object.fromEntries(labels.map((label) => [label, 'switch']))
  const all = labels.map((label): [string, string] => [label, 'On'])
  const graph = compile(
    rule({
      sensors,
      relations: [gate('a', 'AND', ...all), gate('b', 'OR', ...all), gate('top', 'AND', ['a', 'TRUE'], ['b', 'TRUE'])],
    }),
  )

  it('is rejected with the number of cases when there are more than a million', () => {
    expect(() => probability(graph, 'top')).toThrow(expect.objectContaining({ code: 'TOO_LARGE' }))
    expect(() => probability(graph, 'top')).toThrow(/top depends on 21 unobserved sensors/)
  })

  it('is computed for any number of sensors when none is shared', () => {
    expect(probability(graph, 'a')).toBeCloseTo(0.5 ** count, 12)
  })
})

describe('any graph of gates', () => {
  interface Draft {
    type: RelationType
    parents: readonly number[]
    rows: readonly (readonly number[])[]
  }
  const draft = fc.record({
    type: fc.constantFrom<RelationType>('AND', 'OR', 'NAND', 'GENERAL', 'COUNT', 'SHARE'),
    parents: fc.uniqueArray(fc.nat(20), { minLength: 1, maxLength: 3 }),
    rows: fc.array(fc.array(fc.nat(5), { minLength: 3, maxLength: 3 }), { minLength: 1, maxLength: 4 }),
  })
  const kinds = { switch: ['Off', 'On'], band: ['Below', 'In', 'Above'] }

  function build(names: readonly ('switch' | 'band')[], drafts: readonly Draft[]): Rule {
    const nodes: { label: string; states: readonly string[] }[] = names.map((name, i) => ({
      label: `s${i}`,
      states: kinds[name],
    }))
    const relations = drafts.map(({ type, parents, rows }, i): Relation => {
      const chosen = [...new Set(parents.map((parent) => nodes[parent % nodes.length]))].filter(
        (one) => one !== undefined,
      )
      const combinations = rows
        .slice(0, type === 'GENERAL' ? undefined : 1)
        .map((row) => chosen.map(({ states }, place) => states[(row[place] ?? 0) % states.length] ?? ''))
      nodes.push({ label: `g${i}`, states: ['TRUE', 'FALSE'] })
      const limits = countLimits(type, rows.length)
      return { label: `g${i}`, type, parentLabels: chosen.map(({ label }) => label), combinations, ...limits }
    })
    return rule({ sensors: Object.fromEntries(names.map((name, i) => [`s${i}`, name])), relations })
  }

  /** Counts all assignments of the unobserved sensors, shared or not. */
  function counted(graph: Graph, label: string, seen: readonly number[]): number {
    let cases: (readonly number[])[] = [[]]
    for (const [i, sensor] of graph.sensors.entries()) {
      const here = seen[i] === UNKNOWN ? sensor.states.map((_, state) => state) : [seen[i] ?? 0]
      cases = cases.flatMap((row) => here.map((state) => [...row, state]))
    }
    const truths = cases.filter((row) => {
      const nodes = [...row.map((state) => ({ state })), ...graph.gates.map(() => ({ state: UNKNOWN }))]
      for (const one of graph.gates) nodes[one.index] = { state: decide(one, nodes, false) }
      return nodes[indexOf(graph, label)]?.state === TRUE
    })
    return truths.length / cases.length
  }

  const indexOf = (graph: Graph, label: string) => graph.gates.find((one) => one.label === label)?.index ?? -1

  it('has the probability of enumerating all cases for each gate', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('switch' as const, 'band' as const), { minLength: 1, maxLength: 5 }),
        fc.array(draft, { minLength: 1, maxLength: 5 }),
        fc.array(fc.option(fc.nat(2)), { minLength: 5, maxLength: 5 }),
        (names, drafts, states) => {
          const graph = compile(build(names, drafts))
          const seen = graph.sensors.map((sensor, i) =>
            states[i] === null ? UNKNOWN : (states[i] ?? 0) % sensor.states.length,
          )
          const known = Object.fromEntries(
            graph.sensors.map((sensor, i) => [sensor.label, sensor.states[seen[i] ?? -1] ?? '']),
          )
          for (const { label } of graph.gates)
            expect(probability(graph, label, known)).toBeCloseTo(counted(graph, label, seen), 9)
        },
      ),
      runs(300),
    )
  })
})
