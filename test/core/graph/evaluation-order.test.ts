import { describe, expect, it } from 'vitest'
import { compileRule } from '../../../src/core/graph/compile.ts'
import { idOf } from '../../../src/core/graph/evaluation-order.ts'
import { createRegistry } from '../../../src/core/plug/registry.ts'
import type { Rule } from '../../../src/core/rule/rule.ts'
import { gate, is, on, rule, trigger } from '../../support/rule-writing.ts'
import { ScriptedPlugs } from '../../support/scripted-plugs.ts'

const plugs = createRegistry(new ScriptedPlugs().plugs)
const reads = (label: string) => ({ properties: { value: `\${nodes.${label}.rawData.x}` } })

function orders(given: Rule): { parallel: string; serial: string } {
  const { parallel, serial } = compileRule(given, plugs).graph.orders
  const text = ({ nodes }: typeof parallel): string => nodes.map(({ label }) => label).join(' ')
  return { parallel: text(parallel), serial: text(serial) }
}

describe('the order of evaluation', () => {
  // Holds ORDER-1
  it.each<[string, Rule, string]>([
    [
      'root sensors by sequence, then as declared',
      rule({ sensors: { a: on('switch', { sequence: 2 }), b: on('switch'), c: on('switch') } }),
      'b c a',
    ],
    [
      'a gate after its parents, in the stage of the last of them',
      rule({
        sensors: { a: on('switch'), b: on('switch', { sequence: 2 }), c: on('switch', { sequence: 3 }) },
        relations: [gate('top', 'AND', ['low', 'TRUE'], ['a', 'On']), gate('low', 'OR', ['a', 'On'], ['b', 'On'])],
      }),
      'a b low top c',
    ],
    [
      'what triggers run after their sources, whatever its own sequence',
      rule({
        sensors: { late: { name: 'switch', sequence: 9 }, a: on('switch'), b: on('switch', { sequence: 2 }) },
        actuators: ['act'],
        triggers: [trigger('a', 'late'), trigger('late', 'act', is('On'))],
      }),
      'a late act b',
    ],
    [
      'by the longest way from the roots of the stage',
      rule({
        sensors: { a: on('switch'), b: on('switch'), x: 'switch' },
        actuators: ['act'],
        triggers: [trigger('a', 'x'), trigger('x', 'act'), trigger('b', 'act')],
      }),
      'a b x act',
    ],
  ])('has %s', (_, given, expected) => {
    expect(orders(given).parallel).toBe(expected)
  })

  // Holds ORDER-2
  it.each<[string, Rule, string]>([
    ['in its stage', rule({ sensors: { w: on('switch', reads('f')), f: on('switch') } }), 'f w'],
    ['not across stages', rule({ sensors: { w: on('switch', reads('f')), f: on('switch', { sequence: 2 }) } }), 'w f'],
    [
      'not when that closes a circle of reads',
      rule({ sensors: { a: on('switch', reads('b')), b: on('switch', reads('a')) } }),
      'b a',
    ],
    [
      'not when its reader leads to it',
      rule({ sensors: { a: on('switch', reads('b')), b: 'switch' }, triggers: [trigger('a', 'b')] }),
      'a b',
    ],
  ])('puts a reader after its sources: %s', (_, given, expected) => {
    expect(orders(given).parallel).toBe(expected)
  })

  // Holds ORDER-3
  it('puts each root sensor before its followers, one root after the other, without parallel', () => {
    const given = rule({
      sensors: { a: on('switch', reads('c')), b: on('switch', { sequence: 0 }), c: on('switch') },
      relations: [gate('g', 'OR', ['a', 'On'], ['c', 'On'])],
      actuators: ['onB', 'onC'],
      triggers: [trigger('b', 'onB'), trigger('c', 'onC')],
    })
    expect(orders(given)).toEqual({ parallel: 'b onB c a onC g', serial: 'b onB c onC a g' })
  })

  it('finds the position of each node', () => {
    const { graph } = compileRule(
      rule({ sensors: { a: on('switch', { sequence: 2 }), b: on('switch') }, actuators: ['act'] }),
      plugs,
    )
    const { nodes, positions } = graph.orders.parallel
    expect(nodes.map((node) => positions[idOf(graph, node)])).toEqual([0, 1, 2])
  })

  it('is computed for a chain of 5,000 sensors', () => {
    const count = 5000
    const sensors = Object.fromEntries(Array.from({ length: count }, (_, i) => [`s${count - i}`, 'switch']))
    const triggers = Array.from({ length: count - 1 }, (_, i) => trigger(`s${i + 1}`, `s${i + 2}`))
    expect(orders(rule({ sensors, triggers })).parallel.startsWith('s1 s2 s3 ')).toBe(true)
  })
})
