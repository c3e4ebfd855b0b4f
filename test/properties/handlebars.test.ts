/** What our templates print is what the package handlebars prints. */
import fc from 'fast-check'
import Handlebars from 'handlebars'
import { describe, expect, it } from 'vitest'
import { compileTemplate } from '../core/placeholders/compile-template.ts'
import { messageOf } from '../../src/kernel/errors.ts'
import { fakeScope } from '../core/placeholders/fake-scope.ts'
import { runs } from '../support/arbitraries/runs.ts'
import { template, templateData } from '../support/arbitraries/templates.ts'

/** What handlebars prints, or that it cannot. Nodes are read by name alone: nobody loops over all there are. */
function expected(text: string, data: object): string | Error {
  const nodes = Object.entries(data).map(([label, value]) => [label, { value: value as unknown, enumerable: false }])
  try {
    return Handlebars.compile(text)(Object.create(Object.prototype, Object.fromEntries(nodes) as PropertyDescriptorMap))
  } catch (error) {
    return error as Error
  }
}

describe('templates of handlebars', () => {
  it('come out as the package prints them', () => {
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
