import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compileExpression } from '../../../src/core/expression/expression.ts'
import { evaluate, message } from './sample.ts'

describe('an expression', () => {
  it.each<[string, unknown]>([
    ['temperature > 25 && state == "on"', true],
    ['temperature > 25 ? "hot" : "cold"', 'hot'],
    ['temperature >= 26 && temperature <= 26 && temperature < 27', true],
    ['(temperature - 32) * 5 / 9 % 4 ** 2', (((26 - 32) * 5) / 9) % 16],
    ['-temperature + +"4" - ~1', -20],
    ['6 & 3 | 8 ^ 1 << 2 >> 1 >>> 0', (6 & 3) | (8 ^ (((1 << 2) >> 1) >>> 0))],
    ['"a" + 1 + true + null', 'a1truenull'],
    ['1 + true', 2],
    ['"10" == 10', true],
    ['"10" === 10', false],
    ['nothing == undefined', true],
    ['nothing === undefined', false],
    ['no || state', 'on'],
    ['nothing ?? 4', 4],
    ['deep.a.b[1]', 20],
    ['deep["a"].b.length', 2],
    ['text.length + text[0]', '12H'],
    ['list[list.length - 1]', 2],
    ['deep?.x?.y', undefined],
    ['absent?.x.y.z', undefined],
    ['absent?.map(x => x)', undefined],
    ['(absent ?? []).length', 0],
    ['`${temperature} ${list} ${deep.a.b[0] + 1}`', '26 3,1,2 11'],
    [
      '({ a: 1, "b": [...list, 4], ["c" + 1]: state, ...deep, gone: absent })',
      { a: { b: [10, 20] }, b: [3, 1, 2, 4], c1: 'on' },
    ],
    ['{ fahrenheit: temperature * 1.8 + 32 }', { fahrenheit: 26 * 1.8 + 32 }],
    ['[1, , 3]', [1, null, 3]],
    ['temperature;', 26],
    ['temperature /* it\'s "hot" */ > 25 // yes', true],
    ['toString', 'own'],
    ['$$typeof', 1],
  ])('%s is %j', (text, value) => {
    if (text === 'toString') expect(() => compileExpression(text)).toThrow('is no data')
    else expect(evaluate(text)).toEqual(value)
  })

  it.each<[string, unknown]>([
    ['list.map((x, i) => x * i).reduce((a, b) => a + b, 0)', 5],
    ['list.map(x => list.filter(y => y > x).length)', [0, 2, 1]],
    ['list.sort().join("-") + list.sort((a, b) => b - a).toString()', '1-2-33,2,1'],
    ['Object.entries(deep).map(([key, value]) => key + value.b.length)', ['a2']],
    ['[{ n: 1, m: 2 }].map(({ n, m: other }) => n + other)', [3]],
    ['list.find(x => x < 3) + list.findLast(x => x < 3) + list.findIndex(x => x == 2)', 5],
    ['list.every(x => x > 0) && !list.some(x => x > 3) && list.includes(2)', true],
    ['[1, [2, [3]]].flat().length + [1, 2].flatMap(x => [x, x]).length', 7],
    ['list.reduceRight((a, x) => a + x, "")', '213'],
    [
      '[list.at(-1), list.indexOf(1), list.lastIndexOf(9), list.slice(1), list.concat([4], 5), list.reverse()]',
      [2, 1, -1, [1, 2], [3, 1, 2, 4, 5], [2, 1, 3]],
    ],
    [
      'text.toUpperCase().split(", ").map(s => s.toLowerCase().padStart(6, ".").padEnd(7, "!"))',
      ['.hello!', '.world!'],
    ],
    ['text.replace("l", "$&").replaceAll("o", "0")', 'He$&l0, W0rld'],
    [
      '[text.startsWith("He"), text.endsWith("d"), text.includes("lo, W"), text.indexOf("o", 5), text.lastIndexOf("o")]',
      [true, true, true, 8, 8],
    ],
    [
      '[text.slice(-5, -1), text.substring(0, 2), text.charAt(1), text.charCodeAt(1), " x ".trim(), "ab".repeat(2)]',
      ['Worl', 'He', 'e', 101, 'x', 'abab'],
    ],
    [
      '[1.005.toFixed(1), (255).toString(16), (1234.5).toPrecision(2), true.toString()]',
      ['1.0', 'ff', '1.2e+3', 'true'],
    ],
    ['Math.max(...list, 9) - Math.min(1, 2) + Math.round(2.5) + Math.hypot(3, 4)', 16],
    ['Math.floor(Math.PI) + Number("4") + parseInt("12px") + Number.parseFloat("1.5")', 20.5],
    [
      '[Number.isInteger(4), isNaN("x"), Boolean(""), String(1.5), Array.isArray(list), Math.abs(-2)]',
      [true, true, false, '1.5', true, 2],
    ],
    ['JSON.parse("{\\"a\\":[1]}").a[0] + JSON.stringify({ b: [list] })', '1{"b":[[3,1,2]]}'],
    ['Object.fromEntries(Object.keys(deep).map(key => [key, 1]))', { a: 1 }],
    ['[Date.now() - Date.parse("2026-01-01T00:00:00Z"), Date.parse("01/02/2026")]', [0, Number.NaN]],
  ])('with functions, %s is %j', (text, value) => {
    expect(evaluate(text)).toEqual(value)
  })

  it.each<[string, unknown]>([
    ['"${nodes.dice.state}" == "ONE"', true],
    ["'${nodes.dice.state}' !== 'TWO'", true],
    ['"${nodes["my node"].state}" == "Above"', true],
    ['$${nodes.dice.rawData.items}.map(x => x.n * 2)', [2, 4]],
    ['${nodes.dice.rawData.v} > variables.limit', true],
    ['"it is ${nodes.dice.rawData.items} and ${streamdata.temperature}"', 'it is [{"n":1},{"n":2}] and 26'],
    ['"${?nodes.gone.state}" !== ""', false],
    ['${?nodes.gone.state} ?? "unknown"', 'unknown'],
    ['"\\${x}"', '${x}'],
    ['`${nodes.dice.state}`', 'ONE'],
    ['nodes.dice.rawData.items[nodes.dice.rawData.items.length - 1].n', 2],
    ['nodes["my node"].state + task.TASK_ID + loop.id', 'Abovet17'],
  ])('reads placeholders where they stand: %s is %j', (text, value) => {
    expect(evaluate(text)).toEqual(value)
  })

  it('names what it reads, each once', () => {
    const { uses } = compileExpression(
      't > variables.limit && "${nodes.a.state}" == nodes.a.state && nodes.b.rawData.x.y > t',
    )
    expect(uses.map(({ parts }) => parts.join('.'))).toEqual([
      'streamdata.t',
      'variables.limit',
      'nodes.a.state',
      'nodes.b.rawData.x',
    ])
  })

  it.each([
    ['absent > 3', '"absent"'],
    ['3 >= absent', '"absent"'],
    ['absent == 3', '"absent"'],
    ['state !== absent', '"absent"'],
    ['absent + 1', '"absent"'],
    ['absent + "x"', '"absent"'],
    ['-absent', '"absent"'],
    ['`${absent}`', '"absent"'],
    ['deep.x.y', '"deep.x"'],
    ['deep.a.c * 2', '"deep.a.c"'],
    ['absent.map(x => x)', '"absent"'],
    ['list.map(x => x.y + 1)', '"x.y"'],
    ['Math.max(absent)', '"argument 1 of Math.max(absent)"'],
    ['"${nodes.gone.state}"', '"${nodes.gone.state}"'],
  ])('%s fails, because what is unknown is not false, and names %s', (text, name) => {
    expect(() => evaluate(text)).toThrow(
      expect.objectContaining({ code: 'BINDING', message: expect.stringContaining(`${name} has no value`) as string }),
    )
  })

  it.each<[string, unknown]>([
    ['absent == null', true],
    ['absent === undefined', true],
    ['null != absent', false],
    ['typeof absent', 'undefined'],
    ['!absent', true],
    ['absent ?? 1', 1],
    ['absent && absent > 3', undefined],
    ['absent ? 1 : 2', 2],
  ])('%s asks whether there is a value: %j', (text, value) => {
    expect(evaluate(text)).toEqual(value)
  })

  it.each([
    ['nothing.x', 'null'],
    ['list > 3', 'a list'],
    ['deep + 1', 'no text'],
    ['temperature.trim()', 'a number'],
    ['list.map(3)', 'arrow function'],
    ['(1).toFixed(101)', '0 to 100'],
    ['[].reduce((a, b) => a)', 'empty list'],
    ['JSON.parse("{")', 'no JSON'],
    ['Object.keys(3)', 'not an object'],
  ])('%s fails and says why: %s', (text, reason) => {
    expect(() => evaluate(text)).toThrow(
      expect.objectContaining({ code: 'BINDING', message: expect.stringContaining(reason) as string }),
    )
  })

  it.each([
    ['', 'column 1', 'empty'],
    ['1 +', 'column 4', 'ends too early'],
    ['a > 1) && (b', 'column 6', 'follows the end'],
    ['a = 3', 'column 1', 'compare with =='],
    ['temperature > 25 && a++', 'column 21', 'only reads'],
    ['x => x', 'column 1', 'list.map'],
    ['list.forEach(x => x)', 'column 6', 'use map'],
    ['text.includess("x")', 'column 6', 'did you mean includes?'],
    ['Math.sqroot(2)', 'column 1', 'did you mean Math.sqrt?'],
    ['Math.random()', 'column 1', 'dice'],
    ['/a+/.test(text)', 'column 6', 'regular expression'],
    ['text.split(/a+/)', 'column 12', 'regular expression'],
    ['nodes.dice', 'column 1', 'nodes.dice.state'],
    ['nodes[state].state', 'column 1', 'write the path out'],
    ['vault.KEY', 'column 1', 'secret'],
    ['"${vault.KEY}"', 'column 1', 'secret'],
    ['a > ${nodes..x}', 'column 5', 'empty step'],
    ['a >\n  b.foo()', 'line 2, column 5', 'no method "foo"'],
    ['list.map(x => { return x })', 'column 10', 'short arrow'],
    ['1n', 'column 1', 'bigint'],
    ['Math', 'column 1', 'alone'],
    ['"a" in deep', 'column 1', 'operator in'],
  ])('%j is refused at %s: %s', (text, place, hint) => {
    expect(() => compileExpression(text)).toThrow(expect.objectContaining({ code: 'VALIDATION' }))
    expect(() => compileExpression(text)).toThrow(place)
    expect(() => compileExpression(text)).toThrow(hint)
  })

  it('reports all that is wrong at once', () => {
    expect(() => compileExpression('a = 1, Math.random() + this')).toThrow(
      expect.objectContaining({ code: 'VALIDATION' }),
    )
    expect(() => compileExpression('Math.random() + this.x + list.push(1)')).toThrow('3 problems')
  })

  it('leaves the data as it was', () => {
    const before = JSON.stringify(message)
    evaluate('[list.sort(), list.reverse(), list.concat(1), { ...deep, a: 1 }]')
    expect(JSON.stringify(message)).toBe(before)
  })

  it('computes as JavaScript does', () => {
    const number = fc.oneof(fc.integer({ min: -9, max: 9 }), fc.double({ noNaN: true, noDefaultInfinity: true }))
    const operator = fc.constantFrom(
      '+',
      '-',
      '*',
      '/',
      '%',
      '<',
      '<=',
      '>',
      '>=',
      '==',
      '!=',
      '===',
      '&',
      '|',
      '^',
      '>>',
    )
    const { tree } = fc.letrec<{ tree: string }>((tie) => ({
      tree: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        number.map((value) => `(${value})`),
        fc.tuple(tie('tree'), operator, tie('tree')).map(([a, op, b]) => `(${a} ${op} ${b})`),
        fc.tuple(tie('tree'), tie('tree'), tie('tree')).map(([a, b, c]) => `(${a} ? ${b} : ${c})`),
        tie('tree').map((a) => `Math.abs(${a})`),
      ),
    }))
    fc.assert(
      fc.property(tree, (text) => {
        // oxlint-disable-next-line no-new-func, no-implied-eval, typescript/no-unsafe-call -- because the machine itself is the judge here
        expect(evaluate(text)).toEqual(new Function(`return ${text}`)())
      }),
      { numRuns: 500 },
    )
  })
})
