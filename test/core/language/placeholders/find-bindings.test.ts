import { describe, expect, it } from 'vitest'
import { findBindingProblems, findBindings } from '../../../../src/core/language/placeholders/find-bindings.ts'

describe('finding placeholders', () => {
  it('returns root, segments, option and position of each', () => {
    expect(findBindings({ a: ['x ${?nodes.n.rawData.v} $${streamdata.t}'], 'b/c': 'META.$.k' })).toEqual([
      {
        text: '${?nodes.n.rawData.v}',
        root: 'nodes',
        segments: ['n', 'rawData', 'v'],
        optional: true,
        pointer: '/a/0',
      },
      { text: '$${streamdata.t}', root: 'streamdata', segments: ['t'], optional: false, pointer: '/a/0' },
      { text: 'META.$.k', root: 'node', segments: ['resource', 'meta', 'k'], optional: true, pointer: '/b~1c' },
    ])
  })

  it('finds {{}} only in templates', () => {
    const text =
      '{{a.b}} {{a.state}} {{GLOBAL.t}} {{META.$.k}} {{RESOURCE}} {{{add a.x 1}}} {{#each a.l}}{{name}}{{this.q}}{{../a.y}}{{@root.a.z}}{{else}}{{this.a.w}}{{/each}} ${loop.i}'
    expect(findBindings(text).map((use) => use.root)).toEqual(['loop'])
    expect(findBindings(text, { template: true }).map((use) => [use.root, ...use.segments].join('.'))).toEqual([
      'nodes.a.rawData.b',
      'nodes.a.state',
      'streamdata.t',
      'node.resource.meta.k',
      'task.RESOURCE',
      'nodes.a.rawData.x',
      'nodes.a.rawData.l',
      'nodes.a.rawData.y',
      'nodes.a.rawData.z',
      'nodes.a.rawData.w',
      'loop.i',
    ])
  })

  it('omits invalid ones', () => {
    expect(findBindings('${x.y} ${streamdata.a}')).toMatchObject([{ text: '${streamdata.a}' }])
  })

  it.each([
    ['${streamdata.t', /"\$\{streamdata.t" is never closed/],
    ['a ${} b', /is empty/],
    ['${?}', /is empty/],
    ['${foo.bar}', /"foo" is not a place/],
    ['${streamdata.a + 1}', /unexpected " "/],
    ['${nodes.a.rawData.l[x]}', /bad index/],
    ['${streamdata.__proto__.x}', /reserved/],
    ['META.$.', /empty key/],
    ['META.$.a.constructor', /reserved/],
  ])('reports %s with a position and a suggestion', (text, message) => {
    const problems = findBindingProblems({ p: text })
    expect(problems).toMatchObject([{ pointer: '/p' }])
    expect(problems[0]?.message).toMatch(message)
    expect(problems[0]?.suggestion).not.toBe('')
  })

  it('accepts plain dollars, braces and escapes', () => {
    expect(findBindingProblems(['$', '$x', '{a}', '$ {x}', '\\${', '{{', 'META.x', 5, null])).toEqual([])
  })

  it.each([
    ['{{a.b', /never closed/],
    ['{{}}', /is empty/],
    ['{{#each a.l}}x', /never closed/],
    ['{{/if}}', /not open/],
    ['{{#each a.l}}{{/if}}{{/each}}', /not open/],
    ['{{#eech a}}{{/eech}}', /unknown block "eech"/],
    ['{{#with a}}', /never closed/],
    ['{{#with}}{{/with}}', /needs one path/],
    ['{{#each a b}}{{/each}}', /needs one path/],
    ['{{if a}}', /calls the block "if"/],
    ['{{lookup a}}', /1 arguments/],
    ['{{log a}}', /unknown helper "log"/],
    ['{{> part}}', /partial/],
    ['{{#> part}}', /partial/],
    ['{{{{raw}}}}', /raw block/],
    ['{{* decorate}}', /decorator/],
    ['{{#if a as |x|}}{{/if}}', /does not support names/],
    ['{{#each a as |}}{{/each}}', /list of names/],
    ['{{#each a size=1}}{{/each}}', /has "size="/],
    ['{{add (add 1 2}}', /never closed/],
    ['{{add (ad 1 2) 1}}', /unknown helper "ad"/],
    ['{{a.this}}', /"this" behind a name/],
    ['{{a+b}}', /unexpected "\+"/],
    ['{{{a}}', /ends with \}\}/],
    ['{{a..b}}', /empty step|behind a name/],
    ['{{lookup ' + '"a" '.repeat(200) + '}}', /more than 100 words/],
    ['{{#if}}{{/if}}', /needs one path/],
    ['{{else}}', /outside a block/],
    ['{{#if a}}{{else}}{{else}}{{/if}}', /second else/],
    ['{{^a}}{{else if b}}{{/a}}', /after else/],
    ['{{{ad 1 2}}}', /unknown helper "ad"/],
    ['{{{add 1}}}', /1 arguments/],
    ['{{#each a}}{{@lest}}{{/each}}', /unknown @lest/],
    ['{{GLOBAL}}', /does not name a value/],
    ['{{META.x}}', /does not name a metadata key/],
    ['{{a.__proto__}}', /reserved/],
    ['{{a.}}', /empty step/],
    ['ok ${foo.x} {{a}}', /"foo" is not a place/],
  ])('reports %s in a template', (text, message) => {
    const problems = findBindingProblems(text, { template: true })
    expect(problems).toMatchObject([{ pointer: '' }])
    expect(problems[0]?.message).toMatch(message)
    expect(problems[0]?.suggestion).not.toBe('')
  })
})
