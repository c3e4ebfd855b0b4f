/** Checks that our templates print what the package handlebars prints. */
import fc from 'fast-check'
import Handlebars from 'handlebars'
import { describe, expect, it } from 'vitest'
import { compileTemplate } from '../core/language/placeholders/compile-template.ts'
import { messageOf } from '../../src/kernel/errors.ts'
import { fakeScope } from '../core/language/placeholders/fake-scope.ts'
import { runs } from '../support/arbitraries/runs.ts'
import { template, templateData } from '../support/arbitraries/templates.ts'

/** Precedes each program for the package, which would otherwise add up leading numbers. */
const MARK = '\uE000'

class TextFirst extends Handlebars.Visitor {
  override Program(program: hbs.AST.Program): void {
    super.Program(program)
    const original = { open: false, close: false }
    const mark: hbs.AST.ContentStatement = { type: 'ContentStatement', value: MARK, original, loc: program.loc }
    program.body.unshift(mark)
  }
}

/** Returns what handlebars prints, or its error. Nodes are read only by name: a loop over all nodes has no rounds. */
function expected(text: string, data: object): string | Error {
  const nodes = Object.entries(data).map(([label, value]) => [label, { value: value as unknown, enumerable: false }])
  try {
    const program = Handlebars.parse(text)
    new TextFirst().accept(program)
    return Handlebars.compile(program)(
      Object.create(Object.prototype, Object.fromEntries(nodes) as PropertyDescriptorMap),
    ).replaceAll(MARK, '')
  } catch (error) {
    return error as Error
  }
}

describe('templates of handlebars', () => {
  it('are rendered like the original package does', () => {
    let refused = 0
    let rendered = 0
    fc.assert(
      fc.property(template, templateData, (text, data) => {
        const judge = expected(text, data)
        if (judge instanceof Error) {
          refused++
          return
        }
        rendered++
        expect(compileTemplate(text).render(fakeScope({ nodes: data })), messageOf(judge)).toBe(judge)
      }),
      runs(500),
    )
    expect(rendered, `${refused} templates were refused`).toBeGreaterThan(refused)
  })
})
