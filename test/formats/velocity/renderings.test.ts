/** Tests that renderings share nothing, and that any number of variables can be set and removed. */
import { describe, expect, it } from 'vitest'
import { VelocityTemplate } from '../../../src/formats/velocity/template.ts'

const made = (source: string): VelocityTemplate => new VelocityTemplate(source, { now: () => 0 })

describe('renderings of one template', () => {
  it('do not share macros', () => {
    const template = made('#if($text)#evaluate($text)#end#late()')
    const text = '#macro(late)made#end'
    expect(template.render({ text })).toBe('made')
    expect(template.render({})).toBe('#late()')
    expect(template.render({ text: text.replace('made', 'again') })).toBe('again')
  })

  it('do not share variables', () => {
    const template = made('$!kept#set($kept = 1)$kept')
    expect([template.render({}), template.render({})]).toEqual(['1', '1'])
  })

  it('return the output before #stop', () => {
    expect(made('a#stop b').render({})).toBe('a')
  })
})

describe('variables', () => {
  const names = Array.from({ length: 12 }, (_, i) => `v${i}`)

  it.each([1, 7, 8, 9, 12])('of the payload can be read and changed: %i of them', (count) => {
    const given = Object.fromEntries(names.slice(0, count).map((name, i) => [name, i]))
    const all = names.map((name) => `$!${name}`).join(',')
    const template = made(`#foreach($v0 in ["x"])$v0#end#foreach($new in ["y"])$new#end$!new|${all}#set($v0 = "z")|$v0`)
    const shown = names.map((_, i) => (i < count ? String(i) : '')).join(',')
    expect(template.render(given)).toBe(`xy|${shown}|z`)
  })

  it.each([3, 12])('that a template sets itself: %i of them', (count) => {
    const own = names.slice(0, count)
    const sets = own.map((name, i) => `#set($${name} = ${i})`).join('')
    const reads = own.map((name) => `$${name}`).join(',')
    expect(made(`${sets}${reads}`).render({})).toBe(own.map((_, i) => i).join(','))
  })
})

describe('objects of the payload', () => {
  it('are identical each time they are read', () => {
    const template = made(
      '#set($p.a.x = 1)#set($p.b.x = 2)#set($p.c.x = 3)$p.a.x$p.b.x$p.c.x $p.size() $p.a.x$p.b.x$p.c.x',
    )
    expect(template.render({ p: { a: {}, b: {}, c: {} } })).toBe('123 3 123')
  })
})

describe('a loop', () => {
  it('fails when its list grows during iteration, as in Java', () => {
    const growing = made('#set($list = [1, 2])#foreach($i in $list)$i#set($ok = $list.add(3))#end')
    expect(() => growing.render({})).toThrow('ConcurrentModificationException')
  })
})
