import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compileCode } from '../../../../src/core/language/script/compile-code.ts'
import { Sandbox } from '../../../../src/core/language/script/sandbox.ts'
import { runs } from '../../../support/arbitraries/runs.ts'

const fence = new Sandbox()
const nothing = () => undefined
const around = { random: () => 0.5, log: { debug: nothing, info: nothing, warn: nothing, error: nothing } }
const lookup = ({ segments }: { readonly segments: readonly string[] }) => (segments[0] === 't' ? 26 : undefined)
const valueOf = async (text: string) => compileCode(text, fence).evaluate(lookup, 0, around)

describe('statements without a return', () => {
  it.each<[string, unknown]>([
    ['let a = t * 2; a > 50', true],
    ['let a = t * 2\na > 50', true],
    ['const a = t; let b = a; a + b;', 52],
    ['let a = 1; a', 1],
    ['let a = 1; a // the value', 1],
    ['let a = 5; ({ a, b: [a] })', { a: 5, b: [5] }],
    ['let a; a = t; let b = 3', 26],
    ['let a; a = 4; function f() { return 9 }', 4],
    ['function f(x) { return x * 2 } f(t)', 52],
    ['if (t > 25) "hot"; else "cold"', 'hot'],
    ['if (t > 30) { "hot" } else if (t > 20) { let x = "warm"; x } else "cold"', 'warm'],
    ['let a = 1; a = 2; if (t > 30) a', undefined],
    ['if (t > 30) 1', undefined],
    ['{ let a = t; a + 1 }', 27],
    ['let sum = 0; for (const x of [1, 2, 3]) sum += x', 6],
    ['for (let i = 0; i < 3; i++) i * 10', 20],
    ['let i = 0; while (i < 3) i++', 2],
    ['let i = 0; do { i++; i * 2 } while (i < 3)', 6],
    ['let n = 0; for (const x of []) n++', undefined],
    ['switch (t) { case 26: "yes"; break; default: "no" }', 'yes'],
    ['try { null.x } catch { "caught" }', 'caught'],
    ['try { t; null.x } catch { let a = 2 }', undefined],
    ['let a = 0; try { 1 } finally { a = 2 }', 1],
    [
      'let n = 0; outer: for (const x of [1, 2]) { for (const y of [1, 2]) { if (y === 2) continue outer; n += x } } n',
      3,
    ],
    ['if (t > 25) return "early"; "late"', 'early'],
    ['if (t > 30) return "early"; "late"', 'late'],
    ['if (t > 30) return "early"; let x = 1', undefined],
    ['let given$0 = 1; given$0 + 1', 2],
    ['let a = () => { t; return 3 }; a()', 3],
    ['let undefined_ = 1; let b = "x"; b in { x: 1 }', true],
  ])('%s evaluate to %j', async (text, value) => {
    expect(await valueOf(text)).toEqual(value)
  })

  it.each([
    ['let a = 1', 'column 10', 'no value'],
    ['let a = 1; function f() { return t }', 'column 37', 'no value'],
    ['if (t > 5) { let a = 1 }', 'column 25', 'no value'],
    ['let a = t * 2; { doubled: a }', 'column 16', '({ ... })'],
    ['let a = t * 2; { doubled: a, more: 1 }', 'column 34', 'Unexpected'],
    ['t > 5; t < 30', 'column 8', 'join two with &&'],
    ['let a = t\na > 5\na < 30', 'line 2, column 1', 'join conditions with &&'],
    ['let a = t; a between 5 and 30', 'column 14', 'write between(x, low, high)'],
  ])('%s are rejected at %s: %s', (text, place, reason) => {
    expect(() => compileCode(text, fence)).toThrow(place)
    expect(() => compileCode(text, fence)).toThrow(reason)
  })

  it('evaluate to the result of eval', async () => {
    const value = fc.constantFrom('1', '"a"', 'x', 'x += 1', 'y = x * 2', 'x > 3', '[x, y]')
    const { list } = fc.letrec<{ list: string; one: string }>((tie) => ({
      list: fc.array(tie('one'), { maxLength: 4 }).map((all) => all.join(' ')),
      one: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        value.map((text) => `${text};`),
        fc.constantFrom('var z = x;', ';', '{}'),
        tie('list').map((inner) => `{ ${inner} }`),
        fc.tuple(value, tie('list'), tie('list')).map(([test, a, b]) => `if (${test}) { ${a} } else { ${b} }`),
        fc.tuple(value, tie('one')).map(([test, a]) => `if (${test}) ${a}`),
        tie('list').map((inner) => `for (let i = 0; i < 2; i++) { ${inner} }`),
        tie('list').map((inner) => `for (const k of [1, 2]) { ${inner} if (k > 1) break; }`),
        tie('list').map((inner) => `a: for (const k of [1, 2]) { if (k > 1) continue a; ${inner} }`),
        fc
          .tuple(tie('list'), tie('list'))
          .map(([a, b]) => `switch (x % 2) { case 0: ${a} case 1: ${b} break; default: 5; }`),
        fc.tuple(tie('list'), tie('list')).map(([a, b]) => `try { ${a} null.x } catch { y; ${b} } finally { ${a} }`),
      ),
    }))
    let compared = 0
    await fc.assert(
      fc.asyncProperty(list, fc.integer({ min: 0, max: 4 }), async (statements, x) => {
        const text = `var x = ${x}, y = 0; ${statements}`
        let compiled
        try {
          compiled = compileCode(text, fence)
        } catch {
          return // the statement has no value, or an unused one
        }
        // oxlint-disable-next-line no-eval -- because JavaScript itself is the reference here
        expect(await compiled.evaluate(lookup, 0, around)).toEqual((0, eval)(`(() => eval(${JSON.stringify(text)}))()`))
        compared++
      }),
      runs(200),
    )
    expect(compared).toBeGreaterThan(runs(50).numRuns)
  })
})
