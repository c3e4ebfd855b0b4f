/**
 * Tests expressions that try to escape, to crash the process or to keep it busy. Each reads only data, with little
 * work.
 */
import { beforeAll, describe, expect, it } from 'vitest'
import { AppError } from '../../../../src/kernel/errors.ts'
import { isPlainObject } from '../../../../src/kernel/json.ts'
import { cpuOf } from '../../../support/cpu-time.ts'
import { evaluate } from './sample.ts'

const hostile = {
  big: Array.from({ length: 2000 }, (_, i) => i),
  long: 'a'.repeat(200_000),
  owned: JSON.parse(
    '{"__proto__": {"x": 1}, "constructor": {"name": "mine"}, "toString": "own", "length": 3, "valueOf": 1}',
  ) as unknown,
}
const bomb = Array.from({ length: 60 }, () => 0)

const ATTACKS = [
  // prototypes
  'constructor', '__proto__', 'prototype', 'hasOwnProperty', 'valueOf', 'list.constructor', 'list["constructor"]',
  'list["constr" + "uctor"]', 'text.__proto__', '({}).__proto__', '({})["__pro" + "to__"]', '[].constructor.constructor',
  '"".constructor.fromCharCode(65)', '({ __proto__: { x: 1 } }).x', '({ "__proto__": 1 })', '({ ["__proto__"]: 1 })',
  '({ constructor: 1 })', '({ ...owned }).x', 'Object.fromEntries([["__proto__", 1]])', 'Object.getPrototypeOf(list)',
  'Object.assign({}, owned)', 'Object.defineProperty(deep, "x", 1)', 'owned.__proto__.x', 'owned["constructor"].name',
  'JSON.parse("{\\"__proto__\\":{\\"x\\":1}}").x', '(x => x).constructor("return 1")()', 'list.map.constructor("return process")()',
  'list.map(x => x.constructor)', 'list.reduce((a, x) => a["constructor"], [])', 'list.map(({ constructor }) => constructor)',
  // the process
  'this', 'globalThis', 'globalThis.process', 'process.exit(1)', 'require("fs")', 'import("node:fs")', 'import.meta', 'eval("1")',
  'Function("return 1")()', 'new Function("return 1")', 'setTimeout(x => x, 1)', 'fetch("http://localhost")', 'arguments', 'new.target',
  'Math.constructor', 'Math["max"].constructor', 'JSON.constructor', 'Math.max.call', 'Number.prototype', 'String.raw`x`',
  'Symbol.iterator', 'Symbol("x")', 'Reflect.ownKeys(list)', 'Proxy', 'async () => 1', 'await 1', 'yield', 'delete deep.a', 'class {}',
  'function () {}', 'list = 1', 'list[0] = 1', 'deep.a.b++', 'tag`x`', 'text`x`', '({ get x() { return 1 } }).x', '({ x() { return 1 } }).x()',
  'x => x', '(x => x)(1)', 'list.map', '[list.map]', 'list.map(Math.max)', 'list.map(x => y => y)', '[x => x][0](1)', 'a?.b?.()', 'super.x',
  'debugger', 'with (deep) a', 'while (true) {}', '1; 2', 'list, text', 'throw 1', 'label: 1', 'void process',
  // time and memory
  '/(a+)+$/', 'text.match(/(a+)+$/)', 'long.replaceAll("a", long)', 'long.split("").map(x => long)', 'long.repeat(100)', '"".repeat(1e9)',
  '"a".repeat(1e12)', '"a".padStart(1e9)', '"a".padEnd(1e9, "b")', 'long.indexOf(long + "b")', 'long.includes("a".repeat(100000) + "b")',
  'big.map(x => big.map(y => big.map(z => z)))', 'big.map(x => big.includes(-1))', 'big.map(x => big.sort())', 'big.flatMap(x => big)',
  'big.reduce((a, x) => [...a, ...a], [1])', 'big.reduce((a, x) => a + a, "x")', 'big.reduce((a, x) => [a, a], 1)',
  'big.reduce((a, x) => ({ a, b: a }), 1)', 'JSON.stringify(bomb.reduce((a, x) => [a, a], 1))', '"" + bomb.reduce((a, x) => [a, a], 1)',
  'bomb.reduce((a, x) => [a, a], [1]).flat(1 / 0)', 'bomb.reduce((a, x) => [a, a], [1]).join()', '[...big, ...big].map(x => [...big])',
  'Math.max(...big, ...big.map(x => Math.max(...big)))', 'big.map(x => long + x)', 'big.map(x => `${long}`)', 'big.map(x => long === long + "")',
  'JSON.parse("[".repeat(100000))', 'JSON.parse("[".repeat(5000) + "]".repeat(5000))', 'big.reduce((a, x) => JSON.stringify(a + a), "x")',
  'big.sort((a, b) => big.sort((c, d) => 1).length)', 'Object.entries(big).map(x => Object.entries(big))', 'big.concat(...big.map(x => big))',
  '('.repeat(5000) + '1' + ')'.repeat(5000), '['.repeat(5000) + ']'.repeat(5000), '-'.repeat(5000) + '1', '1' + '+1'.repeat(4000),
  '!'.repeat(9000) + '1', 'a?'.repeat(2000) + '1' + ':1'.repeat(2000), '`${'.repeat(2000) + '1' + '}`'.repeat(2000), 'x'.repeat(20_000),
  'list.map(a => '.repeat(500) + '1' + ')'.repeat(500), '${'.repeat(2000), '"${nodes.a.state}"+'.repeat(1500) + '1', '1'.repeat(9999), '9'.repeat(400) + '**9',
] // prettier-ignore

