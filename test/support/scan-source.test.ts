import { describe, expect, it } from 'vitest'
import { scanSource } from './scan-source.ts'

const specifiers = (source: string) => scanSource(source).imports.map((entry) => entry.specifier)

describe('scanSource', () => {
  it.each([
    ["import { a } from './a.ts'", ['./a.ts']],
    ["import type { A } from './a.ts'", ['./a.ts']],
    ["import a, { type B, c as d } from 'pkg'", ['pkg']],
    ["import * as all from 'pkg/deep'", ['pkg/deep']],
    ["import {\n  a,\n  b,\n} from './many.ts'", ['./many.ts']],
    ["import './side-effect.ts'", ['./side-effect.ts']],
    ["export { a } from './a.ts'", ['./a.ts']],
    ["export type { A } from './a.ts'", ['./a.ts']],
    ["export * from './a.ts'", ['./a.ts']],
    ["export * as a from './a.ts'", ['./a.ts']],
    ["const a = await import('./lazy.ts')", ['./lazy.ts']],
    ['const a = await import(`./lazy.ts`)', ['./lazy.ts']],
    ["type A = import('./a.ts').A", ['./a.ts']],
    ["type A = typeof import('./a.ts')", ['./a.ts']],
    ["const fs = require('node:fs')", ['node:fs']],
    ['const a = await import(name)', [undefined]],
    ["const t = `${await import('./in-template.ts')}`", ['./in-template.ts']],
    ["const r = /['\"]/\nimport './after-regex.ts'", ['./after-regex.ts']],
    ["const half = total / 2 // '\nimport './after-division.ts'", ['./after-division.ts']],
    ["import a from './a.ts'; import b from './b.ts'", ['./a.ts', './b.ts']],
  ])('sees what %j imports', (source, expected) => {
    expect(specifiers(source)).toEqual(expected)
  })

  it.each([
    "// import './a.ts'",
    "/* import './a.ts'\nimport './b.ts' */",
    'const text = "import \'./a.ts\'"',
    "const text = `import './a.ts'`",
    "const text = `a ${b} import './a.ts' ${c}`",
    "const r = /import '.\\/a'/",
    "const r = /[/]import '.a'/",
    "const url = 'http://import/x'",
    'export const a = 1',
    'export { a }',
    "reimport('./a.ts')",
    "thing.import('./a.ts')",
    "export const from = ['./a.ts']",
  ])('sees no import in %j', (source) => {
    expect(specifiers(source)).toEqual([])
  })

  it('returns the line of an import', () => {
    expect(scanSource("\n\nimport a from './a.ts'\n").imports).toEqual([{ specifier: './a.ts', line: 3 }])
  })

  it.each([
    "'Math.random()'",
    '"Math.random()"',
    '`Math.random()`',
    '// Math.random()',
    '/* Math.random() */',
    '/Math.random()/',
  ])('blanks out %s', (source) => {
    expect(scanSource(`const a = ${source}`).code).not.toContain('random')
  })

  it('keeps the code inside a template literal', () => {
    expect(scanSource('const a = `x ${ { b: Math.random() }.b } Date.now()`').code).toContain('Math.random()')
    expect(scanSource('const a = `x ${ { b: Math.random() }.b } Date.now()`').code).not.toContain('Date.now')
  })

  it('keeps length and lines', () => {
    const source = 'a /* b\nc */ + `d\n${e}\nf` // g\n'
    const { code } = scanSource(source)
    expect(code).toHaveLength(source.length)
    expect(code.split('\n')).toHaveLength(source.split('\n').length)
  })
})
