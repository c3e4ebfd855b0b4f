import { describe, expect, it } from 'vitest'
import { createCondition } from '../../plugins/condition/plug.ts'
import { startBuiltins } from '../support/builtin-task.ts'
import { checkPlug, runPlug, runPlugLater } from '../support/plug-context.ts'
import { createRegistry } from '../../src/core/plug/registry.ts'
import { validateRule } from '../../src/core/rule/validate.ts'
import { simulate } from '../../src/index.ts'
import { Sandbox } from '../../src/core/language/script/sandbox.ts'
import { sensor } from '../support/rule-nodes.ts'

const condition = createCondition(new Sandbox())

const hot = { '>': [{ var: 'temperature' }, 25] }

describe('condition', () => {
  const call = { nodes: { range_1: { state: 'Above', value: 9 } }, variables: { limit: 5 } }

  it.each([
    [hot, { temperature: 26 }, 'True'],
    [hot, { temperature: 25 }, 'False'],
    [{ '<': [{ var: ['temperature', 20] }, 25] }, {}, 'True'],
    [{ and: [{ '!': { missing: ['temperature'] } }, { '<': [{ var: 'temperature' }, 25] }] }, {}, 'False'],
    [{ '==': [{ var: 'temperature' }, null] }, {}, 'True'],
    ['{">":[{"var":"temperature"},25]}', { temperature: 26 }, 'True'],
    [{ and: [hot, { '<': [{ var: 'humidity' }, 60] }] }, { temperature: 26, humidity: 50 }, 'True'],
    [{ and: [hot, { '<': [{ var: 'humidity' }, 60] }] }, { temperature: 26, humidity: 70 }, 'False'],
    [{ var: 'list' }, { list: [] }, 'False'],
    [{ var: 'list' }, { list: [0] }, 'True'],
    [{ var: 'text' }, { text: '0' }, 'True'],
    [{ var: 'text' }, { text: '' }, 'False'],
    [{ '==': [{ var: 'nodes.range_1.state' }, 'Above'] }, {}, 'True'],
    [{ '>': [{ var: 'nodes.range_1.rawData.value' }, { var: 'variables.limit' }] }, {}, 'True'],
    ['temperature > 25', { temperature: 26 }, 'True'],
    ['temperature > 25', { temperature: 25 }, 'False'],
    ['"${nodes.range_1.state}" == "Above"', {}, 'True'],
    ['$${nodes.range_1.rawData.value} > variables.limit && nodes.range_1.state != "Below"', {}, 'True'],
    ['list.some(x => x > 2)', { list: [1, 2, 3] }, 'True'],
    ['temperature == null', {}, 'True'],
    ['list', { list: [] }, 'True'],
  ])('%j over %j is %s', (given, message, state) => {
    expect(runPlug(condition, { ...call, properties: { condition: given }, message }).state).toBe(state)
  })

  it.each([
    ['temperature > 25', '"temperature"'],
    ['25 < temperature', '"temperature"'],
    ['temperature == 25', '"temperature"'],
    ['-temperature < 0', '"temperature"'],
    ['"${nodes.gone.state}" == "ON"', '"${nodes.gone.state}"'],
    [hot, '"temperature"'],
    [{ '<': [{ '+': [{ var: 'temperature' }, 1] }, 25] }, '"temperature"'],
    [{ '>': [{ var: 'nodes.gone.rawData.value' }, 1] }, '"nodes.gone.rawData.value"'],
    [{ '==': [{ var: 'temperature' }, 25] }, '"temperature"'],
    [{ '!': { var: 'temperature' } }, '"temperature"'],
    ['!temperature', '"temperature"'],
    ['temperature', '"temperature"'],
  ])('%j fails and names the missing values', (given, name) => {
    const run = () => runPlug(condition, { ...call, properties: { condition: given } })
    expect(run).toThrow(
      expect.objectContaining({ code: 'BINDING', message: expect.stringContaining(`${name} has no value`) as string }),
    )
  })

  it.each([[{}], [{ '>': [1, 0], '<': [1, 0] }], [[1]], [true], [null]])(
    'rejects %j and shows what a condition looks like',
    (logic) => {
      const problems = checkPlug(condition, { condition: logic })
      expect(problems).toHaveLength(1)
      expect(problems[0]).toMatch(/^condition: .*temperature > 25.*\{">":\[\{"var":"temperature"\},25\]\}/)
    },
  )

  it('reports the column of an invalid expression', () => {
    expect(checkPlug(condition, { condition: 'temperature >' }).join()).toContain('column 14')
  })

  it('names an unknown operator', () => {
    expect(checkPlug(condition, { condition: { more: [1, 2] } }).join()).toContain('more')
  })

  it('accepts a valid condition, and one that is not known yet', () => {
    expect(checkPlug(condition, { condition: hot })).toEqual([])
    expect(checkPlug(condition, {})).toEqual([])
  })

  it.each([
    ['if (temperature > 25) return true; return nodes.range_1.state === "Below"', 'True'],
    ['let sum = 0; for (const x of [1, 2, temperature]) sum += x; return sum > 100', 'False'],
    ['/^a/.test(nodes.range_1.state)', 'False'],
    ['let a = temperature * 2; a > 50', 'True'],
    ['let a = temperature; if (a in [5, 6]) true; else between(a, 30, 40)', 'False'],
    ['function high(x) { return x > variables.limit } return high(temperature)', 'True'],
  ])('%s runs in the sandbox and is %s', async (text, state) => {
    const ran = await runPlugLater(condition, {
      ...call,
      properties: { condition: text },
      message: { temperature: 26 },
    })
    expect(ran.state).toBe(state)
    expect(checkPlug(condition, { condition: text })).toEqual([])
  })

  it('returns synchronously in the sandbox too, once it is loaded', async () => {
    const mine = createCondition(new Sandbox())
    const call = { properties: { condition: 'let a = v; a > 1' }, message: { v: 2 } }
    expect(() => runPlug(mine, call)).toThrow('answered with a promise')
    await runPlugLater(mine, call)
    expect(runPlug(mine, call).state).toBe('True')
  })

  it('logs the output of its code', async () => {
    const { log } = await runPlugLater(condition, {
      properties: { condition: 'console.warn("v is", v); v > 1' },
      message: { v: 2 },
    })
    expect(log).toEqual(['WARN v is 2'])
  })

  it('suggests the right form for misspelt words, with their position', () => {
    const rule = {
      sensors: [{ label: 'c', name: 'condition', properties: { condition: 'a > 1 &&\n  b.contains("x")' } }],
    }
    const { issues } = validateRule(rule, createRegistry([condition]))
    expect(issues).toEqual([
      expect.objectContaining({
        path: '/sensors/0/properties/condition',
        severity: 'ERROR',
        message: expect.stringContaining('line 2, column 5: unknown method "contains"') as string,
        suggestion: expect.stringContaining('write includes') as string,
      }),
    ])
  })

  it.each(['Math.random() < 0.5', 'const x = Math.random(); x < 0.5'])(
    'draws equal random numbers in equal simulations: %s',
    async (code) => {
      const rule = { sensors: [{ label: 'c', name: 'condition', resource: 'r', properties: { condition: code } }] }
      const messages = Array.from({ length: 40 }, (_, i) => ({ resource: 'r', timestamp: i * 1000, v: i }))
      const states = async (seed: number) => {
        const plugs = [createCondition(new Sandbox())]
        const { events } = await simulate(rule, { messages, plugs, seed })
        return events.flatMap((event) =>
          event.type === 'state' && event.node === 'c' ? [`${event.time} ${event.to}`] : [],
        )
      }
      const first = await states(1)
      expect(first.join()).toContain('True')
      expect(first.join()).toContain('False')
      expect(await states(1)).toEqual(first)
      expect(await states(2)).not.toEqual(first)
    },
  )

  it('names missing values in the sandbox too', async () => {
    const properties = { condition: 'let x = 25; return temperature > x' }
    await expect(runPlugLater(condition, { properties })).rejects.toMatchObject({
      code: 'BINDING',
      message: expect.stringContaining('"temperature" has no value') as string,
    })
  })

  it('runs statements in an engine, live and with recorded values of variables and other nodes', async () => {
    const live = await startBuiltins({
      task: { variables: { limit: 5 } },
      sensors: [sensor('c', 'condition', { condition: 'let m = v; return m > variables.limit' })],
    })
    live.send({ v: 9 })
    await live.settled()
    expect(live.states('c')).toEqual(['0 True'])
  })
})
