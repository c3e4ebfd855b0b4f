import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  compileCode,
  compileConditionCode,
  compileNumberCode,
} from '../../../../src/core/language/script/compile-code.ts'
import { Sandbox } from '../../../../src/core/language/script/sandbox.ts'
import { drawSeed } from '../../../../src/core/language/expression/run.ts'
import { valuesOf } from '../../../../src/core/language/script/encoded-values.ts'
import { zoneOffsets } from '../../../../src/core/language/script/zone-offsets.ts'
import { compileScriptExpression } from '../../../../src/core/language/script/script-expression.ts'
import { compileExpression } from '../../../../src/core/language/expression/expression.ts'
import { runs } from '../../../support/arbitraries/runs.ts'
import { AppError, messageOf } from '../../../../src/kernel/errors.ts'
import { ownValue } from '../../../../src/kernel/json.ts'

const fence = new Sandbox()
const TEXTS = { blank: '', code: '0123', price: '21.50', low: '9', high: '10', yes: true }
const roots = {
  streamdata: {
    t: 26,
    s: 'on',
    list: [3, 1, 2],
    deep: { a: { b: [10, 20] } },
    nothing: null,
    nan: Number.NaN,
    ...TEXTS,
  },
  nodes: { dice: { state: 'ONE', rawData: { v: 5 } } },
  variables: { limit: 3 },
}
const lookup = ({ parts }: { readonly parts: readonly string[] }) =>
  parts.reduce<unknown>((value, key) => ownValue(value, key), roots)

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
const around = { random: () => 0.25, log: silent }

const valueOf = async (text: string) => compileCode(text, fence).evaluate(lookup, 1000, around)

/** The value in the sandbox, even of an expression that closures can evaluate. */
async function inFence(text: string): Promise<unknown> {
  const script = compileScriptExpression(text, 'value')
  if ('problems' in script) throw new Error(script.problems.map(({ message }) => message).join())
  const values = valuesOf(script.uses, lookup)
  const zones = Object.fromEntries(script.zones.map((zone) => [zone, zoneOffsets(zone)(1000)]))
  const result = await fence.runCode(script.code, { now: 1000, seed: drawSeed(around), values, zones })
  const answer = result.value as Record<string, unknown>
  return 'missing' in answer ? `missing ${String(answer['missing'])}` : answer['value']
}

