import { describe, expect, it } from 'vitest'
import { compileTemplate } from './compile-template.ts'
import { fakeScope } from './fake-scope.ts'
import { thrown } from './thrown.ts'

const scope = fakeScope({
  nodes: {
    n: {
      x: 5,
      text: '<b>"hi" & bye</b>',
      zero: 0,
      empty: [],
      nothing: null,
      when: 1_700_000_000_000,
      iso: '2024-02-29T23:30:00+02:00',
      list: [
        { t: 1, tags: ['a', 'b'] },
        { t: 2, tags: [] },
      ],
      map: { one: 1, two: 2 },
      words: ['p', 'q'],
      signs: '&<>"\'`=',
      evil: '{{n.x}}${task.TASK_ID}',
      state: 'Above',
    },
    'my node': { y: 6 },
  },
  stream: { temperature: 21.5 },
  metadata: { city: 'Gent', location: { lat: 51 } },
  taskResource: 'boiler-1',
})

describe('a template', () => {
  it.each([
    ['{{n.x}}', '5'],
    ['{{n.state}}', 'Above'],
    ['[{{n.nope}}{{other.x}}{{n.nothing}}{{n.toString}}{{n.text.bold}}]', '[]'],
    ['${nodes.n.rawData.text}{{n.x}}', '<b>"hi" & bye</b>5'],
    ['{{n.evil}}', '{{n.x}}${task.TASK_ID}'],
    ['{{GLOBAL.temperature}} {{RESOURCE}} {{TASK_ID}} {{NODE_NAME}}', '21.5 boiler-1 task-1 node-1'],
    ['{{META.$.city}} {{META.$.location.lat}} {{META.$.none}}', 'Gent 51 '],
    ['\\{{n.x}}', '{{n.x}}'],
    ['{{#each n.words}}[{{n.x}}]{{../n.x}}{{@root.n.x}} {{/each}}', '[]55 []55 '],
    ['{{#each n.list}}{{RESOURCE}} {{GLOBAL.temperature}} {{META.$.city}};{{/each}}', 'boiler-1 21.5 Gent;'.repeat(2)],
    ['{{lookup n.words 1}}{{lookup (lookup n "map") "two"}}{{add (multiply n.x 2) 1}}', 'q211'],
    ['a\n{{#if n.x}}\n  b\n{{else}}\n  c\n{{/if}}\n{{! alone }}\nd', 'a\n  b\nd'],
    ['\\\\{{n.x}} \\{{n.x}}', '\\5 {{n.x}}'],
    ['{{{add n.x 2}}} {{subtract n.x 7}} {{{multiply "3" n.x}}} {{{divide n.x 2}}}', '7 -2 15 2.5'],
    ['{{{add 0.1 0.2}}}', '0.3'],
    ['[{{{divide n.x 0}}}{{{add n.text 1}}}{{{add n.nope 1}}}{{{date n.text}}}{{{time n.nope}}}]', '[]'],
    ['{{{date n.when}}} {{{time n.when}}}', '2023-11-14 22:13:20'],
    ['{{{date n.iso}}} {{{time n.iso "HH:mm"}}}', '2024-02-29 21:30'],
    ['{{{date 1e300}}}{{{date n.when "yyyy/MM"}}}', '2023/11'],
    ['a ${task.TASK_ID} {{n.x}} ${?loop.x}$${nodes.n.state}', 'a task-1 5 "Above"'],
    ['{{#if n.x}}${streamdata.temperature}{{/if}}', '21.5'],
  ])('%s is rendered', (text, expected) => {
    expect(compileTemplate(text).render(scope)).toBe(expected)
  })

  it('without placeholders is constant', () => {
    expect(compileTemplate('plain \\{{x}} \\${y}')).toMatchObject({ constant: true })
    expect(compileTemplate('plain \\{{x}} \\${y}').render(scope)).toBe('plain {{x}} ${y}')
    expect(compileTemplate('{{n.x}}')).toMatchObject({ constant: false })
  })

  it('lists the data that it needs', () => {
    expect(compileTemplate('{{META.$.a}} ${vault.K}').needs).toEqual({
      taskMetadata: false,
      nodeMetadata: true,
      secrets: ['K'],
      variables: [],
    })
  })

  it('is rejected with all its errors', () => {
    const error = thrown(() => compileTemplate('{{nope 1}} ${x.y} {{#if n.x}}'))
    expect(error).toMatchObject({ code: 'BINDING' })
    expect((error as { issues: unknown[] }).issues).toHaveLength(3)
  })

  it('reports a missing required binding like any other text', () => {
    expect(thrown(() => compileTemplate('{{n.x}} ${loop.i}').render(scope))).toMatchObject({ code: 'BINDING' })
  })

  it('stops multiplying loops', () => {
    const many = fakeScope({ nodes: { n: { list: Array.from({ length: 150 }, () => 1) } } })
    const text = '{{#each n.list}}{{#each ../n.list}}x{{/each}}{{/each}}'
    expect(thrown(() => compileTemplate(text).render(many))).toMatchObject({ code: 'TOO_LARGE' })
  })

  it('stops endlessly growing output', () => {
    const big = fakeScope({ nodes: { n: { list: Array.from({ length: 100 }, () => 1), text: 'x'.repeat(20_000) } } })
    const text = '{{#each n.list}}{{../n.text}}{{/each}}'
    expect(thrown(() => compileTemplate(text).render(big))).toMatchObject({ code: 'TOO_LARGE' })
  })

  it('stops loops over many tags, for any output', () => {
    const many = fakeScope({ nodes: { n: { list: Array.from({ length: 5000 }, () => 1) } } })
    for (const tag of ['{{nope}}', '{{#if nope}}{{/if}}', '{{#with nope}}{{/with}}']) {
      const text = `{{#each n.list}}${tag.repeat(500)}{{/each}}`
      expect(thrown(() => compileTemplate(text).render(many))).toMatchObject({ code: 'TOO_LARGE' })
    }
  })

  it('runs at most a hundred thousand tags and texts', () => {
    const many = fakeScope({ nodes: { n: { list: Array.from({ length: 5000 }, () => 1) } } })
    const render = (tags: number) => compileTemplate(`{{#each n.list}}${'{{nope}}'.repeat(tags)}{{/each}}`).render(many)
    expect(render(10)).toBe('')
    expect(thrown(() => render(25))).toMatchObject({ code: 'TOO_LARGE' })
  })

  it('does not print lists beyond the maximum length of a text', () => {
    const list = Array.from({ length: 700_000 }, () => 1)
    const scope = fakeScope({ nodes: { n: { list, few: [1, 2], deep: nest(50_000) } } })
    expect(thrown(() => compileTemplate('{{n.list}}').render(scope))).toMatchObject({ code: 'TOO_LARGE' })
    expect(compileTemplate('[{{n.deep}}]').render(scope)).toBe('[]')
    expect(
      compileTemplate('{{#with n.list}}{{#each ../n.few}}{{this}}{{../length}} {{/each}}{{/with}}').render(scope),
    ).toBe('1700000 2700000 ')
  })

  it('can have at most 10000 tags', () => {
    const zeros = compileTemplate('{{n.zero}}'.repeat(10_000))
    expect(zeros.render(scope)).toBe('0'.repeat(10_000))
    for (const tag of ['{{n.x}}', '{{! a }}', '{{#if n.x}}{{/if}}', '{{nope 1}}']) {
      const error = thrown(() => compileTemplate(tag.repeat(190_000)))
      expect(error).toMatchObject({ code: 'BINDING' })
      expect((error as { issues: unknown[] }).issues.length).toBeLessThanOrEqual(100)
    }
  })

  it('can have at most 100 branches', () => {
    const chain = (length: number) => `{{#if n.no}}a${'{{else if n.no}}b'.repeat(length)}{{else}}c{{/if}}`
    expect(compileTemplate(chain(99)).render(scope)).toBe('c')
    expect(thrown(() => compileTemplate(chain(102)))).toMatchObject({ code: 'BINDING' })
    expect(thrown(() => compileTemplate(chain(100_000)))).toMatchObject({ code: 'BINDING' })
  })

  it('can nest blocks at most 16 deep', () => {
    const nested = (depth: number) => '{{#if n.x}}'.repeat(depth) + 'x' + '{{/if}}'.repeat(depth)
    expect(compileTemplate(nested(16)).render(scope)).toBe('x')
    expect(thrown(() => compileTemplate(nested(17)))).toMatchObject({ code: 'BINDING' })
    expect(thrown(() => compileTemplate(nested(20_000)))).toMatchObject({ code: 'BINDING' })
  })
})

function nest(depth: number): unknown {
  let value: unknown = []
  for (let i = 0; i < depth; i++) value = [value]
  return value
}
