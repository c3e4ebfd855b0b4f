import { describe, expect, it } from 'vitest'
import { compileLogic } from '../../../../src/core/language/logic/json-logic.ts'
import { messageOf, type AppError } from '../../../../src/kernel/errors.ts'
import { thrown } from '../placeholders/thrown.ts'
import { run, sample } from './sample.ts'

// Holds LOGIC-1 to LOGIC-5
describe('JSON Logic', () => {
  it.each<[unknown, unknown]>([
    [{ '==': [1, '1'] }, true],
    [{ '==': [null, false] }, false],
    [{ '==': [[1], 1] }, false],
    [{ '!=': [1, '1'] }, false],
    [{ '>': [{ var: 't' }, 20] }, true],
    [{ '>': ['b', 'a'] }, true],
    [{ '<': [1, 2, 3] }, true],
    [{ '!': [{ var: 'empty' }] }, true],
    [{ if: [{ var: 'zero' }, 'a', { var: 'yes' }, 'b', 'c'] }, 'b'],
    [{ if: [] }, null],
    [{ '+': [1, '2', '3.5'] }, 6.5],
    [{ '+': '4' }, 4],
    [{ '+': [] }, 0],
    [{ '-': '5' }, -5],
    [{ '*': [0, -1, 1] }, -0],
    [{ '*': [{ '-': [0] }, 1] }, -0],
    [{ '*': [{ '-': [0] }] }, -0],
    [{ '/': [1, { '*': [0, -1, 1] }] }, -Infinity],
    [{ in: ['ump', { var: 'name' }] }, true],
    [{ in: [2, { var: 'list' }] }, true],
    [{ in: ['2', { var: 'list' }] }, true],
    [{ in: ['02', { var: 'list' }] }, false],
    [{ in: ['a', { var: 'deep' }] }, false],
    [{ substr: ['jsonlogic', 1, -5] }, 'son'],
    [{ var: 'deep.a.b.1' }, 20],
    [{ var: 'deep["a"].b[1]' }, 20],
    [{ var: 'streamdata.t' }, 21.5],
    [{ var: ['no', 7] }, 7],
    [{ var: ['no.x', 7] }, 7],
    [{ var: 'list.length' }, 3],
    [{ missing: ['t', 'nope', 'no'] }, ['nope', 'no']],
    [{ missing: 't' }, []],
    [{ missing: { merge: ['t', { if: [{ var: 'yes' }, ['nope']] }] } }, ['nope']],
    [{ map: [{ var: 'list' }, { '*': [{ var: '' }, 2] }] }, [2, 4, 6]],
    [{ filter: [{ var: 'items' }, { '==': [{ var: 'name' }, 'y'] }] }, [{ name: 'y', v: 5 }]],
    [{ map: [{ var: 'items' }, { var: ['length', 0] }] }, [7, 0]],
    [{ reduce: [{ var: 'list' }, { '+': [{ var: 'current' }, { var: 'accumulator' }] }, 10] }, 16],
    [{ reduce: [{ var: 'no' }, 1, 'start'] }, 'start'],
    [{ all: [{ var: 'list' }, { '>': [{ var: '' }, 0] }] }, true],
    [{ some: [{ var: 'items' }, { '>': [{ var: 'v' }, 4] }] }, true],
    [{ none: [{ var: 'empty' }, true] }, true],
    [{ map: [{ var: 'items' }, { missing: ['v', 'w'] }] }, [['w'], ['w']]],
    [
      [{ var: 't' }, 'x'],
      [21.5, 'x'],
    ],
    [{}, {}],
  ])('%j returns %j', (logic, expected) => {
    expect(run(logic, sample)).toEqual(expected)
  })

  it('does not evaluate branches that and, or and if skip', () => {
    const seen: string[] = []
    const logic = { or: [{ var: 'a' }, { if: [{ var: 'b' }, { var: 'c' }, { var: 'd' }] }] }
    compileLogic(logic).evaluate((path) => {
      seen.push(path.segments.join('.'))
      return false
    })
    expect(seen).toEqual(['a', 'b', 'd'])
  })

  it('lists all reads once, with identical path objects', () => {
    const compiled = compileLogic({
      and: [
        { var: 't' },
        { var: 'streamdata.t' },
        { var: 'nodes.a.rawData.x' },
        { missing: ['u'] },
        '${?variables.limit}',
      ],
    })
    expect(compiled.uses.map((use) => use.parts.join('.'))).toEqual([
      'streamdata.t',
      'nodes.a.rawData.x',
      'streamdata.u',
      'variables.limit',
    ])
    compiled.evaluate((path) => {
      expect(compiled.uses).toContain(path)
      return 1
    })
  })

  it('accepts a placeholder instead of a var, even inside loops', () => {
    const logic = { filter: [[1, 2, 3], { '>': [{ var: '' }, '${variables.limit}'] }] }
    expect(compileLogic(logic).evaluate((path) => (path.root === 'variables' ? 2 : undefined))).toEqual([3])
  })

  it.each<[unknown, string, RegExp]>([
    [{ method: ['x', 'toString'] }, '', /"method" is not allowed/],
    [{ log: 'x' }, '', /"log" is not allowed/],
    [{ and: [1, { equals: [1, 2] }] }, '/and/1', /"equals" is not allowed/],
    [{ 'cat.call': [1] }, '', /not allowed/],
    [JSON.parse('{"__proto__": [1]}'), '', /"__proto__" is not allowed/],
    [{ constructor: [1] }, '', /"constructor" is not allowed/],
    [{ var: 'constructor.name' }, '/var', /reads "constructor"/],
    [{ var: '__proto__' }, '/var', /reads "__proto__"/],
    [{ var: 'a.toString' }, '/var', /reads "toString"/],
    [{ var: 'a["constructor"]' }, '/var', /reserved name/],
    [{ map: [[1], { var: 'constructor' }] }, '/map/1/var', /reads "constructor"/],
    [{ reduce: [[1], { var: 'accumulator.valueOf' }, ''] }, '/reduce/1/var', /reads "valueOf"/],
    [{ missing: ['__proto__'] }, '/missing', /reads "__proto__"/],
    [{ var: { cat: ['const', 'ructor'] } }, '/var', /computed/],
    [{ var: [{ var: 'a' }] }, '/var', /computed/],
    [{ var: '' }, '/var', /not a path/],
    [{ var: 'a..b' }, '/var', /not a path/],
    [{ var: 'nodes.a' }, '/var', /from the node/],
    [{ var: 'a["b' }, '/var', /never closed/],
    [{ '==': [1] }, '/==', /has 1 arguments/],
    [{ and: [] }, '/and', /has 0 arguments/],
    [{ map: [[1]] }, '/map', /has 1 arguments/],
    [{ '>': [1, 2], '<': [1, 2] }, '', /">", "<" is not an operation/],
    [{ '==': ['a ${task.TASK_ID}', 1] }, '/==/0', /mixes text/],
    [{ '==': ['$${task.TASK_ID}', 1] }, '/==/0', /mixes text/],
    [{ '==': ['${foo.x}', 1] }, '/==/0', /"foo" is not a place/],
    ['temperature > 5', '', /a text is not a JSON Logic operation/],
  ])('%j is rejected at %j', (logic, path, message) => {
    const error = thrown(() => compileLogic(logic))
    expect(error).toMatchObject({ code: 'VALIDATION', issues: [{ path }] })
    expect(messageOf(error)).toMatch(message)
  })

  it('lists the permitted operators', () => {
    expect(messageOf(thrown(() => compileLogic({ fliter: [[], 1] })))).toMatch(
      /did you mean "filter"\? use one of var missing/,
    )
  })

  it('reports all problems at once', () => {
    const error = thrown(() => compileLogic({ and: [{ nope: 1 }, { var: '__proto__' }, { '!': [1, 2] }] }))
    expect((error as AppError).issues.map((issue) => issue.path)).toEqual(['/and/0', '/and/1/var', '/and/2/!'])
  })

  it.each<[string, unknown, unknown]>([
    ['a text has no length', { var: 'name.length' }, null],
    ['a number has no methods', { var: 't.toFixed' }, null],
    ['a list has no methods', { var: 'list.map' }, null],
    ['an accumulated text has no methods', { reduce: [{ var: 'words' }, { var: 'accumulator.concat' }, 'x'] }, null],
    ['an item has no methods', { map: [{ var: 'words' }, { var: 'big' }] }, [null, null]],
  ])('%s', (_, logic, expected) => {
    expect(run(logic, sample)).toEqual(expected)
  })

  it('does not evaluate data as logic', () => {
    const hostile = { keys: [{ cat: ['t'] }, { var: 't' }], rule: { '+': [1, 2] }, name: 't' }
    expect(run({ missing: [{ var: 'keys' }] }, hostile)).toEqual(hostile.keys)
    expect(run({ missing_some: [1, { var: 'keys' }] }, hostile)).toEqual(hostile.keys)
    expect(run({ missing: [{ var: 'name' }] }, { ...hostile, t: 1 })).toEqual(['t'])
    expect(run({ merge: [{ var: 'rule' }] }, hostile)).toEqual([{ '+': [1, 2] }])
    expect(run({ map: [{ var: 'keys' }, { var: '' }] }, hostile)).toEqual(hostile.keys)
  })

  it('works on data that hides the methods of objects', () => {
    const hidden: unknown = JSON.parse('{"__proto__":{"a":1}}')
    const bare: unknown = Object.assign(Object.create(null) as object, { x: 1 })
    for (const value of [{ toString: 1, valueOf: 2, indexOf: 3 }, bare, [bare], hidden]) {
      for (const operator of '== != < <= > >= + - * / % min max cat merge in substr'.split(' ')) {
        for (const args of [
          [{ var: 'v' }, 'x'],
          ['x', { var: 'v' }],
        ]) {
          try {
            run({ [operator]: args }, { v: value })
          } catch (error) {
            expect(error).toMatchObject({ code: 'BINDING' })
          }
        }
      }
    }
  })

  it.each<[string, unknown, unknown]>([
    [
      'the scope of a reduce',
      { reduce: [{ var: 'items' }, { var: '' }, 0] },
      { current: sample.items[1], accumulator: { current: sample.items[0], accumulator: 0 } },
    ],
    [
      'what a reduce gathers',
      { reduce: [{ var: 'items' }, { merge: [{ var: 'accumulator' }, { var: 'current' }] }, []] },
      sample.items,
    ],
    ['a field of an item', { map: [[{ var: 'deep' }], { var: 'a.b.1' }] }, [20]],
    ['a record below an item', { map: [[{ var: 'deep' }], { var: 'a' }] }, [sample.deep.a]],
    [
      'a field of what a reduce carries',
      { reduce: [{ var: 'items' }, { var: ['accumulator.v', { var: 'current' }] }, null] },
      1,
    ],
    ['a record of the logic', { if: [true, {}] }, {}],
  ])('returns %s as it is in the data', (_, logic, expected) => {
    expect(run(logic, sample)).toEqual(expected)
  })

  it('finds a record in a list, equal to itself', () => {
    expect(run({ some: [{ var: 'items' }, { in: [{ var: '' }, '${streamdata.items}'] }] }, sample)).toBe(true)
    expect(run({ all: [{ var: 'items' }, { '===': [{ var: '' }, { var: '' }] }] }, sample)).toBe(true)
    expect(run({ all: [{ var: 'items' }, { '===': [{ var: '' }, '${streamdata.deep}'] }] }, sample)).toBe(false)
  })

  it('does not leak state between evaluations', () => {
    const logic = compileLogic({ cat: [{ var: 'a' }, '-', { var: 'b' }] })
    const outer = logic.evaluate(({ segments }) =>
      segments[0] === 'a' ? logic.evaluate((path) => `inner ${path.segments.join('.')}`) : 'outer',
    )
    expect(outer).toBe('inner a-inner b-outer')
  })

  it('evaluates a default only without a value', () => {
    const logic = { cat: [{ var: ['a', { var: 'b' }] }] }
    const seen: string[] = []
    const value = compileLogic(logic).evaluate(({ segments }) => {
      seen.push(segments.join('.'))
      return 'x'
    })
    expect([value, new Set(seen)]).toEqual(['x', new Set(['a'])])
  })

  it('stops multiplying work', () => {
    const list = Array.from({ length: 200 }, (_, index) => index)
    const grow = { reduce: [{ var: 'list' }, { merge: [{ var: 'accumulator' }, { var: 'accumulator' }] }, [1]] }
    const text = { reduce: [{ var: 'list' }, { cat: [{ var: 'accumulator' }, { var: 'accumulator' }] }, 'x'] }
    const loops = { map: [{ var: 'list' }, { map: ['${streamdata.list}', { map: ['${streamdata.list}', 1] }] }] }
    for (const logic of [grow, text, loops])
      expect(thrown(() => run(logic, { list }))).toMatchObject({ code: 'TOO_LARGE' })
  })

  it('is limited in depth and size', () => {
    let deep: unknown = 1
    for (let i = 0; i < 20_000; i++) deep = { '!': deep }
    let listed: unknown = 'a'
    for (let i = 0; i < 20_000; i++) listed = [listed]
    for (const logic of [deep, { missing: listed }, { and: Array.from({ length: 20_000 }, () => 1) }]) {
      const error = thrown(() => compileLogic(logic))
      expect(error).toMatchObject({ code: 'VALIDATION' })
      expect((error as AppError).issues).toHaveLength(1)
    }
  })

  it('assigns codes to lookup errors', () => {
    const failing = () =>
      compileLogic({ var: 'a' }).evaluate(() => {
        throw new TypeError('no data')
      })
    expect(thrown(failing)).toMatchObject({ code: 'BINDING' })
  })

  it.each<[unknown, string]>([
    [{ '<': [{ var: 'gone' }, 5] }, 'gone'],
    [{ '<': [0, { var: 'gone.x' }, 5] }, 'gone.x'],
    [{ '+': ['${streamdata.gone}', 1] }, 'gone'],
    [{ '-': { var: 'gone' } }, 'gone'],
    [{ max: [1, { var: 'nodes.a.rawData.gone' }] }, 'nodes.a.rawData.gone'],
    [{ map: [[1], { '+': [{ var: 'b' }, 1] }] }, 'b'],
    [{ '==': [{ var: 'gone' }, 5] }, 'gone'],
    [{ '!=': [{ var: 'gone' }, 'x'] }, 'gone'],
    [{ '!': { var: 'gone' } }, 'gone'],
    [{ '!!': [{ var: 'gone' }] }, 'gone'],
    [{ and: [{ var: 'gone' }, true] }, 'gone'],
    [{ or: [{ var: 'gone' }, 7] }, 'gone'],
    [{ if: [{ var: 'gone' }, 1, 2] }, 'gone'],
    [{ in: [{ var: 'gone' }, [1]] }, 'gone'],
    [{ filter: [[1], { var: 'on' }] }, 'on'],
    [{ some: [[1], { and: [{ var: 'on' }, true] }] }, 'on'],
  ])('does not decide with missing values: %j names %s', (logic, name) => {
    expect(() => compileLogic(logic).evaluate(() => undefined)).toThrow(
      expect.objectContaining({
        code: 'BINDING',
        message: expect.stringContaining(`"${name}" has no value`) as string,
      }),
    )
  })

  it.each<[unknown, unknown]>([
    [{ '<': [{ var: ['gone', 1] }, 5] }, true],
    [{ '==': [{ var: 'gone' }, null] }, true],
    [{ '!=': [{ var: 'gone' }, null] }, false],
    [{ and: [false, { var: 'gone' }] }, false],
    [{ or: [{ var: ['gone', 7] }, 8] }, 7],
    [{ missing: ['gone'] }, ['gone']],
    [{ cat: ['a', { var: 'gone' }] }, 'a'],
  ])('tests whether a value exists: %j is %j', (logic, value) => {
    expect(compileLogic(logic).evaluate(() => undefined)).toEqual(value)
  })
})
