/** Lists scripts that try to break the sandbox, for each place where scripts run. */

/** Scripts that end at a limit. */
export const ENDLESS_SCRIPTS: readonly string[] = [
  'while (true) {}',
  'try { for (;;); } catch { return { caught: 1 } } finally { return { caught: 2 } }',
  '(function f() { f() })()',
  'let a = []; while (true) a.push(new Array(1000).fill(1))',
  'let o = {}; for (;;) o = { o }',
  'return { a: "a".repeat(2 ** 28) }',
  '"".padEnd(1e9)',
  '/(a+)+$/.test("a".repeat(40) + "b")',
  'let a = []; a.length = 4294967295; a.indexOf(1)',
  'return ("a".repeat(400000)).indexOf("a".repeat(200000) + "b")',
  'new Array(1e9).join("x")',
  'JSON.parse("[".repeat(100000))',
  'let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return { a }',
  'let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return { a: "" + a }',
  'let a = [1]; for (let i = 0; i < 40; i++) a = [a, a]; return { a }',
  'return { get x() { for (;;); } }',
  'return { toJSON() { for (;;); } }',
  'throw { get message() { for (;;); } }',
  'throw { message: { toString() { for (;;); } } }',
  'let s = new Set(); for (let i = 0; ; i++) s.add(i)',
  'let a = new Array(1e4).fill(0); for (;;) a = [...a]',
  'let s = "a".repeat(100000); for (;;) s === s + ""',
  'return { then(ok) { for (;;); } }',
]

/** Scripts that fail, some of them at a limit. */
export const FAILING_SCRIPTS: readonly string[] = [
  'new Promise(() => {})',
  '(async function g() { for (;;) await 1 })()',
  'Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)',
  'new RegExp("(".repeat(50000))',
  'throw undefined',
  'throw { toString: 5 }',
  'process.exit(1)',
  'require("node:fs")',
  'fetch("http://localhost")',
  'globalThis.constructor.constructor("return process")()',
  '(() => {}).constructor("return globalThis")()',
  '(async () => {}).constructor("return 1")()',
  'Object.getPrototypeOf(function* () {}).constructor("yield 1")()',
  'eval("1")',
  'return { ["__proto__"]: { x: 1 } }',
]
