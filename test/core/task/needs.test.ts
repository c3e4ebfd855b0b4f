import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compileRule } from '../../../src/core/graph/compile.ts'
import { FALSE, TRUE, UNKNOWN, type Graph, type ObservableNode } from '../../../src/core/graph/graph.ts'
import { decide } from '../../../src/core/graph/relations.ts'
import { createRegistry } from '../../../src/core/plug/registry.ts'
import type { Relation, RelationType, Rule } from '../../../src/core/rule/rule.ts'
import { smallestChanges } from '../../../src/core/task/needs.ts'
import { runs } from '../../support/arbitraries/runs.ts'
import { gate, rule, countLimits } from '../../support/rule-writing.ts'
import { ScriptedPlugs } from '../../support/scripted-plugs.ts'

const plugs = createRegistry(new ScriptedPlugs().plugs)
const compile = (given: Rule): Graph => compileRule(given, plugs).graph

function nodeOf(graph: Graph, label: string): ObservableNode {
  const node = graph.byLabel.get(label)
  if (node === undefined || node.kind === 'actuator') throw new Error(`no ${label}`)
  return node
}

/** All nodes, with sensors in the given states and gates decided. */
function settled(graph: Graph, states: readonly number[], needsAll: boolean): { state: number }[] {
  const nodes = [...states.map((state) => ({ state })), ...graph.gates.map(() => ({ state: UNKNOWN }))]
  for (const one of graph.gates) nodes[one.index] = { state: decide(one, nodes, needsAll) }
  return nodes
}

function needs(
  given: Rule,
  label: string,
  wanted: number,
  known: Readonly<Record<string, string>> = {},
  needsAll = false,
) {
  const graph = compile(given)
  const states = graph.sensors.map((sensor) => sensor.states.indexOf(known[sensor.label] ?? ''))
  const ways = smallestChanges(nodeOf(graph, label), [wanted], settled(graph, states, needsAll), needsAll)
  return ways.map((needs) => needs.map(({ sensor, state }) => `${sensor.label}=${sensor.states[state]}`))
}

describe('the smallest changes that fire a trigger', () => {
  const choice = rule({
    sensors: { a: 'band', b: 'switch', c: 'switch' },
    relations: [gate('any', 'OR', ['b', 'On'], ['c', 'On']), gate('both', 'AND', ['a', 'In'], ['any', 'TRUE'])],
  })

  it.each([
    ['one of several that are as small', TRUE, { a: 'In', b: 'Off', c: 'Off' }, [['b=On'], ['c=On']]],
    ['each other state of a sensor', FALSE, { a: 'In', b: 'On', c: 'On' }, [['a=Below'], ['a=Above']]],
    ['none, if the state is already reached', TRUE, { a: 'In', b: 'On' }, [[]]],
    [
      'several at once',
      TRUE,
      {},
      [
        ['a=In', 'b=On'],
        ['a=In', 'c=On'],
      ],
    ],
  ])('are %s', (_, wanted, known, expected) => {
    expect(needs(choice, 'both', wanted, known)).toEqual(expected)
  })

  it('are found for an AND of 200 sensors', () => {
    const labels = Array.from({ length: 200 }, (_, i) => `s${i}`)
    const wide = rule({
      sensors: Object.fromEntries(labels.map((label) => [label, 'switch'])),
      relations: [gate('all', 'AND', ...labels.map((label): [string, string] => [label, 'On']))],
    })
    expect(needs(wide, 'all', TRUE)).toEqual([labels.map((label) => `${label}=On`)])
  })
})

describe('for any small graph', () => {
  const kinds = { switch: ['Off', 'On'], band: ['Below', 'In', 'Above'] }
  const draft = fc.record({
    type: fc.constantFrom<RelationType>('AND', 'OR', 'NAND', 'GENERAL', 'COUNT', 'SHARE'),
    parents: fc.uniqueArray(fc.nat(20), { minLength: 1, maxLength: 3 }),
    rows: fc.array(fc.array(fc.nat(5), { minLength: 3, maxLength: 3 }), { minLength: 1, maxLength: 4 }),
  })
  const graphs = fc
    .record({
      names: fc.array(fc.constantFrom('switch' as const, 'band' as const), { minLength: 1, maxLength: 5 }),
      drafts: fc.array(draft, { minLength: 1, maxLength: 5 }),
    })
    .map(({ names, drafts }): Rule => {
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
    })

  /** The fewest sensors to set and the number of ways with so few, by trying every assignment. */
  function fewest(graph: Graph, top: ObservableNode, wanted: number, now: readonly number[], needsAll: boolean) {
    let cases: (readonly number[])[] = [[]]
    for (const [i, sensor] of graph.sensors.entries()) {
      const choices = [...new Set([now[i] ?? UNKNOWN, ...sensor.states.keys()])]
      cases = cases.flatMap((row) => choices.map((state) => [...row, state]))
    }
    const working = cases.filter((row) => settled(graph, row, needsAll)[top.index]?.state === wanted)
    const sizes = working.map((row) => row.filter((state, i) => state !== now[i]).length)
    const size = Math.min(...sizes)
    return { size, ways: sizes.filter((one) => one === size).length }
  }

  it('each change works, is minimal, and is listed once', () => {
    fc.assert(
      fc.property(
        graphs,
        fc.array(fc.option(fc.nat(2)), { minLength: 5, maxLength: 5 }),
        fc.constantFrom(TRUE, FALSE),
        fc.boolean(),
        (given, seen, wanted, needsAll) => {
          const graph = compile(given)
          const now = graph.sensors.map((sensor, i) => (seen[i] ?? UNKNOWN) % sensor.states.length)
          for (const top of graph.gates) {
            const ways = smallestChanges(top, [wanted], settled(graph, now, needsAll), needsAll)
            const size = ways[0]?.length ?? Number.POSITIVE_INFINITY
            expect({ size, ways: ways.length }).toEqual(fewest(graph, top, wanted, now, needsAll))
            for (const found of ways) {
              const after = [...now]
              for (const { sensor, state } of found) after[sensor.slot] = state
              expect(settled(graph, after, needsAll)[top.index]?.state).toBe(wanted)
            }
          }
        },
      ),
      runs(400),
    )
  })
})
