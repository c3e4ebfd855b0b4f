import { describe, expect, it } from 'vitest'
import { codeUses } from '../../../../src/core/language/expression/code-uses.ts'
import { createRegistry } from '../../../../src/core/plug/registry.ts'
import { compileRule } from '../../../../src/core/graph/compile.ts'
import { validateRule } from '../../../../src/core/rule/validate.ts'
import { createCondition } from '../../../../plugins/condition/plug.ts'
import { Sandbox } from '../../../../src/core/language/script/sandbox.ts'

const condition = createCondition(new Sandbox())

const plugs = createRegistry([condition])
const ruleOf = (code: unknown) => ({
  sensors: [{ label: 'c', name: 'condition', resource: '$', properties: { condition: code } }],
})

// Holds EXPRESSION-1
describe('the references in code', () => {
  it.each<[unknown, readonly string[]]>([
    ['t > variables.limit', ['streamdata.t', 'variables.limit']],
    ['"${nodes.a.state}" == "ON"', ['nodes.a.state']],
    [{ '>': [{ var: 'nodes.a.rawData.x' }, 1] }, ['nodes.a.rawData.x']],
    ['{">": [{"var": "t"}, 1]}', ['streamdata.t']],
    ['{ t: t }', ['streamdata.t']],
    ['<a.b> + ${variables.limit}', ['variables.limit']],
    ['const x = `${y}`', []],
    [{ nonsense: [1] }, []],
    [
      'async (options) => ({ a: ${variables.limit}, b: nodes.a.state, c: `${node.resource.meta.x}` })',
      ['variables.limit', 'nodes.a.state', 'node.resource.meta.x'],
    ],
    ['const nodes = {}; await 1; return `${nodes.a.state}`', []],
    ['let a = t; a in [variables.low, now]', ['streamdata.t', 'variables.low']],
    ['Math.random() < share', ['streamdata.share']],
    [42, []],
    [undefined, []],
  ])('of %j are %j', (code, paths) => {
    expect(codeUses(code).map(({ root, segments }) => [root, ...segments].join('.'))).toEqual(paths)
  })

  it('are checked with the rule: an unknown node is an error', () => {
    const { issues } = validateRule(ruleOf('nodes.door.state == "open"'), plugs)
    expect(issues.map(({ message }) => message).join()).toContain('unknown node "door"')
  })

  it('are fetched before the node runs', () => {
    const { graph } = compileRule(ruleOf('task.resource.meta.limit < variables.high'), plugs)
    expect(graph.sensors[0]?.call.needs).toMatchObject({ taskMetadata: true, variables: ['high'] })
  })

  it('are compiled once and not filled in as text', () => {
    const { graph, properties } = compileRule(ruleOf('"${nodes.c.state}" == "True"'), plugs)
    const call = graph.sensors[0]?.call
    expect(call && properties.of(call).prepared).toBeDefined()
  })
})
