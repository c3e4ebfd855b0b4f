/** Tests scripts that try to escape the sandbox, to crash it or to keep it busy, and ordinary scripts. */
import { beforeAll, describe, expect, it } from 'vitest'
import { Sandbox } from '../../../../src/core/language/script/sandbox.ts'
import { compileScript } from '../../../../src/core/language/script/script-source.ts'
import { AppError } from '../../../../src/kernel/errors.ts'
import { some } from '../../../support/arbitraries/runs.ts'
import { cpuMs } from '../../../support/cpu-time.ts'
import { ENDLESS_SCRIPTS, FAILING_SCRIPTS } from '../../../support/script-attacks.ts'

const fence = new Sandbox()
const run = (source: string, by = fence) => by.run(source, { now: 1000, seed: 7, streamData: { a: 1 } })

/** maximum work of long steps, as a multiple of the work of all short steps */
const MAX_TIMES = 60

/** Result of a script: its value as JSON, or the code of its error. */
async function outcome(source: string, by = fence): Promise<string> {
  try {
    return JSON.stringify((await run(source, by)).value)
  } catch (error) {
    return error instanceof AppError ? error.code : String(error)
  }
}

// Holds SANDBOX-1 to SANDBOX-3, METER-1 to METER-4
describe('the sandbox of scripts', () => {
  it.each(some(ENDLESS_SCRIPTS))('aborts %s at a limit', async (source) => {
    expect(await outcome(source)).toBe('TOO_LARGE')
  })

  /** ms of CPU for a run of the maximum number of short steps */
  let shortSteps = 0
  beforeAll(async () => {
    await outcome('while (true) {}')
    const begun = cpuMs()
    await outcome('while (true) {}')
    shortSteps = cpuMs() - begun
  })

  // Each is a single long step of the interpreter, repeated again and again.
  it.each(
    some([
      'let t = s.slice(1) + "b"; for (;;) s === t',
      'for (;;) s < s + "a"',
      'for (;;) +s',
      'for (;;) s * 1',
      'let t; for (;;) { t = s; t++ }',
      'let o = {}; for (;;) { o.x = s; o.x -= 1 }',
      'let o = {}; for (let i = 0; ; i++) o[s + i]',
      'for (let i = 0; ; i++) s + i in {}',
      'for (;;) { switch (0) { case +s: } }',
      'let o = { valueOf() { return s } }; for (;;) +o',
      'let o = { valueOf: () => s }; for (;;) Math.max(o)',
      'let o = { get a() { return s } }; for (;;) o.a | 0',
      'for (;;) "abc".at({ valueOf() { return s } })',
      'let a = []; for (;;) try { a.length = s } catch {}',
      'class A extends Array { length = s } for (;;) try { new A() } catch {}',
      'let r = /a/; for (;;) { r.lastIndex = s; r.test("b") }',
      'let e = new Error(s); for (;;) +e',
      'let o = { [Symbol.toStringTag]: s }; for (;;) +o',
      'let k = 0; (function () { globalThis.k = s })(); (() => { for (;;) globalThis.k * 1 })()',
      'for (;;) Number(s)',
      'for (;;) parseInt(s)',
      'for (;;) Math.max(s)',
      'for (;;) encodeURIComponent(s)',
      'for (;;) Symbol(s)',
      'for (;;) new RegExp(s)',
      'let r = new RegExp("a/".repeat(50000)); for (;;) r.source',
      'for (;;) new Date(s)',
      'for (;;) try { Array.from({ length: 5e5 }) } catch {}',
      'for (;;) try { Array.from({ length: s }) } catch {}',
      'new Array(1e5).fill(s).sort()',
      'new Array(1e5).fill(s).indexOf(s.slice(1) + "b")',
      'let a = new Array(1e5).fill("a".repeat(1000)); for (;;) try { a.join() } catch {}',
      'Object.fromEntries(new Array(1e5).fill(0).map((x, i) => [s + i, 1]))',
      'let o = {}; for (let i = 0; i < 1e5; i++) o[i] = i; for (;;) { for (const k in o) break }',
      'let o = {}; for (let i = 0; i < 5e4; i++) o["k" + i] = i; for (;;) ({ ...o })',
      'let t = "", u = "a".repeat(8000); for (;;) t += u',
      '(function f(d) { if (d > 0) return f(d - 1) + 1; for (;;) try { null.x } catch {} })(400)',
      '(function f(d) { if (d > 0) return f(d - 1) + 1; for (;;) try { null.x } finally { continue } })(400)',
      'async function g() { null.x } (function f(d) { if (d > 0) return f(d - 1) + 1; for (;;) g() })(400)',
      '(function f(d) { if (d > 0) return f(d - 1) + 1; for (;;) new Promise(() => null.x) })(400)',
      '(function f(d) { if (d > 0) return f(d - 1) + 1; for (;;) new Error() })(400)',
      '(function f() { try { f() } catch { f() } })()',
      'async function g() { for (;;); } for (;;) g()',
      'async function g() { for (;;); } new Array(3e5).fill(1).forEach(() => g())',
      'for (;;) try { for (;;) "a".repeat(1e6) } catch {}',
    ]),
  )('aborts %s early by its counters', async (attack) => {
    const begun = cpuMs()
    const times = () => (cpuMs() - begun) / shortSteps
    // aborts work that its counters do not cover
    const fenceWithEnd = new Sandbox(() => (times() > MAX_TIMES ? Infinity : 0))
    expect(await outcome(`let s = "1".repeat(1e6); ${attack}`, fenceWithEnd)).toBe('TOO_LARGE')
    expect(times()).toBeLessThan(MAX_TIMES)
  })

  it.each([
    ['(async function f() { for (;;) try { await 1 } catch {} })()'],
    ['(async function f() { for (;;) try { for (;;) try { await 1 } finally { continue } } catch {} })()'],
    ['const p = Promise.resolve(1); (function f() { p.then(f); p.then(f) })()'],
  ])('aborts %s, even without a waiting caller', async (source) => {
    expect(['PLUG_FAILED', 'TOO_LARGE']).toContain(await outcome(source))
  })

  it.each(FAILING_SCRIPTS.map((source) => [source]))('reports %s as a failure of the script', async (source) => {
    expect(['PLUG_FAILED', 'TOO_LARGE']).toContain(await outcome(source))
  })

  it('cannot access the machine', async () => {
    const { value } = await run('return { names: Object.getOwnPropertyNames(globalThis) }')
    const names = (value as { names: string[] }).names
    for (const name of [
      'process',
      'require',
      'fetch',
      'setTimeout',
      'WebAssembly',
      'eval',
      'Function',
      'BigInt',
      'Proxy',
    ]) {
      expect(names).not.toContain(name)
    }
    expect(names).toContain('console')
  })

  it('keeps no state between runs', async () => {
    await run('globalThis.left = 1; Object.prototype.left = 2; Array.prototype.map = 3; return {}')
    expect(await outcome('return { left: typeof left, map: [1].map(x => x + 1) }')).toBe(
      '{"left":"undefined","map":[2]}',
    )
    expect(({} as Record<string, unknown>)['left']).toBeUndefined()
  })

  it('has only the time zone and the clock that it receives', async () => {
    expect(
      await outcome(
        'return { z: new Date(0).getTimezoneOffset(), h: new Date(0).getHours(), n: Date.now(), s: Date() }',
      ),
    ).toBe('{"z":0,"h":0,"n":1000,"s":"1970-01-01T00:00:01.000Z"}')
  })

  it('limits its input, output and log', async () => {
    await expect(fence.run('return {}', { now: 0, seed: 0, text: 'a'.repeat(1_000_001) })).rejects.toMatchObject({
      code: 'TOO_LARGE',
    })
    const { log } = await run('for (let i = 0; i < 1000; i++) console.log("x".repeat(5000)); return {}')
    expect(log).toHaveLength(101)
    expect(log[0]?.message).toBe(`${'x'.repeat(1000)} ... (4000 more characters are cut)`)
    expect(log[100]).toEqual({ level: 'WARN', message: '900 more lines are omitted; a call keeps 100' })
  })

  it('returns the log of a script before its failure', async () => {
    const lines: string[] = []
    const source = 'console.log("a", [1]); console.error("b"); null.x'
    const { code } = compileScript(source)
    await expect(
      (async () =>
        fence.runCode(code, { now: 0, seed: 0 }, ({ level, message }) => lines.push(`${level} ${message}`)))(),
    ).rejects.toMatchObject({ code: 'PLUG_FAILED' })
    expect(lines).toEqual(['INFO a [1]', 'ERROR b'])
  })

  it('loads another interpreter for waiting runs when the first one fails', async () => {
    const mine = new Sandbox()
    const input = { now: 0, seed: 0 }
    const [broken, fine] = await Promise.allSettled([mine.run('for (;;);', input), mine.run('return 1', input)])
    expect(broken).toMatchObject({ status: 'rejected', reason: { code: 'TOO_LARGE' } })
    expect(fine).toMatchObject({ status: 'fulfilled', value: { value: 1 } })
  })

  it('stops early when a clock of the host reports its time limit', async () => {
    let asked = 0
    const slow = new Sandbox(() => 600 * asked++)
    await expect(slow.run('for (;;);', { now: 0, seed: 0 })).rejects.toMatchObject({ code: 'TOO_LARGE' })
    expect(asked).toBeLessThan(5)
  })

  it('runs ordinary code', async () => {
    const source = `
      const list = []
      for (let i = 0; i < 20000; i++) list.push({ i, word: 'w' + (i % 7) })
      const counts = new Map()
      for (const { word } of list) counts.set(word, (counts.get(word) ?? 0) + 1)
      const sorted = [...counts].sort(([a], [b]) => (a < b ? -1 : 1))
      return { first: sorted[0], sum: list.reduce((sum, { i }) => sum + i, 0), upper: 'abc'.replace(/b/, (b) => b.toUpperCase()) }`
    expect(await outcome(source)).toBe('{"first":["w0",2858],"sum":199990000,"upper":"aBc"}')
  })
})
