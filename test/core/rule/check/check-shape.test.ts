import fc from 'fast-check'
import { Type } from 'typebox'
import { Check } from 'typebox/value'
import { describe, expect, it } from 'vitest'
import { checkShape } from '../../../../src/core/rule/check/check-shape.ts'
import { Report } from '../../../../src/core/rule/check/report.ts'
import { RuleSchema } from '../../../../src/core/rule/rule-schema.ts'
import { goodRule } from '../sample.ts'
import { runs } from '../../../support/arbitraries/runs.ts'

const small = Type.Object({
  label: Type.String({ minLength: 1 }),
  a: Type.Optional(Type.Number({ minimum: 0, maximum: 9 })),
  b: Type.Optional(Type.Integer({ exclusiveMinimum: 0 })),
  c: Type.Optional(Type.Boolean()),
  d: Type.Optional(Type.Array(Type.Enum(['x', 'y']), { minItems: 1, maxItems: 2 })),
  e: Type.Optional(Type.Union([Type.Array(Type.String()), Type.Record(Type.String(), Type.Unknown())])),
  f: Type.Optional(Type.Object({ label: Type.String() })),
})

const value = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom(0, 1, 5, 9, 10, -1, 0.5, '', 'x', ['x'], ['x', 'y'], true, null),
)
const document = fc.oneof(
  fc.record({ label: value, a: value, b: value, c: value, d: value, e: value, f: value }, { requiredKeys: [] }),
  fc.jsonValue({ maxDepth: 2 }),
)

describe('checkShape', () => {
  it('reports an error exactly where the schema library does', () => {
    fc.assert(
      fc.property(document, (input) => {
        const report = new Report()
        checkShape(small, input, '', 'it', report)
        expect(report.hasErrors).toBe(!Check(small, input))
      }),
      runs(2000),
    )
  })

  it('returns valid values', () => {
    const report = new Report()
    const rest = checkShape(small, { label: 'l', a: 'no', b: 3, d: ['x', 'z'], zz: 1 }, '', 'it', report)
    expect(rest).toEqual({ label: 'l', b: 3, zz: 1 })
    expect(report.issues.map(({ path, severity }) => `${severity} ${path}`)).toEqual([
      'ERROR /a',
      'ERROR /d/1',
      'WARNING /zz',
    ])
  })

  it('keeps the indexes in a list of objects', () => {
    const report = new Report()
    const rule = { ...goodRule(), sensors: ['no', ...goodRule().sensors] }
    const rest = checkShape(RuleSchema, rule, '', 'the rule', report)
    expect(rest).toMatchObject({ sensors: [{}, { label: 'heat' }, {}, {}] })
    expect(report.issues.map(({ path }) => path)).toEqual(['/sensors/0'])
  })
})
