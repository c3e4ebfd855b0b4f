/** Tests that the direct JSON value of a template equals its parsed text, or falls back to the text. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AppError } from '../../../src/kernel/errors.ts'
import { VelocityTemplate } from '../../../src/formats/velocity/template.ts'
import { MAX_JSON_DEPTH } from '../../../src/kernel/json-limits.ts'
import { parseRendered } from '../../../src/services/shared/http/parse-body.ts'
import { runs } from '../../support/arbitraries/runs.ts'

const DATA = {
  name: 'boiler',
  n: 7,
  d: -2.5,
  big: 12_345_678_901_234_567n,
  far: 1.5e300,
  quoted: 'a "b"',
  lines: 'a\nb',
  json: '{"x":[1,"y"]}',
  part: '{"x":',
  digits: '42',
  word: 'true',
  yes: true,
  nothing: null,
  empty: [],
  list: [1, 2.5, -3],
  texts: ['p', 'q'],
  rows: [
    { id: 'a', t: 20.5, mode: 'auto' },
    { id: 'b', t: -0 },
  ],
  map: { k: 1 },
}
const ROWS =
  '{"metrics":[#foreach($r in $rows){"id":"$r.id","t":$r.t#if($r.mode),"m":"$r.mode"#end}#if($foreach.hasNext),#end#end]}'

const template = (source: string): VelocityTemplate => new VelocityTemplate(source, { now: () => 0 })
const direct = (source: string, data: object = DATA): unknown =>
  template(source).renderJson({ ...data }, MAX_JSON_DEPTH, parseRendered)
const byText = (source: string): unknown => parseRendered(template(source).render({ ...DATA }))

describe('the direct JSON value of a template', () => {
  it.each([
    ['constants', ' {"a": [1, -2.5e3, true, null, "x\\n\\u0041"], "b": {}, "c": []} '],
    ['numbers and words', '[$n, $d, $yes, $far, ${n}000, -$n, $n.5, $digits, $word]'],
    ['strings', '["$name", "$name-$n", "x${d}y", "$missing", "$!missing", "$list", "$texts"]'],
    ['a zero below zero', '#set($z = 0 * -1)[$z, -$z, -0.0]'],
    ['keys', '{"$name": 1, "n$n": {"$digits": 2, "a": 3, "a": 4}}'],
    ['loops and branches', ROWS],
    ['whole parts that variables bring', '{"a": $json, "b": [$json, $json]}'],
    ['lists as Java prints them', '$list'],
    ['macros in and outside of strings', '#macro(m $x)$x#end{"a": #m($n), "b": "#m($n)/#m($name)"}'],
    ['macros that call each other', '#macro(a $x)[#b($x)]#end#macro(b $x)$x#end#a($n)'],
    ['interpolated texts', '#set($x = "$name-$n")#set($y = "#foreach($i in $list)$i #end"){"a": "$x", "b": "$y"}'],
    ['more strings in a branch within one', '["a#if($yes)", "#end b"]'],
    ['ranges', '[#foreach($i in [1..3])$i#if($foreach.hasNext),#end#end]'],
  ])('is available: %s', (_what, source) => {
    const value = direct(source)
    expect(value).toEqual(byText(source))
    expect(JSON.stringify(value)).toBe(JSON.stringify(byText(source)))
  })

  it.each([
    ['a text that needs escapes', '["$quoted"]'],
    ['a line break in a string', '["$lines"]'],
    ['half a value', '$part 1}'],
    ['a whole number that is rounded', '[$big]'],
    ['a reference without a value', '[$missing]'],
    ['nothing where a value belongs', '{"a": $!missing}'],
    ['a number beyond all numbers', '[${n}e999]'],
    ['a comma too many', '[1,]'],
    ['two values', '1 2'],
    ['nothing at all', ' '],
    ['an end too early', '{"a": 1'],
    ['a string that does not end', '{"a": "$name'],
    ['brackets of different kinds', '[1}'],
    ['a comma at the top', '1,2'],
    ['a key without a colon', '{"a" 1}'],
    ['a key that reaches a prototype', '{"__proto__": 1}'],
    ['such a key by a variable', '#set($k = "__proto__"){"$k": 1}'],
    ['a number with a zero before it', '[0$n]'],
    ['a string that begins in a branch', '[#if($yes)"#{else}"#end$name"]'],
    ['a branch that ends the string', '["a#if($yes)"#end]'],
    ['a quote behind a backslash', String.raw`["a\$name"]`],
    ['#define', '#define($x)1#end[$x]'],
    ['#evaluate', '[#evaluate("1")]'],
    ['#stop', '[1]#stop'],
    ['#break within a text within a string', '["#foreach($i in $list)a#set($x = "#break")"#end]'],
    ['an unknown macro', '["#unknown($n)"]'],
    ['a macro with a body', '#macro(m)$bodyContent#end[#@m()1#end]'],
    ['too many levels', `${'['.repeat(MAX_JSON_DEPTH + 1)}${']'.repeat(MAX_JSON_DEPTH + 1)}`],
    ['too many levels by a variable', `${'['.repeat(MAX_JSON_DEPTH - 1)}$json${']'.repeat(MAX_JSON_DEPTH - 1)}`],
  ])('falls back to the text: %s', (_what, source) => {
    expect(direct(source)).toBeUndefined()
  })

  it('may be as deep as the text may be', () => {
    const source = `${'['.repeat(MAX_JSON_DEPTH - 2)}$json${']'.repeat(MAX_JSON_DEPTH - 2)}`
    expect(direct(source)).toEqual(byText(source))
  })

  it('fails where the text fails, at the same position', () => {
    const failing = template('{"a":\n $name.substring(100)}')
    const refusal = (work: () => unknown): unknown => {
      try {
        return work()
      } catch (error) {
        return error instanceof AppError ? [error.code, error.message] : error
      }
    }
    const told = refusal(() => failing.renderJson({ ...DATA }, MAX_JSON_DEPTH, parseRendered))
    expect(told).toEqual(refusal(() => failing.render({ ...DATA })))
    expect(told).toEqual(['CONVERSION', expect.stringContaining('line 2')])
  })

  it('falls back to the text when the text might exceed its limit', () => {
    const limited = new VelocityTemplate(ROWS, { now: () => 0, limits: { characters: 60 } })
    expect(limited.renderJson({ ...DATA }, MAX_JSON_DEPTH, parseRendered)).toBeUndefined()
  })

  it('is not attempted again where it is rarely available, and is where it mostly is', () => {
    const tried = template('["$x"]')
    const ask = (x: string): unknown => tried.renderJson({ x }, MAX_JSON_DEPTH, parseRendered)
    for (let i = 0; i < 20; i++) {
      expect(ask('"')).toBeUndefined()
      expect(ask('a')).toEqual(['a'])
    }
    for (let i = 0; i < 8; i++) ask('"')
    expect(ask('a')).toBeUndefined()
  })
})

const holes = fc.constantFrom(...Object.keys(DATA), 'missing', 'rows[0].id', 'list.size()', 'x', 'foreach.count')
const literal = fc.constantFrom('1', '-2.5e3', 'true', 'null', '""', '"x"', String.raw`"\"\u0041"`, '0', '[]', '{}')
const within = fc.array(
  fc.oneof(
    fc.constantFrom('a', ' ', '{', ',', ':', '0'),
    holes.map((hole) => `\${${hole}}`),
  ),
  {
    maxLength: 3,
  },
)
const { document } = fc.letrec<{ document: string }>((tie) => {
  const inner = tie('document')
  const text = within.map((parts) => `"${parts.join('')}"`)
  const members = fc.array(
    fc.tuple(text, inner).map(([key, value]) => `${key}: ${value}`),
    { maxLength: 3 },
  )
  return {
    document: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      literal,
      text,
      holes.map((hole) => `$${hole}`),
      holes.map((hole) => `$!{${hole}}0`),
      fc.array(inner, { maxLength: 3 }).map((items) => `[${items.join(', ')}]`),
      members.map((all) => `{${all.join(',')}}`),
      fc.tuple(holes, inner, inner).map(([hole, yes, no]) => `#if($${hole})${yes}#else${no}#end`),
      fc.tuple(holes, inner).map(([hole, item]) => `[#foreach($x in $${hole})${item}#if($foreach.hasNext),#end#end]`),
      inner.map((value) => `#set($x = 5)${value}`),
      inner.map((value) => `#show(${value.startsWith('$') ? value : '$name'})`),
    ),
  }
})
/** Some outputs are then invalid JSON. */
const damaged = fc
  .tuple(
    document,
    fc.option(fc.tuple(fc.nat(200), fc.nat(2), fc.constantFrom('', '"', ',', '{', ']', '\\', ' ', '1', 'a'))),
  )
  .map(([source, damage]) => {
    if (damage === null) return source
    const [at, length, put] = damage
    return source.slice(0, at % (source.length + 1)) + put + source.slice((at % (source.length + 1)) + length)
  })

describe('random templates of JSON', () => {
  it('always equal their parsed text', () => {
    let had = 0
    fc.assert(
      fc.property(damaged, (source) => {
        let made: VelocityTemplate
        try {
          made = template(`#macro(show $v)$v#end${source}`)
        } catch {
          return
        }
        let value: unknown
        try {
          value = made.renderJson({ ...DATA }, MAX_JSON_DEPTH, parseRendered)
        } catch {
          expect(() => made.render({ ...DATA })).toThrow(AppError)
          return
        }
        if (value === undefined) return
        had += 1
        expect(JSON.stringify(value)).toBe(JSON.stringify(parseRendered(made.render({ ...DATA }))))
      }),
      runs(1_000),
    )
    expect(had).toBeGreaterThan(20)
  })
})