const values = { ...hostile, bomb }

function tried(text: string): unknown {
  try {
    return evaluate(text, values)
  } catch (error) {
    expect(error).toBeInstanceOf(AppError)
    expect(['VALIDATION', 'BINDING', 'TOO_LARGE']).toContain((error as AppError).code)
    expect((error as AppError).message.length).toBeLessThan(5000)
    return undefined
  }
}

/** An expression that spends the whole limit of work on numbers. */
const SPENDTHRIFT = 'big.map(x => big.map(y => y))'
/** maximum work of an attack, as a multiple of the reference's */
const MOST = 15

// Holds EXPRESSION-2, EXPRESSION-4
describe('an attack', () => {
  let spent = 0
  beforeAll(() => {
    spent = cpuOf(() => tried(SPENDTHRIFT))
  })

  it('has the same limit of work as the reference, which uses all of it', () => {
    expect(() => evaluate(SPENDTHRIFT, values)).toThrow(expect.objectContaining({ code: 'TOO_LARGE' }))
  })

  it('is covered by more than a hundred cases', () => {
    expect(ATTACKS.length).toBeGreaterThan(100)
  })

  it.each(ATTACKS.map((text) => [text.length > 80 ? `${text.slice(0, 77)}...` : text, text]))(
    'by %s has no effect and takes little work',
    (_, text) => {
      let value: unknown
      expect(cpuOf(() => (value = tried(text)))).toBeLessThan(MOST * spent)
      expectData(value)
    },
  )

  it('does not change the process', () => {
    expect(({} as Record<string, unknown>)['x']).toBeUndefined()
    expect(Object.keys(Object.prototype)).toEqual([])
  })
})

/** Only JSON and undefined are returned. */
function expectData(value: unknown): void {
  if (Array.isArray(value)) {
    for (const item of value) expectData(item)
  } else if (typeof value === 'object' && value !== null) {
    expect(isPlainObject(value)).toBe(true)
    for (const item of Object.values(value)) expectData(item)
  } else {
    expect(['undefined', 'object', 'string', 'number', 'boolean']).toContain(typeof value)
  }
}
