/** Tests that any template ends within its limits, and reaches only its data. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AppError } from '../../../src/kernel/errors.ts'
import { VelocityTemplate } from '../../../src/formats/velocity/template.ts'
import { randomTemplates } from './apache/random-templates.ts'
import { DATA } from './apache/corpus.ts'
import { VERSIONS, type Version } from './apache/judge.ts'

function refusal(template: string, limits: object = {}, compat: Version = '1.7', now = () => 0): AppError {
  try {
    new VelocityTemplate(template, { compat, now, limits }).render({ ...DATA })
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
  throw new Error(`it was rendered: ${template.slice(0, 200)}`)
}

// Holds BUDGET-1
describe('a rendering stops at its limit', () => {
  it.each([
    ['loops', '#foreach($i in [1..1000000000])#end', 'steps'],
    ['loops of loops', '#foreach($i in [1..50000])#foreach($j in [1..50000])$i#end#end', 'steps'],
    ['a long loop that calls', '#foreach($i in [1..1000000])#set($x = $s.replaceAll("o", "0"))#end', 'steps'],
    ['lists within lists', '#set($l = [1])#foreach($i in [1..60])#set($l = [$l, $l])#end$l', 'steps'],
    [
      'lists within lists, compared',
      '#set($l = [1])#set($m = [1])#foreach($i in [1..60])#set($l = [$l, $l])#set($m = [$m, $m])#end#if($l == $m)x#end',
      'steps',
    ],
    [
      'lists within lists, hashed',
      '#set($l = [1])#foreach($i in [1..60])#set($l = [$l, $l])#end$l.hashCode()',
      'steps',
    ],
    ['texts that double', '#set($t = "xx")#foreach($i in [1..60])#set($t = "$t$t")#end', 'characters'],
    ['texts that repeat', '$s.repeat(2000000000)', 'characters'],
    ['texts that grow where they are replaced', '#set($t = $s.repeat(5000))$t.replace("", $t)', 'characters'],
    ['texts that are padded', '#foreach($i in [1..100000])$s.format("%9999d", 1)#end', 'characters'],
    ['numbers that square', '#foreach($i in [1..60])#set($long = $long * $long)#end', 'bits'],
    ['a range that is made a list', '#set($r = [1..1000000000])$r.size() $r.contains(-1)', 'steps'],
    ['a list that holds itself', '#set($ok = $list.add($list))$list', 'nests'],
    ['macros that call themselves', '#macro(m)#m()#end#m()', 'call each other'],
    ['macros that evaluate', "#macro(m)#evaluate('#m()')#end#m()", 'call each other'],
    ['text that evaluates itself', "#set($t = '#evaluate($t)')#evaluate($t)", 'nests'],
    ['bodies that call', '#macro(m)$bodyContent#end#macro(n)#@m()#n()#end#end#n()', 'call each other'],
  ])('of %s', (_what, template, word) => {
    for (const compat of VERSIONS) {
      const error = refusal(template, {}, compat)
      expect(error.code).toBe('CONVERSION')
      expect(error.message).toContain(word)
    }
  })

  it('but does not count time during which the process was suspended', () => {
    let looks = 0
    const now = () => (looks++ === 0 ? 0 : 10_000 + looks)
    const template = new VelocityTemplate('#foreach($i in [1..20000])x#end', { now, limits: { ms: 250 } })
    expect(template.render({})).toHaveLength(20_000)
    expect(looks).toBeGreaterThan(10)
  })

  it('of time, by the injected clock', () => {
    let now = 0
    const error = refusal('#foreach($i in [1..100000])x#end', { ms: 10 }, '1.7', () => now++)
    expect(error.message).toContain('longer than 10 ms')
  })

  it.each([
    ['if', '#if(true)', '#end'],
    ['brackets', '#set($x = ', ')'],
  ])('also when %s nest ten thousand deep', (_what, open, close) => {
    const inner =
      open === '#if(true)'
        ? open.repeat(10_000) + close.repeat(10_000)
        : `${open}${'('.repeat(10_000)}1${')'.repeat(10_000)}${close}`
    expect(refusal(inner).code).toBe('TEMPLATE')
  })

  it('for any template text', () => {
    const texts = fc.oneof(
      fc.string({
        unit: fc.constantFrom(
          ...'$#{}[]()"\'!.\\ \n=+-*/<>|&abc01,:@_'.split(''),
          '#if(',
          '#end',
          '#set(',
          '#foreach(',
          '#macro(',
          '$name',
          '$list',
        ),
      }),
      randomTemplates,
    )
    fc.assert(
      fc.property(texts, fc.constantFrom(...VERSIONS), (template, compat) => {
        try {
          new VelocityTemplate(template, { compat, now: () => 0 }).render({ ...DATA })
        } catch (error) {
          expect(error).toBeInstanceOf(AppError)
        }
      }),
    )
  })
})

// Holds VALUE-1
describe('internals of JavaScript are unreachable', () => {
  const NAMES = [
    'constructor',
    '__proto__',
    'prototype',
    'hasOwnProperty',
    'toLocaleString',
    'valueOf',
    '__defineGetter__',
    'class',
    'kind',
    'items',
    'textIn',
    'storage',
    'value',
  ]
  const OWNERS = [
    '$s',
    '$n',
    '$d',
    '$list',
    '$map',
    '$yes',
    '$foreach',
    '$map.keySet()',
    '$map.entrySet()',
    '$s.split(" ")',
    '$s.charAt(0)',
    '$list.iterator()',
  ]

  it.each(NAMES)('by the name %s', (name) => {
    for (const compat of VERSIONS) {
      for (const owner of OWNERS) {
        for (const suffix of [`.${name}`, `.${name}()`, `.get("${name}")`, `["${name}"]`, `.${name}.${name}`]) {
          const template = `#foreach($i in [1])#if(${owner}${suffix})reached ${owner}${suffix}#end#end`
          let printed = ''
          try {
            printed = new VelocityTemplate(template, { compat, now: () => 0 }).render({ ...DATA })
          } catch (error) {
            expect(error).toBeInstanceOf(AppError)
          }
          // a static method of Java without arguments is not available
          expect(printed).toBe('')
        }
      }
    }
  })

  it('and a value that is set under such a name is a key of the map', () => {
    const template = '#set($map["__proto__"] = {"x": 1})$map.x $map["__proto__"] #set($m = {})$m.x $m.toString()'
    const printed = new VelocityTemplate(template, { now: () => 0 }).render({ ...DATA })
    expect(printed).toBe('$map.x {x=1}$m.x {}')
    expect(({} as { x?: unknown }).x).toBeUndefined()
  })
})
