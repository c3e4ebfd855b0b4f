/**
 * What each operation refuses, as files. The schema's verdict on a body stands before the answer; a line ends with DRIFT
 * where the two differ.
 */
import { Ajv, type ValidateFunction } from 'ajv'
import formats from 'ajv-formats'
import { packTar } from 'modern-tar'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { isPlainObject } from '../../src/kernel/json.ts'
import { ENDLESS, JSON_TYPE, type Answer, type Operation } from '../host/api-story.ts'
import { badParameters, badValues, parameterValue } from './bad-values.ts'
import type { JsonSchema } from './json-schema.ts'
import { differs, refusalOf, type Verdict } from './refusal.ts'
import { exampleOf, expectFile, parametersOf, titleOf, UsedHost } from './used-host.ts'

/** Operations that build or call something when they accept a body: only bodies that the schema rejects are sent. */
const HEAVY = /^(?:patchFunctionRegistry\w*Manifest|(?:post|put)V1Webscripts?)$/
/** Fields with the names of what is made. */
const NAMED_BY: Readonly<Record<string, string>> = {
  postTemplates: 'name',
  postResources: 'id',
  postResourcetypes: 'id',
  postQueryConfigQuery: 'name',
}
/** Operations that read an archive. */
const UPLOADS = /^putFunctionRegistry\w*Content$/
const TAR = Buffer.from(await packTar([{ header: { name: 'a.js', size: 1 }, body: '-' }]))
/** Operations that answer 200 when they are fast, and 202 otherwise. */
const TIMED = /^post(?:Rehearsals|TaskReplay)$/
/** Operations whose parameters are those of a script. */
const CALLS = /^callWebscript/

/** ends what hangs: tens of thousands of requests take minutes on a busy machine */
const ASKED_MS = 1_800_000

let host: UsedHost
const ajv = new Ajv({ strict: false, allErrors: false })
formats.default(ajv)

beforeAll(async () => {
  host = await UsedHost.open()
})
afterAll(() => host[Symbol.asyncDispose]())

const compiled = new Map<JsonSchema, ValidateFunction>()
function takes(schema: JsonSchema, value: unknown): boolean {
  const known = compiled.get(schema) ?? ajv.compile(schema)
  compiled.set(schema, known)
  return known(value)
}

let made = 0
/** The same by another name, where what an operation makes needs one of its own. */
function renamed(operationId: string, right: unknown, value: unknown): unknown {
  const field = NAMED_BY[operationId] ?? ''
  if (!isPlainObject(right) || !isPlainObject(value) || value[field] !== right[field]) return value
  return field in value ? { ...value, [field]: `made-${made++}` } : value
}

describe('what is refused', () => {
  /** Answers by what was sent, for each operation. */
  const lines = new Map<Operation, string[]>()
  const line = (operation: Operation, label: string, answer: Answer, verdict?: Verdict) => {
    const { isValid } = verdict ?? {}
    const says = isValid === undefined ? [] : [isValid ? 'valid' : 'invalid']
    const drift = verdict !== undefined && differs(verdict, answer) ? ['DRIFT'] : []
    const isSlow = answer.statusCode === 202 && TIMED.test(operation.operationId)
    const shown = isSlow ? { ...answer, statusCode: 200 } : answer
    const text = [`  ${label}:`, ...says, refusalOf(shown), ...drift].join(' ')
    lines.set(operation, [...(lines.get(operation) ?? []), text])
  }
  const send = (operation: Operation, payload: string | Buffer | undefined, url = host.story.urlOf(operation)) =>
    host.ask({
      method: operation.method.toUpperCase(),
      url,
      ...(payload !== undefined && {
        headers: { 'content-type': typeof payload === 'string' ? JSON_TYPE : 'application/gzip' },
        payload,
      }),
    })
  const sendJson = (operation: Operation, value: unknown) => send(operation, JSON.stringify(value))

  async function askBodies(operation: Operation): Promise<void> {
    const { operationId, method } = operation
    const right = exampleOf(operation)
    const schema = host.schemaOf(operation.requestBody?.content[JSON_TYPE]?.schema ?? {})
    line(operation, 'no body', await send(operation, undefined))
    line(operation, 'an empty body', await send(operation, ''))
    line(operation, 'not JSON', await send(operation, '{"a":'))
    for (const { label, value: bad } of badValues(schema, right, takes)) {
      const value = renamed(operationId, right, bad)
      const isValid = takes(schema, value)
      if (isValid && HEAVY.test(operationId)) continue
      const answer = await sendJson(operation, value)
      line(operation, label, answer, { isValid, place: /^\/\S*/.exec(label)?.[0] ?? '', schema })
      if (answer.statusCode < 300 && method === 'patch') await sendJson(operation, right)
    }
    if (method === 'put') await sendJson(operation, right)
  }

  async function askParameters(operation: Operation): Promise<void> {
    const right = exampleOf(operation)
    const payload = UPLOADS.test(operation.operationId) ? TAR : right === undefined ? undefined : JSON.stringify(right)
    const url = host.story.urlOf(operation)
    const withQuery = (query: string) => `${url}${url.includes('?') ? '&' : '?'}${query}`
    for (const { name, in: place, schema } of parametersOf(operation)) {
      if (place === 'path') {
        for (const [label, value] of [
          ['unknown', 'no-such'],
          ['too long', 'x'.repeat(600)],
        ] as const) {
          const other = operation.path.replace(`{${name}}`, value)
          line(
            operation,
            `{${name}} ${label}`,
            await send(operation, payload, host.story.urlOf({ ...operation, path: other })),
          )
        }
      } else if (place === 'query')
        for (const value of new Set(badParameters(schema))) {
          const label = `?${name}=${value.length > 20 ? `${value.length} characters` : value}`
          const isValid = takes(schema, parameterValue(schema, value))
          const verdict = { isValid, place: `/${name}`, schema: { properties: { [name]: schema } } }
          line(operation, label, await send(operation, payload, withQuery(`${name}=${value}`)), verdict)
        }
    }
  }

  beforeAll(async () => {
    const asked = host.operations.filter(({ operationId }) => !ENDLESS.test(operationId) && !CALLS.test(operationId))
    const by = (...methods: readonly string[]) => asked.filter(({ method }) => methods.includes(method))
    for (const operation of by('get')) await askParameters(operation)
    for (const operation of [...by('post'), ...by('put', 'patch')])
      if (exampleOf(operation) !== undefined) await askBodies(operation)
    for (const operation of [...by('post', 'put', 'patch'), ...by('delete')]) await askParameters(operation)
  }, ASKED_MS)

  it('is what the files say', async () => {
    const asked = host.operations.filter((one) => lines.has(one))
    for (const group of new Set(asked.map(({ tags }) => tags[0]))) {
      const own = asked.filter(({ tags }) => tags[0] === group)
      await expectFile(
        `refusals-${group}`,
        own.flatMap((one) => [titleOf(one), ...(lines.get(one) ?? [])]),
      )
    }
  })
})
