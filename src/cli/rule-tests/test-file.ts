/** Reads files of example tests: what devices send, and what a rule must do. */
import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { Type } from 'typebox'
import { AppError, describeIssue, DURATION_PATTERN, durationMs, type Issue, messageOf } from '#kernel'
import { excerptOf, findJsonProblem } from '#formats/recording'
import { checked, closed, type Decoded, open, refined } from '#services/shared/contract'

/** Monday, so that weekly schedules begin on the first day. */
const START = '2026-01-05T00:00:00Z'
const INSTANT = String.raw`^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2}))?$`
const ANY_TIME = new RegExp(`${DURATION_PATTERN}|${INSTANT}`)

const Time = refined(
  Type.String({ maxLength: 100, description: 'duration since the start such as 90s, or ISO 8601 with an offset' }),
  (value) =>
    typeof value !== 'string' || ANY_TIME.test(value)
      ? []
      : [
          {
            message: `${JSON.stringify(value)} is not a time`,
            suggestion: 'write a duration since the start such as 90s or PT5M, or ISO 8601 with an offset',
          },
        ],
)
const Name = Type.String({ minLength: 1, maxLength: 500 })
const at = Type.Optional(Time)

const FiringSchema = closed(
  { node: Name, at, source: Type.Optional(Name), resource: Type.Optional(Name) },
  { title: 'expected firing' },
)
const AlarmSchema = closed(
  {
    type: Name,
    severity: Type.Optional(Name),
    source: Type.Optional(Name),
    at,
    cleared: Type.Optional(
      Type.Union([Time, Type.Literal(false)], { description: 'when it is cleared; false: it stays open' }),
    ),
  },
  { title: 'expected alarm' },
)
const StateSchema = closed({ node: Name, at, is: Type.Union([Name, Type.Null()]) }, { title: 'expected state' })

const ExpectSchema = refined(
  closed({
    firings: Type.Optional(Type.Array(FiringSchema, { description: 'all firings, in order; [] for silence' })),
    silent: Type.Optional(Type.Array(Name, { minItems: 1, description: 'nodes that never fire' })),
    alarms: Type.Optional(Type.Array(AlarmSchema, { description: 'all raised alarms, in order' })),
    states: Type.Optional(Type.Array(StateSchema, { minItems: 1 })),
  }),
  (value) =>
    typeof value === 'object' && value !== null && Object.keys(value).length === 0
      ? [{ message: 'expects nothing', suggestion: 'name firings, silent, alarms or states; "firings": [] is silence' }]
      : [],
)

const StoredSchema = closed(
  {
    from: Name,
    until: Type.Optional(Name),
    resource: Type.Optional(Name),
    type: Type.Optional(Name),
    query: Type.Optional(Name),
  },
  { description: 'the stored data of a host, in place of messages' },
)

const CaseSchema = closed({
  name: Name,
  variables: Type.Optional(open({}, 20)),
  start: Type.Optional(Type.String({ pattern: INSTANT, description: `ISO 8601 with an offset; default ${START}` })),
  messages: Type.Optional(Type.Array(open({ at: Time, receivedAt: at, resource: Type.Optional(Name) }, 20))),
  stored: Type.Optional(StoredSchema),
  until: Type.Optional(Time),
  expect: ExpectSchema,
})

const FileSchema = closed({
  $schema: Type.Optional(Type.String()),
  rule: Type.String({ minLength: 1, description: 'path of a rule or template, from this file' }),
  resource: Type.Optional(Name),
  variables: Type.Optional(open({}, 20)),
  seed: Type.Optional(Type.Integer({ minimum: 0 })),
  cases: Type.Array(CaseSchema, { minItems: 1, maxItems: 10_000 }),
})
const FILE = checked(FileSchema, { subject: 'the test', typeOfUnknown: 'UNKNOWN' })

export type TestFile = Decoded<typeof FileSchema> & { readonly path: string; readonly rulePath: string }
export type TestCase = TestFile['cases'][number]
export type Expectation = TestCase['expect']

/** Returns a file with its checked content. Throws `NOT_JSON` or `VALIDATION` with the file, and all problems. */
export async function readTestFile(path: string): Promise<TestFile> {
  const content = await parsed(path, readFileSync(path, 'utf8'))
  try {
    const file = FILE.read(content)
    const problems = file.cases.flatMap((one, index) => problemsOf(one, `/cases/${index}`))
    if (problems.length > 0) throw new AppError('VALIDATION', '', { issues: problems })
    return { ...file, path, rulePath: resolve(dirname(path), file.rule) }
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'VALIDATION') throw error
    const lines = error.issues.map((issue) => `${path}: ${describeIssue(issue)}`)
    throw new AppError('VALIDATION', lines.join('\nerror: '), { issues: error.issues })
  }
}

export function startOf({ start = START }: TestCase): number {
  return Date.parse(start)
}

/** Returns epoch ms. */
export function timeIn(text: string, start: number): number {
  return new RegExp(INSTANT).test(text) ? Date.parse(text) : start + durationMs(text)
}

function problemsOf(one: TestCase, path: string): readonly Issue[] {
  const { messages, stored, until, start, expect } = one
  const wrong = (at: string, message: string, suggestion: string): Issue => ({
    type: 'BODY',
    severity: 'ERROR',
    path: `${path}${at}`,
    message,
    suggestion,
  })
  const problems: Issue[] = []
  if (messages !== undefined && stored !== undefined)
    problems.push(wrong('/stored', 'stands beside messages', 'keep one of them'))
  if (messages === undefined && stored === undefined && until === undefined)
    problems.push(wrong('/messages', 'is required', 'write messages, stored, or until for a run of the clock alone'))
  if (stored !== undefined) {
    const unusable = Object.entries({ until, start, alarms: expect.alarms, states: expect.states })
    for (const [name] of unusable.filter(([, value]) => value !== undefined))
      problems.push(
        wrong(
          name === 'alarms' || name === 'states' ? `/expect/${name}` : `/${name}`,
          'does not apply to stored data',
          'expect firings or silent nodes; stored has from and until',
        ),
      )
  }
  return problems
}

async function parsed(path: string, text: string): Promise<unknown> {
  if (/\.ya?ml$/.test(path)) {
    const { parse } = await import('yaml')
    try {
      return parse(text, { maxAliasCount: 100, uniqueKeys: true }) as unknown
    } catch (error) {
      throw new AppError('NOT_JSON', `${path}: ${messageOf(error)}`, { cause: error })
    }
  }
  try {
    return JSON.parse(text)
  } catch (error) {
    const problem = findJsonProblem(text)
    if (problem === undefined) throw new AppError('NOT_JSON', `${path}: the file is not JSON`, { cause: error })
    const { line, column, message, suggestion } = problem
    const hint = suggestion === undefined ? '' : `; ${suggestion}`
    throw new AppError('NOT_JSON', `${path}:${line}:${column}: ${message}${hint}\n${excerptOf(problem)}`)
  }
}
