import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Sandbox } from '../../../../src/core/language/script/sandbox.ts'
import { compileScript } from '../../../../src/core/language/script/script-source.ts'
import { runs } from '../../../support/arbitraries/runs.ts'

const fence = new Sandbox()
const inFence = async (body: string) => (await fence.run(body, { now: 0, seed: 1, n: 3 })).value
const asWritten = (body: string) =>
  JSON.parse(JSON.stringify(runInNewContext(`(function (options, send) {${body}\n})({ n: 3 })`))) as unknown

describe('a metered script', () => {
  it.each([
    'let a = "5"; a++; let b = "5"; ++b; let c = "7"; c--; return { a, b, c, post: (() => { let d = 1; return [d++, d] })() }',
    'const o = { x: 1, y: "2" }; o.x += 2; o.y -= 1; o["x"] **= 2; o[`z`] ??= 4; o.x++; --o["y"]; return o',
    'const o = { n: 0, get at() { return { v: ++this.n } } }; o.at.v += 1; o.at.v++; return { n: o.n }',
    'const log = []; const o = { set v(x) { log.push(x) }, get v() { log.push("get"); return 5 } }; o.v -= (log.push("right"), 2); return { log }',
    'let x = 1; x -= (x = 10, 2); let y = "a"; y += (y = "b", "c"); return { x, y }',
    'const f = () => "a", g = (a, b) => (a, b), h = ({ a, b: [c = 3] }) => a + c; return { v: [f(), g(1, 2), h({ a: 1, b: [] })] }',
    'const k = "x", o = { [k]: 1, ["y" + k]: 2, k, ...{ z: 3 }, ...[9] }; return o',
    'const r = []; for (const k in { b: 1, a: 2 }) r.push(k); for (let i = 0; i < 3; i++) r.push(i); return { r }',
    'let i = 0\nlet a = i\ni++\nconst b = [a, i]\nreturn { b }',
    'const o = null; return { a: o?.b[0], c: o?.[options.n], d: "abc"[1], e: [1, 2][options.n - 2] }',
    'switch ("b") { case "a": return { a: 1 }; case "b": return { b: 2 } }',
    'class A { #p = 1; static s = 2; ["m" + 1]() { return this.#p } get g() { return "g" } } return { m: new A().m1(), s: A.s, g: new A().g }',
    'function f() { "use strict"; return this === undefined } return { strict: f() }',
    'do { var n = (n ?? 0) + 1 } while (n < 3); l: for (;;) { for (;;) break l } if (n) n += 1; else n = 0; return { n }',
    'try { null.x } catch { var c = 1 } finally { var d = 2 } try { throw 5 } catch (e) { var t = e } return { c, d, t }',
    'return { v: [1 + 2, "1" + 2, 7 % 4, "b" > "a", -"3", +true, ~5, 1 << 3, "a" in { a: 1 }, 2 ** -1, typeof 1n2].length }'.replace(
      '1n2',
      'x',
    ),
    'let n = 3; n **= 2; return { n, v: [2 ** 10, (-2) ** 3, "4" ** 2, null ** 0, [3] ** 2, undefined ** 1, 2 ** 3 ** 2].join() }',
    'function* g() { const x = yield 1; yield x + 1 } const i = g(); return { v: [i.next().value, i.next(4).value] }',
    'const t = (s, ...v) => s.raw.join("|") + v.join(); return { t: t`a${1}b${2}`, u: `x${1 + 1}y` }',
    'const a = [3, 1, 2]; a.length = 2; [a[0], a[1]] = [a[1], a[0]]; return { a }'.replace(
      '[a[0], a[1]] = [a[1], a[0]]',
      'const [p, q] = a; a[0] = q; a[1] = p',
    ),
    'return { e: new TypeError("x") instanceof Error, m: new RangeError("y").message, n: Number("12"), s: Symbol.iterator.toString() }',
    'class MyError extends Error {} try { throw new MyError("z") } catch (e) { return { my: e instanceof MyError, m: e.message } }',
  ])('%s has the same result as without meters', async (body) => {
    expect(await inFence(body)).toEqual(asWritten(body))
  })

  it('has the same result of arithmetic over any operands', async () => {
    const operand = fc.oneof(
      fc.integer({ min: -9, max: 9 }).map(String),
      fc.constantFrom('"4"', '""', 'null', 'true', '[2]', '"x"', 'undefined', '({})', 'n', 's'),
    )
    // Without powers, whose rounding may differ between interpreters.
    const operator = fc.constantFrom(...'+ - * / % & | ^ << >> >>> == != === !== < <= > >= && || ??'.split(' '))
    const tree = fc.letrec<{ tree: string }>((tie) => ({
      tree: fc.oneof(
        { depthSize: 'small' },
        operand,
        fc.tuple(tie('tree'), operator, tie('tree')).map(([a, op, b]) => `((${a}) ${op} (${b}))`),
        fc.tuple(fc.constantFrom('-', '+', '~', '!', 'typeof '), tie('tree')).map(([op, a]) => `(${op}(${a}))`),
        fc
          .tuple(fc.constantFrom('n', 's'), fc.constantFrom('+=', '-=', '*='), tie('tree'))
          .map((one) => `(${one.join(' ')})`),
        fc.constantFrom('n++', '--s', 'o.a++', 'o["a"] += 1').map((text) => `(${text})`),
      ),
    })).tree
    await fc.assert(
      fc.asyncProperty(tree, async (text) => {
        const body = `let n = 2, s = "3"; const o = { a: 1 }; return { v: String(${text}), n: String(n), s: String(s), o }`
        expect(await inFence(body)).toEqual(asWritten(body))
      }),
      runs(60),
    )
  })

  it('meters the value of the last statement like a returned value', () => {
    expect(compileScript('s').code).toContain('return settle$0(use$0(given$0))')
  })

  it('uses meter names that the script does not contain, in any spelling', () => {
    expect(compileScript('() => { let us\\u0065$0 = 1; return { use$1: use$2 } }').code).toMatch(/^\(\(use\$3,/)
  })

  it.each([
    ['with (options) { n }', 'with'],
    ['const { a, ...rest } = options', 'rest of an object'],
    ['const a = []; [a.length] = ["5"]', 'destructuring'],
    ['const a = []; for (a.length of ["5"]);', 'destructuring'],
    ['class A { #x = 1; f() { this.#x++ } }', 'combined assignment'],
    ['async function f({ a }) {}', 'parameters of an async function'],
    ['}); (function () {', 'continues after it'],
  ])('rejects %s, which cannot be metered', (body, text) => {
    expect(() => compileScript(body)).toThrow(text)
  })
})
