import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compileCode, compileConditionCode, compileNumberCode } from '../../../src/core/script/either-lane.ts'
import { ScriptFence } from '../../../src/core/script/fence.ts'
import { compileScriptExpression } from '../../../src/core/script/script-expression.ts'
import { AppError, messageOf } from '../../../src/kernel/errors.ts'
import { ownValue } from '../../../src/kernel/json.ts'

const fence = new ScriptFence()
const roots = {
  streamdata: { t: 26, s: 'on', list: [3, 1, 2], deep: { a: { b: [10, 20] } }, nothing: null, nan: Number.NaN },
  nodes: { dice: { state: 'ONE', rawData: { v: 5 } } },
  variables: { limit: 3 },
}
const lookup = ({ parts }: { readonly parts: readonly string[] }) =>
  parts.reduce<unknown>((value, key) => ownValue(value, key), roots)

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
const around = { random: () => 0.25, log: silent }

const valueOf = async (text: string) => compileCode(text, fence).evaluate(lookup, 1000, around)

/** The value in the fence, even of an expression that closures can do. */
async function inFence(text: string): Promise<unknown> {
  const script = compileScriptExpression(text, 'value')
  if ('problems' in script) throw new Error(script.problems.map(({ message }) => message).join())
  const values = script.uses.map((path) => {
    const value = lookup(path)
    return value === undefined ? [] : [value]
  })
  const answer = (await fence.runCode(script.code, { now: 1000, seed: 0, values })).value as Record<string, unknown>
  return 'missing' in answer ? `missing ${String(answer['missing'])}` : answer['value']
}

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
    ['return gone == null && typeof gone === "undefined" && gone?.x === undefined && !gone', true],
    ['try { null.x } catch { return "caught" }', 'caught'],
    ['return undefined', undefined],
  ])('%s gives %j', async (text, value) => {
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
  ])('%s fails and names what is missing: %s', async (text, name) => {
    await expect(valueOf(text)).rejects.toMatchObject({
      code: 'BINDING',
      message: expect.stringContaining(`"${name}" has no value`) as string,
    })
  })

  it('reads the number that JSON does not have', async () => {
    expect(await valueOf('let x = nan < 100; return [x, nan > 0, Number.isNaN(nan)]')).toEqual([false, false, true])
  })

  it('counts as a condition by what it gives inside, and as a number likewise', async () => {
    const holds = async (text: string) => compileConditionCode(text, fence).evaluate(lookup, 0, around)
    expect(await Promise.all(['return 1 / 0', 'return NaN', 'return {}', 'return ""'].map(holds))).toEqual([
      true,
      false,
      true,
      false,
    ])
    const number = async (text: string) => compileNumberCode(text, fence).evaluate(lookup, 0, around)
    expect(await number('return -1 / 0')).toBe(Number.NEGATIVE_INFINITY)
    expect(await number('return t + 0.5')).toBe(26.5)
  })

  it.each([
    ['temperature >', 'column 14'],
    ['let x = 1;\nlet y = ;\nreturn y', 'line 2, column 9'],
    ['let x = 1', 'no value'],
    ['t = 5', 'only reads'],
    ['let x = 1; t = x; return t', '"t" is changed'],
    ['return vault.KEY', 'secret'],
    ['return nodes', 'alone is no value'],
    ['return nodes[s].state', 'computes what it reads'],
    ['let x; return foo(x)', 'no function "foo"'],
    ['return s.inclues("o")', 'no method "inclues"'],
    ['return Math.mxa(1)', '"Math.mxa"'],
    ['return await t', 'column'],
    ['return (async () => 1)()', 'answers at once'],
    ['function (x) { return x }', 'function'],
    ['const { a, ...rest } = deep; return rest', 'name the fields'],
    ['return "${vault.KEY}"', 'secret'],
    ['return __proto__', 'no data'],
  ])('refuses %s when it is checked: %s', (text, part) => {
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
    ['return (() => {}).constructor("return 1")()', 'VALIDATION'],
  ])('ends %s with %s', async (text, code) => {
    const ended = await valueOf(text).catch((error: unknown) => error)
    expect(ended).toBeInstanceOf(AppError)
    expect((ended as AppError).code).toBe(code)
  })

  it.each([['('], ['['], ['{a:'], ['-'], ['x => '], ['`${'], ['a.b[']])('is not broken by ten thousand %s', (piece) => {
    for (const end of ['', '1', 'return 1']) {
      expect(() => compileCode(piece.repeat(9_990 / piece.length) + end, fence)).toThrow(AppError)
    }
  })

  it('keeps nothing from one evaluation to the next', async () => {
    const compiled = compileCode('Array.prototype.left = (Array.prototype.left ?? 0) + 1; return [].left', fence)
    expect([await compiled.evaluate(lookup, 0, around), await compiled.evaluate(lookup, 0, around)]).toEqual([1, 1])
  })

  it('stays in the fast lane where that is enough, and answers at once there', () => {
    expect(compileCode('t > 5 && list.some(x => x > 2)', fence).evaluate(lookup, 0, around)).toBe(true)
  })

  it('answers at once in the fence too, but while that is loaded', async () => {
    const mine = new ScriptFence()
    const compiled = compileCode('return t', mine)
    const first = compiled.evaluate(lookup, 0, around)
    expect(first).toBeInstanceOf(Promise)
    expect(await first).toBe(26)
    expect(compiled.evaluate(lookup, 0, around)).toBe(26)
    const endless = compileCode('for (;;); return 1', mine)
    expect(() => endless.evaluate(lookup, 0, around)).toThrow(expect.objectContaining({ code: 'TOO_LARGE' }))
    // the interpreter that was stopped in the middle is left, and another one loaded
    expect(await compiled.evaluate(lookup, 0, around)).toBe(26)
  })
})

describe('both lanes', () => {
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
  const operator = fc.constantFrom(...'+ - * / % < <= > >= == != === !== && || ??'.split(' '))
  const { tree } = fc.letrec<{ tree: string }>((tie) => ({
    tree: fc.oneof(
      { depthSize: 'small' },
      leaf,
      fc.tuple(tie('tree'), operator, tie('tree')).map(([a, op, b]) => `((${a}) ${op} (${b}))`),
      fc.tuple(tie('tree'), tie('tree'), tie('tree')).map(([a, b, c]) => `(${a} ? ${b} : ${c})`),
    ),
  }))

  it('give the same value, and miss the same values, wherever both have one', async () => {
    let compared = 0
    await fc.assert(
      fc.asyncProperty(tree, fc.boolean(), async (given, inList) => {
        const text = inList ? `[${given}]` : given
        let closures: unknown
        try {
          closures = await compileCode(text, fence).evaluate(lookup, 0, around)
        } catch (error) {
          // to calculate with a list is an error only there
          const name = /^"([^"]+|"on")" has no value/.exec(messageOf(error))?.[1]
          if (name === undefined || name.startsWith('(')) return
          closures = `missing ${name}`
        }
        const json = JSON.stringify(closures) ?? 'undefined'
        const fenced = await inFence(text)
        if (typeof closures === 'string' && closures.startsWith('missing')) expect(String(fenced)).toMatch(/^missing/)
        else expect(JSON.stringify(fenced) ?? 'undefined').toBe(json)
        compared++
      }),
      { numRuns: 150 },
    )
    expect(compared).toBeGreaterThan(20)
  })
})
