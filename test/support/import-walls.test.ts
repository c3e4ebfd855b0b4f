import { describe, expect, it } from 'vitest'
import { findCycles, impurities, wallBreaks, wallOf } from './import-walls.ts'
import { scanSource } from './scan-source.ts'

const breaks = (path: string, source: string) => wallBreaks(path, scanSource(source)).length

describe('wallBreaks', () => {
  it.each([
    ['src/kernel/a.ts', './b.ts', 0],
    ['src/kernel/a.ts', '../core/b.ts', 1],
    ['src/kernel/a.ts', 'rxjs', 1],
    ['src/core/rule/a.ts', '../graph/b.ts', 0],
    ['src/core/rule/a.ts', '../../kernel/b.ts', 1],
    ['src/core/rule/a.ts', 'typebox/value', 0],
    ['src/core/rule/a.ts', 'typeboxes', 1],
    ['src/core/rule/a.ts', 'node:fs', 1],
    ['src/index.ts', './core/a.ts', 1],
    ['src/index.ts', '#host', 1],
    ['src/services/alarms/service.ts', '#services/rules/contract', 0],
    ['src/services/alarms/service.ts', '#services/rules', 1],
    ['src/services/alarms/service.ts', '../rules/contract.ts', 1],
    ['src/services/alarms/service.ts', '#core/spi', 1],
    ['src/services/rules/service.ts', '#core/spi', 0],
    ['src/services/functions/runtimes/a.ts', '../../../core/plug/define.ts', 0],
    ['src/services/functions/runtimes/a.ts', '#core', 1],
    ['src/host/wiring/alarms.ts', '../../core/engine/engine.ts', 1],
    ['src/host/a.ts', '#host/wiring/queries', 1],
    ['plugins/dice/plug.ts', './faces.ts', 0],
    ['plugins/dice/plug.ts', '../stream/plug.ts', 1],
    ['plugins/dice/plug.ts', '../../src/core/plug/define.ts', 1],
  ])('%s importing %s: %i breaks', (path, specifier, expected) => {
    expect(breaks(path, `import type { A } from '${specifier}'`)).toBe(expected)
  })

  it('refuses a computed import in pure code', () => {
    expect(breaks('src/core/a.ts', 'await import(name)')).toBe(1)
  })

  it('refuses a file that no row covers', () => {
    expect(wallOf('src/elsewhere/a.ts')).toBeUndefined()
    expect(breaks('src/elsewhere/a.ts', '')).toBe(1)
  })
})

describe('findCycles', () => {
  it('finds a cycle over three files and names it', () => {
    const graph = new Map([
      ['a', ['b']],
      ['b', ['c', 'd']],
      ['c', ['a']],
      ['d', []],
    ])
    expect(findCycles(graph)).toEqual([['a', 'b', 'c', 'a']])
  })

  it('finds a file that imports itself', () => {
    expect(findCycles(new Map([['a', ['a']]]))).toEqual([['a', 'a']])
  })

  it('finds none where two ways lead to one file', () => {
    const graph = new Map([
      ['a', ['b', 'c']],
      ['b', ['d']],
      ['c', ['d']],
      ['d', []],
    ])
    expect(findCycles(graph)).toEqual([])
  })
})

describe('impurities', () => {
  it.each([
    'const t = Date.now()',
    'const now = Date.now',
    'const d = new Date()',
    'const d = new Date',
    'const d = Date()',
    'const d = DateTime.now()',
    'const r = Math.random()',
    'setTimeout(f, 1)',
    'globalThis.setTimeout(f, 1)',
    'const f = setInterval',
    'setImmediate(f)',
    'performance.now()',
    'process.env',
    'crypto.randomUUID()',
    'fetch(url)',
    "eval('1')",
    "new Function('x')",
    'let counter = 0',
    'export let counter = 0',
  ])('%s is one', (source) => {
    expect(impurities(scanSource(source))).toHaveLength(1)
  })

  it.each([
    'const d = new Date(ms)',
    'const d = new Date(Date.UTC(2026, 0, 1))',
    'clock.setTimeout(f, 1)',
    'this.process.run()',
    'ports.fetch(url)',
    'function fetch() {}\nfetch()',
    'const s = "Date.now()"',
    '// setTimeout',
    'function f() {\n  let a = 1\n}',
    'const d: Date = parse(text)',
  ])('%s is none', (source) => {
    expect(impurities(scanSource(source))).toEqual([])
  })
})