// Holds SCRIPT-1 to SCRIPT-4, SANDBOX-4
describe('code that is more than an expression', () => {
  it.each<[string, unknown]>([
    ['(function () { return t * 2 })()', 52],
    ['let sum = 0\nfor (const x of list) sum += x\nreturn sum + variables.limit', 9],
    ['if (nodes.dice.state === "ONE") { return { v: nodes.dice.rawData.v } } return {}', { v: 5 }],
    ['/^o/.test(s)', true],
    ['s.replace(/n/g, "ff")', 'off'],
    ['String.raw`a${t}`', 'a26'],
    ['`${[...s].map((c) => { return c + t }).join()}`', 'o26,n26'],
    ['list.toSorted((a, b) => { return b - a })', [3, 2, 1]],
    ['new Date(0).toISOString()', '1970-01-01T00:00:00.000Z'],
    ['new Set([...list, 3]).size', 3],
    ['Date.now() + (() => { let x = 1; x++; return x })()', 1002],
    ['(() => { const t = 1; { let s = t; s++; return s } })()', 2],
    ['(x => { var { t, list: [y] = [7] } = { t: x }; return t + y })(1)', 8],
    ['const { deep: d } = { deep }; return d.a.b[1] + deep.a.b[0]', 30],
    ['return "${nodes.dice.state} at $${streamdata.t}, ${?nodes.gone.state}."', 'ONE at 26, .'],
    ['return $${nodes.dice.rawData.v} + ${streamdata.t}', 31],
    ['return { t, s }', { t: 26, s: 'on' }],
    ['return nothing', null],
    ['class P { constructor(v) { this.v = v } twice() { return this.v * 2 } } return new P(t).twice()', 52],
    ['return gone == null && typeof gone === "undefined" && gone?.x === undefined && !isKnown(gone)', true],
    ['try { null.x } catch { return "caught" }', 'caught'],
    ['return undefined', undefined],
    ['let a = t; a in [5, 26]', true],
    [
      'const all = list; [1 in all, 0 in all, "a" in deep, "toString" in deep, "1" in all]',
      [true, false, true, false, true],
    ],
    ['class A { get x() { return 1 } } let a = new A(); "x" in a', true],
    ['let a = t; between(a, 20, 30) && contains(s, "n") && contains(list, 3)', true],
    [
      'let at = now; [year(at), month(at), day(at), hour(at), minute(at), second(at), weekday(at)]',
      [1970, 1, 1, 0, 0, 1, 'Thursday'],
    ],
    [
      'let at = now; [hour(at, "America/New_York"), weekday(at, "America/New_York"), hour("1970-06-01", "Asia/Kolkata")]',
      [19, 'Wednesday', 5],
    ],
    ['let at = "1970-07-01T12:00:00Z"; hour(at, "America/New_York")', 8],
    ['let hour = (x) => x + 1; hour(1)', 2],
    ['const { now } = { now: 7 }; return { now }', { now: 7 }],
    ['let x = { now }; x.now === Date.now()', true],
    ['let x = { "${nodes.dice.state}": 1 }; x', { ONE: 1 }],
    ['let a = s.replace(/["\'/]/g, "${nodes.dice.state}"); a', 'on'],
    ['let x; return console.log("quiet", t)', undefined],
  ])('%s returns %j', async (text, value) => {
    expect(await valueOf(text)).toEqual(value)
  })

  it.each([
    ['return gone > 5', 'gone'],
    ['let x = 1; return x + gone', 'gone'],
    ['return list.some(function (x) { return x < gone })', 'gone'],
    ['return deep.a.c > 1', 'deep.a.c'],
    ['return gone.x.y', 'gone'],
    ['return nodes.gone.state === "ON"', 'nodes.gone.state'],
    ['let x = 0; x += gone; return x', 'gone'],
    ['return `${gone}`', 'gone'],
    ['return "is ${nodes.gone.state}"', '${nodes.gone.state}'],
    ['for (const x of gone) ; return 1', 'gone'],
    ['let a = [1]; gone in a', 'gone'],
    ['let a = 1; a in gone', 'gone'],
    ['let a = 1; between(a, gone, 3)', 'gone'],
    ['let a = hour(gone); a', 'gone'],
  ])('%s fails and names the missing values: %s', async (text, name) => {
    await expect(valueOf(text)).rejects.toMatchObject({
      code: 'BINDING',
      message: expect.stringContaining(`"${name}" has no value`) as string,
    })
  })

  it('returns numbers that JSON cannot express', async () => {
    expect(await valueOf('let x = Number.isNaN(nan); return [x, typeof nan]')).toEqual([true, 'number'])
  })

  it.each([
    ['let x = nothing < 10; x', '"nothing" is null, so the result is unknown'],
    ['let x = !nothing; x', '"nothing" is null'],
    ['if (nothing) true; else false', '"nothing" is null'],
    ['let x = 1; nothing ? x : 2', '"nothing" is null'],
    ['let x = nothing && 1; x', '"nothing" is null'],
    ['let x = nan < 100; x', '"nan" is NaN'],
    ['let x = gone || 1; x', '"gone" has no value'],
    ['let x = blank < 10; x', '"blank" must be a number, but is the text ""'],
    ['let x = code < 10; x', 'is the text "0123"'],
    ['let x = code * 2; x', 'is the text "0123"'],
    ['let x = Math.abs(code); x', 'is the text "0123"'],
    ['let x = -nothing; x', '"nothing" is null'],
    ['let x = yes + 1; x', 'is a boolean'],
    ['let x = low < high; x', 'write number(a) < number(b)'],
    ['let x = between(nothing, 1, 2); x', '"nothing" is null'],
  ])('does not decide with unknown values: %s fails with %s', async (text, reason) => {
    await expect(valueOf(text)).rejects.toThrow(reason)
  })

  it.each<[string, unknown]>([
    ['let x = code == 123; x', false],
    ['let x = price == 21.5; x', true],
    ['let x = price + 1; x', 22.5],
    ['let x = "T: " + t; x', 'T: 26'],
    ['let x = yes == 1; x', false],
    ['let x = number(low) < number(high); x', true],
    ['let x = [isKnown(nothing), isKnown(nan), isKnown(blank)]; x', [false, false, true]],
    ['let x = nothing ?? 1; x', 1],
    ['let x = null; x < 10', true],
  ])('parses texts as expressions do: %s is %j', async (text, value) => {
    expect(await valueOf(text)).toEqual(value)
  })

  it('is a condition or a number depending on its inner return', async () => {
    const holds = async (text: string) => compileConditionCode(text, fence).evaluate(lookup, 0, around)
    expect(await Promise.all(['return {}', 'return ""', 'return 1'].map(holds))).toEqual([true, false, true])
    for (const text of ['return 1 / 0', 'return NaN', 'return null', 'let x; x']) {
      await expect(holds(text)).rejects.toThrow('so the result is unknown')
    }
    const number = async (text: string) => compileNumberCode(text, fence).evaluate(lookup, 0, around)
    for (const text of ['return -1 / 0', 'return null', 'return "0123"', 'return true', 'return'])
      await expect(number(text)).rejects.toThrow(/so the result is unknown|must return a number/)
    expect(await number('return t + 0.5')).toEqual({ number: 26.5, slack: 0 })
    expect(await number('return "21.50"')).toEqual({ number: 21.5, slack: 0 })
  })

  it.each([
    ['temperature >', 'column 14'],
    ['let x = 1;\nlet y = ;\nreturn y', 'line 2, column 9'],
    ['let x = 1', 'no value'],
    ['t = 5', 'only read'],
    ['let x = list; x.contains(3)', 'write includes'],
    ['let x = t; !x in list', 'write !(x in list)'],
    ['let d = weekday(now); d; weekday(now) == 6', '"Monday"'],
    ['let z = s; hour(now, z)', 'write it literally'],
    ['let x = 1; return hours(x)', 'did you mean hour?'],
    ['let r = /^${nodes.dice.state}/; r.test(s)', 'new RegExp'],
    ['let x = 1; console.trace(x); x', '"console.trace"'],
    ['let x = 1; t = x; return t', '"t" is assigned to'],
    ['return vault.KEY', 'secret'],
    ['return nodes', 'alone is not a value'],
    ['return nodes[s].state', 'computes the path that it reads'],
    ['let x; return foo(x)', 'unknown function "foo"'],
    ['return s.inclues("o")', 'unknown method "inclues"'],
    ['return Math.mxa(1)', '"Math.mxa"'],
    ['return await t', 'column'],
    ['return (async () => 1)()', 'must return at once'],
    ['function (x) { return x }', 'function'],
    ['const { a, ...rest } = deep; return rest', 'name the fields'],
    ['return "${vault.KEY}"', 'secret'],
    ['return __proto__', 'not data'],
  ])('rejects %s when it is checked: %s', (text, part) => {
    expect(() => compileCode(text, fence)).toThrow(
      expect.objectContaining({ code: 'VALIDATION', message: expect.stringContaining(part) as string }),
    )
  })

  it.each([
    ['while (true) {} return 1', 'TOO_LARGE'],
    ['let s = "1".repeat(1e6); for (;;) +s; return 1', 'TOO_LARGE'],
    ['const a = []; for (;;) a.push(new Array(1000).fill(0)); return 1', 'TOO_LARGE'],
    ['throw new Error("no luck"); return 1', 'PLUG_FAILED'],
    ['return globalThis.process.exit(1)', 'VALIDATION'],
    ['return globalThis.process', 'BINDING'],
    ['let x = "abc"; "a" in x', 'PLUG_FAILED'],
    ['let x = "soon"; hour(x)', 'PLUG_FAILED'],
    ['let x = 9e12; hour(x, "Europe/Brussels")', 'PLUG_FAILED'],
    ['return (() => {}).constructor("return 1")()', 'VALIDATION'],
  ])('ends %s with %s', async (text, code) => {
    const ended = await valueOf(text).catch((error: unknown) => error)
    expect(ended).toBeInstanceOf(AppError)
    expect((ended as AppError).code).toBe(code)
  })

  it.each([['('], ['['], ['{a:'], ['-'], ['x => '], ['`${'], ['a.b[']])('accepts ten thousand %s', (piece) => {
    for (const end of ['', '1', 'return 1']) {
      expect(() => compileCode(piece.repeat(9_990 / piece.length) + end, fence)).toThrow(AppError)
    }
  })

  it('keeps no state between evaluations', async () => {
    const compiled = compileCode('Array.prototype.left = (Array.prototype.left ?? 0) + 1; return [].left', fence)
    expect([await compiled.evaluate(lookup, 0, around), await compiled.evaluate(lookup, 0, around)]).toEqual([1, 1])
  })

  it('uses the expression evaluator if that suffices, and must then return synchronously', () => {
    expect(compileCode('t > 5 && list.some(x => x > 2)', fence).evaluate(lookup, 0, around)).toBe(true)
  })

  it('must return synchronously in the sandbox too, except while it loads', async () => {
    const mine = new Sandbox()
    const compiled = compileCode('return t', mine)
    const first = compiled.evaluate(lookup, 0, around)
    expect(first).toBeInstanceOf(Promise)
    expect(await first).toBe(26)
    expect(compiled.evaluate(lookup, 0, around)).toBe(26)
    const endless = compileCode('for (;;); return 1', mine)
    expect(() => endless.evaluate(lookup, 0, around)).toThrow(expect.objectContaining({ code: 'TOO_LARGE' }))
    // the interrupted interpreter is dropped, and another one loaded
    const again = compiled.evaluate(lookup, 0, around)
    expect(again).toBeInstanceOf(Promise)
    expect(await again).toBe(26)
  })
})

