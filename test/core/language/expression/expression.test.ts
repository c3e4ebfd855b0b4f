import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compileExpression } from '../../../../src/core/language/expression/expression.ts'
import { readerOf } from '../../../../src/core/language/expression/reader.ts'
import { ownValue } from '../../../../src/kernel/json.ts'
import { evaluate, message } from './sample.ts'
import { runs } from '../../../support/arbitraries/runs.ts'

// Holds EXPRESSION-1, EXPRESSION-3, EXPRESSION-5
describe('an expression', () => {
  it.each<[string, unknown]>([
    ['temperature > 25 && state == "on"', true],
    ['temperature > 25 ? "hot" : "cold"', 'hot'],
    ['temperature >= 26 && temperature <= 26 && temperature < 27', true],
    ['(temperature - 32) * 5 / 9 % 4 ** 2', (((26 - 32) * 5) / 9) % 16],
    ['-temperature + +"4" - ~1', -20],
    ['6 & 3 | 8 ^ 1 << 2 >> 1 >>> 0', (6 & 3) | (8 ^ (((1 << 2) >> 1) >>> 0))],
    ['"a" + 1 + true', 'a1true'],
    ['"1" + "2"', '12'],
    ['"21.50" + 1', 22.5],
    ['1 + temperature + " C"', '27 C'],
    ['String(temperature) + 1', '261'],
    ['"0123" == 123', false],
    ['"20.0" == 20', true],
    ['true == 1', false],
    ['"true" == true', false],
    ['"12345678901234567890" == "12345678901234567891"', false],
    ['isKnown(absent) || isKnown(nothing) || isKnown(0 / 0)', false],
    ['isKnown("") && isKnown(no) && isKnown(0)', true],
    ['number("21.50") > number("3")', true],
    ['Math.min(Infinity, temperature) < Infinity', true],
    ['"10" == 10', true],
    ['"10" === 10', false],
    ['nothing == undefined', true],
    ['nothing === undefined', false],
    ['no || state', 'on'],
    ['nothing ?? 4', 4],
    ['deep.a.b[1]', 20],
    ['deep["a"].b.length', 2],
    ['`${text.length}${text[0]}`', '12H'],
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
    if (text === 'toString') expect(() => compileExpression(text)).toThrow('is not data')
    else expect(evaluate(text)).toEqual(value)
  })

  it.each<[string, unknown]>([
    ['list.map((x, i) => x * i).reduce((a, b) => a + b, 0)', 5],
    ['list.map(x => list.filter(y => y > x).length)', [0, 2, 1]],
    ['list.sort().join("-") + list.sort((a, b) => b - a).toString()', '1-2-33,2,1'],
    ['Object.entries(deep).map(([key, value]) => `${key}${value.b.length}`)', ['a2']],
    ['[{ n: 1, m: 2 }].map(({ n, m: other }) => n + other)', [3]],
    ['list.find(x => x < 3) + list.findLast(x => x < 3) + list.findIndex(x => x == 2)', 5],
    ['list.every(x => x > 0) && !list.some(x => x > 3) && list.includes(2)', true],
    ['[1, [2, [3]]].flat().length + [1, 2].flatMap(x => [x, x]).length', 7],
    ['list.reduceRight((a, x) => `${a}${x}`, "")', '213'],
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
    ['`${JSON.parse("{\\"a\\":[1]}").a[0]}${JSON.stringify({ b: [list] })}`', '1{"b":[[3,1,2]]}'],
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
    ['nodes["my node"].state + task.TASK_ID + `${loop.id}`', 'Abovet17'],
  ])('reads placeholders where they stand: %s is %j', (text, value) => {
    expect(evaluate(text)).toEqual(value)
  })

  it.each<[string, unknown]>([
    ['temperature in [5, 26]', true],
    ['temperature in [5, 6]', false],
    ['"26" in [26]', true],
    ['"026" in [26]', false],
    ['state in ["on", "off"]', true],
    ['2 in list', true],
    ['0 in list', false],
    ['[NaN].includes(NaN)', true],
    ['null in [nothing]', true],
    ['!(temperature in [5, 6])', true],
    ['"a" in deep', true],
    ['"b" in deep', false],
    ['"toString" in deep', false],
    ['"constructor" in deep', false],
    ['1 in { "1": 0 }', true],
    ['list.filter(x => x in [1, 2])', [1, 2]],
    ['between(temperature, 20, 30)', true],
    ['between(26, temperature, temperature)', true],
    ['between(temperature, 27, 30)', false],
    ['between(temperature, 30, 20)', false],
    ['between("b", "a", "c")', true],
    ['contains(text, "World")', true],
    ['contains(text, "world")', false],
    ['contains(list, 3)', true],
    ['contains(list, "3")', false],
    ['now', 1_767_225_600_000],
    ['now - Date.now()', 0],
    ['[year(now), month(now), day(now), hour(now), minute(now), second(now)]', [2026, 1, 1, 0, 0, 0]],
    ['weekday(now)', 'Thursday'],
    ['hour(now, "Europe/Brussels")', 1],
    ['[day(now, "America/New_York"), weekday(now, "America/New_York")]', [31, 'Wednesday']],
    ['hour("2026-07-01T23:30:00Z", "Europe/Brussels")', 1],
    ['minute("2026-07-01T23:30:00+05:45")', 45],
    ['hour(now) in [0, 1] && weekday(now) in ["Thursday", "Friday"]', true],
    ['[1].map(now => now + 1)', [2]],
    ['streamdata.hour ?? hour(now)', 0],
    ['hour ?? "no value of that name"', 'no value of that name'],
    ['({ "${nodes.dice.state}": 1 })', { ONE: 1 }],
    ['deep["${streamdata.key}"] ?? "none"', 'none'],
  ])('accepts words as operators: %s is %j', (text, value) => {
    expect(evaluate(text, { key: 'x' })).toEqual(value)
  })

  it('reads names that are also functions as values of the message', () => {
    expect(evaluate('hour + day + contains', { hour: 1, day: 2, contains: 3 })).toBe(6)
  })

  it.each([
    ['absent in [1]', '"absent" has no value'],
    ['1 in absent', '"absent" has no value'],
    ['"a" in text', 'write contains(text, "a")'],
    ['1 in temperature', 'neither a list nor an object'],
    ['true in deep', 'must be a text'],
    ['hour(absent)', '"argument 1 of hour(absent)" has no value'],
    ['hour("soon")', 'not an instant'],
    ['hour(1e300)', 'not an instant'],
    ['contains(temperature, 2)', 'has no method includes'],
    ['contains(list, absent)', 'has no value'],
    ['between(absent, 1, 2)', 'has no value'],
    ['between(list, 1, 2)', 'is a list'],
  ])('%s fails with: %s', (text, reason) => {
    expect(() => evaluate(text)).toThrow(
      expect.objectContaining({ code: 'BINDING', message: expect.stringContaining(reason) as string }),
    )
  })

  it.each<[string, unknown]>([
    ['temperature / 2 > 5 || "/" == state', true],
    ['${nodes.dice.rawData.v} / 5 + ${variables.limit} / 3', 2],
    ['`${temperature}` / 2 /* ${ */ / 1', 13],
  ])('distinguishes division from regular expressions: %s is %j', (text, value) => {
    expect(evaluate(text)).toEqual(value)
  })

  it('draws random numbers if the caller provides them, equal for equal seeds', () => {
    const { evaluate: run } = compileExpression('[Math.random(), Math.random()]', { chance: true })
    const drawn = () => run(() => undefined, 0, { random: () => 0.5 }) as readonly number[]
    expect(drawn()).toEqual(drawn())
    expect(drawn()[0]).not.toBe(drawn()[1])
    expect(run(() => undefined, 0, { random: () => 0.6 })).not.toEqual(drawn())
  })

  it('lists the names that it reads, each once', () => {
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
    ['!absent', '"absent"'],
    ['absent && true', '"absent"'],
    ['absent || true', '"absent"'],
    ['absent ? 1 : 2', '"absent"'],
    ['Boolean(absent)', '"argument 1 of Boolean(absent)"'],
    ['number(absent)', '"argument 1 of number(absent)"'],
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
  ])('%s fails, since unknown is not false, and names %s', (text, name) => {
    expect(() => evaluate(text)).toThrow(
      expect.objectContaining({ code: 'BINDING', message: expect.stringContaining(`${name} has no value`) as string }),
    )
  })

  it.each<[string, unknown]>([
    ['absent == null', true],
    ['absent === undefined', true],
    ['null != absent', false],
    ['typeof absent', 'undefined'],
    ['absent ?? 1', 1],
    ['absent != null && absent > 3', false],
    ['isKnown(absent) ? 1 : 2', 2],
    ['state == "on" || absent', true],
  ])('%s tests whether a value exists: %j', (text, value) => {
    expect(evaluate(text)).toEqual(value)
  })

  it.each([
    ['nothing.x', 'null'],
    ['list > 3', 'a list'],
    ['deep + 1', 'is an object'],
    ['nothing < 10', 'is null, so the result is unknown'],
    ['nothing == 3', 'is null'],
    ['!nothing', 'is null'],
    ['"" < 10', 'is an empty text'],
    ['" " < 10', 'is an empty text'],
    ['"0123" < 10', 'is the text "0123", which is not a plain decimal'],
    ['"1e3" * 2', 'not a plain decimal'],
    ['-"0x10"', 'not a plain decimal'],
    ['Math.abs(" 5 ")', 'not a plain decimal'],
    ['no < 10', 'is false, which is not a number'],
    ['1 + no', 'is false, which is not a number'],
    ['state + 1', 'is the text "on"'],
    ['"9" < "10"', 'write number("9") and number("10")'],
    ['0 / 0 > 1', 'is NaN'],
    ['1 / 0 > 1', 'is Infinity'],
    ['!(0 / 0)', 'is NaN'],
    ['NaN in [NaN]', 'is NaN'],
    ['Number(nothing)', 'is null'],
    ['list.filter(x => x.on)', 'has no value'],
    ['between("5", "1", "9")', 'write number('],
    ['temperature.trim()', 'a number'],
    ['list.map(3)', 'arrow function'],
    ['(1).toFixed(101)', '0 to 100'],
    ['[].reduce((a, b) => a)', 'empty list'],
    ['JSON.parse("{")', 'not valid JSON'],
    ['Object.keys(3)', 'not an object'],
  ])('%s fails and explains why: %s', (text, reason) => {
    expect(() => evaluate(text)).toThrow(
      expect.objectContaining({ code: 'BINDING', message: expect.stringContaining(reason) as string }),
    )
  })

  it.each([
    ['', 'column 1', 'empty'],
    ['1 +', 'column 4', 'ends too early'],
    ['a > 1) && (b', 'column 6', 'follows the end'],
    ['a = 3', 'column 1', 'compare with =='],
    ['temperature > 25 && a++', 'column 21', 'only read'],
    ['x => x', 'column 1', 'list.map'],
    ['list.forEach(x => x)', 'column 6', 'use map'],
    ['text.includess("x")', 'column 6', 'did you mean includes?'],
    ['Math.sqroot(2)', 'column 1', 'did you mean Math.sqrt?'],
    ['Math.random()', 'column 1', 'dice'],
    ['/a+/.test(text)', 'column 6', 'regular expression'],
    ['text.split(/a+/)', 'column 12', 'regular expression'],
    ['nodes.dice', 'column 1', 'nodes.dice.state'],
    ['nodes[state].state', 'column 1', 'write the path literally'],
    ['vault.KEY', 'column 1', 'secret'],
    ['"${vault.KEY}"', 'column 1', 'secret'],
    ['a > ${nodes..x}', 'column 5', 'empty step'],
    ['a >\n  b.foo()', 'line 2, column 5', 'unknown method "foo"'],
    ['list.map(x => { return x })', 'column 10', 'short arrow'],
    ['1n', 'column 1', 'bigint'],
    ['Math', 'column 1', 'alone'],
    ['!temperature in list', 'column 1', 'write !(x in list)'],
    ['"a" in "abc"', 'column 8', 'write contains(text, part)'],
    ['temperature in `${state}`', 'column 16', 'write contains(text, part)'],
    ['list.contains(2)', 'column 6', 'write includes'],
    ['temperature between 5 and 30', 'column 13', 'write between(x, low, high)'],
    ['text contains "H"', 'column 6', 'write contains(textOrList, part)'],
    ['temperature > 5 and no', 'column 17', 'write &&'],
    ['temperature > 5 OR no', 'column 17', 'write ||'],
    ['state is "on"', 'column 7', 'write x == y'],
    ['between(hour(now), 21, 8)', 'column 1', 'is never true, because 21 is above 8'],
    ['between(hour(now, "Europe/Brussels"), 21, 8)', 'column 1', 'write hour(...) >= 21 || hour(...) <= 8'],
    ['between(month(now), 11, 2)', 'column 1', 'write month(...) >= 11 || month(...) <= 2'],
    ['between(temperature, 5)', 'column 1', 'needs 3 arguments'],
    ['contains(...list)', 'column 1', 'needs 2 arguments'],
    ['hour()', 'column 1', 'hour(now)'],
    ['hour(now, state)', 'column 1', 'write it literally'],
    ['hour(now, "Europe/Atlantis")', 'column 1', 'not a time zone'],
    ['weekday(now) == 1', 'column 1', '"Monday"'],
    ['weekday(now) in [0, 6]', 'column 1', '"Monday"'],
    ['hours(now) > 5', 'column 1', 'did you mean hour?'],
    ['now() > 5', 'column 1', 'without brackets'],
    ['/^${nodes.dice.state}$/.test(state)', 'column 3', 'new RegExp'],
    ['nodes["${variables.limit}"].state', 'column 1', 'write the path literally'],
  ])('%j is rejected at %s: %s', (text, place, hint) => {
    expect(() => compileExpression(text)).toThrow(expect.objectContaining({ code: 'VALIDATION' }))
    expect(() => compileExpression(text)).toThrow(place)
    expect(() => compileExpression(text)).toThrow(hint)
  })

  it('reports all problems at once', () => {
    expect(() => compileExpression('a = 1, Math.random() + this')).toThrow(
      expect.objectContaining({ code: 'VALIDATION' }),
    )
    expect(() => compileExpression('Math.random() + this.x + list.push(1)')).toThrow('3 problems')
  })

  it('does not modify the data', () => {
    const before = JSON.stringify(message)
    evaluate('[list.sort(), list.reverse(), list.concat(1), { ...deep, a: 1 }]')
    expect(JSON.stringify(message)).toBe(before)
  })

  it('computes as JavaScript does, as long as all numbers are finite', () => {
    const number = fc.oneof(fc.integer({ min: -9, max: 9 }), fc.double({ noNaN: true, noDefaultInfinity: true }))
    const operator = fc.constantFrom('+', '-', '*', '/', '%', '&', '|', '^', '>>')
    const literal = number.map((value) => `(${value})`)
    const order = fc.constantFrom('<', '<=', '>', '>=', '==', '!=', '===')
    const test = fc.tuple(literal, order, literal).map((parts) => parts.join(' '))
    const { tree } = fc.letrec<{ tree: string }>((tie) => ({
      tree: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        literal,
        fc.tuple(tie('tree'), operator, tie('tree')).map(([a, op, b]) => `(${a} ${op} ${b})`),
        fc.tuple(test, tie('tree'), tie('tree')).map(([a, b, c]) => `(${a} ? ${b} : ${c})`),
        tie('tree').map((a) => `Math.abs(${a})`),
      ),
    }))
    fc.assert(
      fc.property(tree, (text) => {
        let value: unknown
        try {
          value = evaluate(text)
        } catch (error) {
          expect((error as Error).message).toMatch(/is (?:NaN|-?Infinity), so the result is unknown/)
          return
        }
        // oxlint-disable-next-line no-new-func, no-implied-eval, typescript/no-unsafe-call -- because JavaScript is the reference
        expect(value).toEqual(new Function(`return ${text}`)())
      }),
      runs(500),
    )
  })

  it.each<[string, boolean]>([
    ['20.1 - 20 > 0.1', false],
    ['20.1 - 20 >= 0.1', true],
    ['20.1 - 20 == 0.1', true],
    ['0.1 + 0.2 != 0.3', false],
    ['0.3 < 0.1 + 0.2', false],
    ['Math.abs(20 - 20.1) > 0.1', false],
    ['-(20.1 - 20) < -0.1', false],
    ['1000000000.1 - 1000000000 > 0.1', false],
    ['1000000000.1 - 1000000000 == 0.1', true],
    ['20.100001 - 20 > 0.1', true],
    ['between(20.1 - 20, 0, 0.1)', true],
    ['0.1 * 3 == 0.3', false],
  ])('treats a sum as equal to a limit if only rounding separates them: %s is %s', (text, value) => {
    expect(evaluate(text)).toBe(value)
  })

  it('treats numbers that JSON cannot represent as unknown', () => {
    const big = { serial: 2 ** 60, inside: { serial: 2 ** 53 } }
    const uses = (text: string) =>
      compileExpression(text).evaluate(
        readerOf({ streamValue: (key) => ownValue(big, key), lookup: () => undefined, isNew: () => true }),
        0,
      )
    expect([uses('serial ?? "none"'), uses('inside.serial ?? "none"')]).toEqual(['none', 'none'])
    expect(() => uses('serial > 5')).toThrow('"serial" has no value')
  })

  it('is compiled once for all uses of a text, and its values are not shared', () => {
    const [one, other] = [compileExpression('[1, [temperature]]'), compileExpression('[1, [temperature]]')]
    expect(other.uses).toBe(one.uses)
    const value = one.evaluate(() => 20, 0) as unknown[]
    value.push('changed')
    expect([one.evaluate(() => 21, 0), other.evaluate(() => 22, 0)]).toEqual([
      [1, [21]],
      [1, [22]],
    ])
  })

  it('has random numbers only if compiled with them, in any order', () => {
    expect(() => compileExpression('Math.random() + 1', { chance: true })).not.toThrow()
    expect(() => compileExpression('Math.random() + 1')).toThrow('random numbers')
  })
})
