import { describe, expect, it } from 'vitest'
import { ScriptFence } from '../../../src/core/script/fence.ts'
import { AppError } from '../../../src/kernel/errors.ts'

const fence = new ScriptFence()
const run = (source: string) => fence.run(source, { now: 1000, seed: 7, streamData: { a: 1 } })

/** What a script came to: its value as JSON, or the code of its error. */
async function outcome(source: string): Promise<string> {
  try {
    return JSON.stringify((await run(source)).value)
  } catch (error) {
    return error instanceof AppError ? error.code : String(error)
  }
}

describe('the fence around scripts', () => {
  it.each([
    ['while (true) {}'],
    ['try { for (;;); } catch { return { caught: 1 } } finally { return { caught: 2 } }'],
    ['(function f() { f() })()'],
    ['let a = []; while (true) a.push(new Array(1000).fill(1))'],
    ['let o = {}; for (;;) o = { o }'],
    ['return { a: "a".repeat(2 ** 28) }'],
    ['"".padEnd(1e9)'],
    ['/(a+)+$/.test("a".repeat(40) + "b")'],
    ['let a = []; a.length = 4294967295; a.indexOf(1)'],
    ['return ("a".repeat(400000)).indexOf("a".repeat(200000) + "b")'],
    ['new Array(1e9).join("x")'],
    ['JSON.parse("[".repeat(100000))'],
    ['let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return { a }'],
    ['let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return { a: "" + a }'],
    ['let a = [1]; for (let i = 0; i < 40; i++) a = [a, a]; return { a }'],
    ['return { get x() { for (;;); } }'],
    ['return { toJSON() { for (;;); } }'],
    ['throw { get message() { for (;;); } }'],
    ['throw { message: { toString() { for (;;); } } }'],
    ['let s = new Set(); for (let i = 0; ; i++) s.add(i)'],
    ['let a = new Array(1e4).fill(0); for (;;) a = [...a]'],
    ['let s = "a".repeat(100000); for (;;) s === s + ""'],
    ['return { then(ok) { for (;;); } }'],
  ])('ends %s at a limit', async (source) => {
    expect(await outcome(source)).toBe('TOO_LARGE')
  })

  it.each([
    ['new Promise(() => {})'],
    ['(async function g() { for (;;) await 1 })()'],
    ['Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)'],
    ['new RegExp("(".repeat(50000))'],
    ['throw undefined'],
    ['throw { toString: 5 }'],
    ['process.exit(1)'],
    ['require("node:fs")'],
    ['fetch("http://localhost")'],
    ['globalThis.constructor.constructor("return process")()'],
    ['(() => {}).constructor("return globalThis")()'],
    ['(async () => {}).constructor("return 1")()'],
    ['Object.getPrototypeOf(function* () {}).constructor("yield 1")()'],
    ['eval("1")'],
    ['return { ["__proto__"]: { x: 1 } }'],
  ])('fails %s as a failure of the script', async (source) => {
    expect(['PLUG_FAILED', 'TOO_LARGE']).toContain(await outcome(source))
  })

  it('has nothing of the machine inside', async () => {
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

  it('keeps nothing from one run to the next', async () => {
    await run('globalThis.left = 1; Object.prototype.left = 2; Array.prototype.map = 3; return {}')
    expect(await outcome('return { left: typeof left, map: [1].map(x => x + 1) }')).toBe(
      '{"left":"undefined","map":[2]}',
    )
    expect(({} as Record<string, unknown>)['left']).toBeUndefined()
  })

  it('knows no zone and no clock but the one that it is given', async () => {
    expect(
      await outcome(
        'return { z: new Date(0).getTimezoneOffset(), h: new Date(0).getHours(), n: Date.now(), s: Date() }',
      ),
    ).toBe('{"z":0,"h":0,"n":1000,"s":"1970-01-01T00:00:01.000Z"}')
  })

  it('bounds what goes in, what comes out and what is logged', async () => {
    await expect(fence.run('return {}', { now: 0, seed: 0, text: 'a'.repeat(1_000_001) })).rejects.toMatchObject({
      code: 'TOO_LARGE',
    })
    const { log } = await run('for (let i = 0; i < 1000; i++) console.log("x".repeat(5000)); return {}')
    expect(log).toHaveLength(100)
    expect(log[0]?.message).toHaveLength(1000)
  })

  it('stops sooner when a clock of the host says so', async () => {
    let asked = 0
    const slow = new ScriptFence(() => 600 * asked++)
    await expect(slow.run('for (;;);', { now: 0, seed: 0 })).rejects.toMatchObject({ code: 'TOO_LARGE' })
    expect(asked).toBeLessThan(5)
  })

  it('does ordinary work', async () => {
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