describe('console output and random numbers', () => {
  const logged = async (text: string) => {
    const lines: string[] = []
    const write = (level: string) => (line: string) => void lines.push(`${level} ${line}`)
    const log = { debug: write('DEBUG'), info: write('INFO'), warn: write('WARN'), error: write('ERROR') }
    const ended = await (async () => compileCode(text, fence).evaluate(lookup, 0, { random: () => 0.25, log }))().catch(
      messageOf,
    )
    return { lines, ended }
  }

  it('writes to the log of the call', async () => {
    const code =
      'console.log("t is", t, { list }); console.info(1); console.warn(s); console.error(null); console.debug(gone); 1'
    expect((await logged(code)).lines).toEqual([
      'INFO t is 26 {"list":[3,1,2]}',
      'INFO 1',
      'WARN on',
      'ERROR null',
      'DEBUG undefined',
    ])
  })

  it('writes the output before an error too', async () => {
    expect(await logged('console.log("here"); throw new Error("no luck"); return 1')).toEqual({
      lines: ['INFO here'],
      ended: 'the script failed: no luck',
    })
    expect((await logged('console.log("here"); return gone + 1')).lines).toEqual(['INFO here'])
  })

  it('limits the lines and reports how many are omitted', async () => {
    const { lines } = await logged('for (let i = 0; i < 150; i++) console.log(i); true')
    expect(lines).toHaveLength(101)
    expect(lines.at(-1)).toBe('WARN 50 more lines are omitted; a call keeps 100')
  })

  it('draws the same random numbers in both evaluators', async () => {
    const text = '[Math.random(), list.map(x => Math.floor(x * Math.random())), Math.random()]'
    const numbers = await valueOf(text)
    expect(numbers).toEqual(await valueOf(text))
    expect(await inFence(text)).toEqual(numbers)
    expect(await valueOf(`let all = ${text}; all`)).toEqual(numbers)
    const { random } = Math
    expect(await valueOf('const { random } = Math; return [random()]')).toEqual([(numbers as number[])[0]])
    expect(Math.random).toBe(random)
  })

  it('draws once per evaluation, and never for code without random numbers', async () => {
    let drawn = 0
    const counting = { ...around, random: () => ++drawn / 100 }
    for (const text of ['t > 5', 'Math.max(t, 5)', 'let a = Math.max(t, 5); a']) {
      await compileCode(text, fence).evaluate(lookup, 0, counting)
    }
    expect(drawn).toBe(0)
    await compileCode('Math.random() + Math.random()', fence).evaluate(lookup, 0, counting)
    await compileCode('let a = Math.random(); a + Math.random()', fence).evaluate(lookup, 0, counting)
    expect(drawn).toBe(2)
  })
})

