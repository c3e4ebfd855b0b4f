import { describe, expect, it } from 'vitest'
import { compileRule } from '../../../src/core/graph/compile.ts'
import type { Graph } from '../../../src/core/graph/graph.ts'
import { makePlan, wipePlan } from '../../../src/core/graph/plan.ts'
import { createRegistry } from '../../../src/core/plug/registry.ts'
import type { Rule } from '../../../src/core/rule/rule.ts'
import { gate, is, rule, trigger } from '../../support/rule-writing.ts'
import { ScriptedPlugs } from '../../support/scripted-plugs.ts'

const plugs = createRegistry(new ScriptedPlugs().plugs)
const compile = (given: Rule): Graph => compileRule(given, plugs).graph
const labels = (nodes: readonly { label: string }[]) => nodes.map(({ label }) => label)

function planOf(graph: Graph, ...chosen: readonly string[]) {
  const plan = makePlan(graph.sensors.filter((sensor) => chosen.includes(sensor.label)))
  return { reset: labels(plan.reset), resetGates: labels(plan.resetGates) }
}

describe('the observations that a plan resets', () => {
  const graph = compile(
    rule({
      sensors: { a: 'switch', b: 'switch', c: 'switch', far: 'switch', apart: 'switch' },
      relations: [
        gate('ab', 'AND', ['a', 'On'], ['b', 'On']),
        gate('deep', 'OR', ['ab', 'TRUE'], ['far', 'On']),
        gate('other', 'OR', ['apart', 'On']),
      ],
      triggers: [trigger('ab', 'c', is('TRUE')), trigger('c', 'far')],
    }),
  )

  it.each([
    [
      'a sensor includes everything that triggers reach through gates, recursively',
      ['a'],
      ['a', 'c', 'far'],
      ['ab', 'deep'],
    ],
    ['a sensor behind triggers includes only its followers', ['c'], ['c', 'far'], ['deep']],
    ['a sensor without followers is alone', ['apart'], ['apart'], ['other']],
    ['several are listed once, in order of declaration', ['c', 'a'], ['a', 'c', 'far'], ['ab', 'deep']],
  ])('%s', (_, chosen, reset, gates) => {
    expect(planOf(graph, ...chosen)).toMatchObject({ reset, resetGates: gates })
  })

  it('are all for a wipe, which runs nothing', () => {
    const wipe = wipePlan(graph)
    expect(wipe.sensors).toEqual([])
    expect(labels(wipe.reset)).toEqual(['a', 'b', 'c', 'far', 'apart'])
    expect(labels(wipe.resetGates)).toEqual(['ab', 'deep', 'other'])
  })

  it('are found in an acyclic chain of 5,000 sensors too', () => {
    const count = 5000
    const sensors = Object.fromEntries(Array.from({ length: count }, (_, i) => [`s${i}`, 'switch']))
    const triggers = Array.from({ length: count - 1 }, (_, i) => trigger(`s${i}`, `s${i + 1}`))
    expect(planOf(compile(rule({ sensors, triggers })), 's0').reset).toHaveLength(count)
  })
})