describe('both evaluators', () => {
  const leaf = fc.constantFrom(
    't',
    's',
    'nothing',
    'gone',
    'variables.limit',
    'nodes.dice.state',
    '7',
    '"on"',
    'null',
    'list[1]',
    'deep.a.b[0]',
  )
  const operator = fc.constantFrom(...'+ - * / % < <= > >= == != === !== && || ?? in'.split(' '))
  const part = fc.constantFrom('year', 'month', 'day', 'weekday', 'hour', 'minute', 'second')
  const instant = fc.oneof(
    fc.constantFrom('now', 't', 'gone', '"1970-03-29T01:00:00Z"', '"1970-10-01"', '"soon"'),
    fc.integer({ min: -3e10, max: 3e10 }).map(String),
  )
  const zone = fc.constantFrom('', ', "Europe/London"', ', "America/New_York"', ', "Africa/Casablanca"', ', "+05:30"')
  const { tree } = fc.letrec<{ tree: string }>((tie) => ({
    tree: fc.oneof(
      { depthSize: 'small' },
      leaf,
      fc.tuple(tie('tree'), operator, tie('tree')).map(([a, op, b]) => `((${a}) ${op} (${b}))`),
      fc.tuple(tie('tree'), tie('tree'), tie('tree')).map(([a, b, c]) => `(${a} ? ${b} : ${c})`),
      fc.tuple(tie('tree'), fc.constantFrom('list', 'deep', 'deep.a.b')).map(([a, b]) => `((${a}) in ${b})`),
      fc.tuple(tie('tree'), tie('tree'), tie('tree')).map(([a, b, c]) => `((${a}) in [${b}, ${c}])`),
      fc.tuple(tie('tree'), tie('tree'), tie('tree')).map(([a, b, c]) => `between(${a}, ${b}, ${c})`),
      fc.tuple(fc.constantFrom('list', 's', 'gone'), tie('tree')).map(([a, b]) => `contains(${a}, ${b})`),
      fc.tuple(part, instant, zone).map(([name, at, where]) => `${name}(${at}${where})`),
      fc.constant('Math.random()'),
    ),
  }))

  it('return the same values, and report the same missing values', async () => {
    let compared = 0
    await fc.assert(
      fc.asyncProperty(tree, fc.boolean(), async (given, inList) => {
        const text = inList ? `[${given}]` : given
        let closures: unknown
        try {
          closures = compileExpression(text, { chance: true }).evaluate(lookup, 1000, around)
        } catch (error) {
          // calculating with a list is an error only there
          const name = /^"(.+)" has no value/.exec(messageOf(error))?.[1]
          if (name === undefined || name.startsWith('(')) return
          closures = `missing ${name}`
        }
        const json = JSON.stringify(closures) ?? 'undefined'
        const fenced = await inFence(text)
        if (typeof closures === 'string' && closures.startsWith('missing')) expect(String(fenced)).toMatch(/^missing/)
        else expect(JSON.stringify(fenced) ?? 'undefined').toBe(json)
        compared++
      }),
      runs(400),
    )
    expect(compared).toBeGreaterThan(runs(50).numRuns)
  })
})
