/**
 * The outside of the API as files, so that each change of it shows in a diff: the page, the refusals, the metrics.
 * `vitest -u` writes the files. In refusals the schema's verdict on a body stands before the answer; a line ends with
 * DRIFT where the two differ.
 */
import { Ajv, type ValidateFunction } from 'ajv'
import formats from 'ajv-formats'
import { fastify, type FastifyInstance } from 'fastify'
import { packTar } from 'modern-tar'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { mountHost, type HostOptions } from '../../src/host/index.ts'
import { isPlainObject } from '../../src/kernel/json.ts'
import {
  ApiStory,
  ENDLESS,
  JSON_TYPE,
  operationsOf,
  type Answer,
  type ApiDocument,
  type Ask,
  type Media,
  type Operation,
} from '../host/api-story.ts'
import { printedRoutes } from '../host/printed-routes.ts'
import { basic } from '../host/sample-host.ts'
import { badParameters, badValues, parameterValue } from './bad-values.ts'
import { digestOf, schemaLines, type JsonSchema } from './json-schema.ts'
import { differs, refusalOf, type Verdict } from './refusal.ts'

interface Parameter {
  readonly name: string
  readonly in: string
  readonly required: boolean
  readonly schema: JsonSchema
}

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
/** Operations whose parameters are those of a script. */
const CALLS = /^callWebscript/

let app: FastifyInstance
let document: ApiDocument
let operations: readonly Operation[]
let story: ApiStory
const ajv = new Ajv({ strict: false, allErrors: false })
formats.default(ajv)
const ask: Ask = ({ method = 'GET', headers = {}, ...more }) =>
  app.inject({ method: method as 'GET', headers: { authorization: basic('k', 's'), ...headers }, ...more })

beforeAll(async () => {
  app = fastify()
  const mounted = (to: FastifyInstance, options: HostOptions) => mountHost(to, options, { hashCost: 2 })
  await app.register(mounted, { store: 'memory:', key: 'k', secret: 's' })
  document = (await app.inject('/docs/json')).json<ApiDocument>()
  operations = operationsOf(document)
  story = new ApiStory(ask)
  await story.prepare()
  for await (const [{ operationId }, { statusCode, body }] of story.tell(operations))
    if (statusCode >= 300) throw new Error(`${operationId}: ${body}`)
})
afterAll(() => app.close())

const schemaOf = ({ $ref, ...own }: JsonSchema): JsonSchema =>
  $ref === undefined ? own : (document.components.schemas[$ref.split('/').at(-1) ?? ''] as JsonSchema)
const parametersOf = ({ parameters = [] }: Operation) => parameters as unknown as readonly Parameter[]
const titleOf = ({ method, path }: Operation) => `${method.toUpperCase()} ${path}`
const exampleOf = ({ requestBody }: Operation) => requestBody?.content[JSON_TYPE]?.example
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

const expectFile = (name: string, lines: readonly string[]) =>
  expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(`golden/${name}.txt`)

describe('the API page', () => {
  const mediaOf = (content: Readonly<Record<string, Media>> = {}) =>
    Object.entries(content).map(([type, { schema = {} }]) => `${type}:${digestOf(schemaOf(schema))}`)

  it('has the operations of the file', async () => {
    const lines = operations.map((operation) => {
      const { operationId, requestBody, responses } = operation
      const asked = parametersOf(operation).map(
        ({ name, in: place, required, schema }) =>
          `${place}:${name}${required ? '' : '?'}=${[...schemaLines(schema)].join(' ').slice(2)}`,
      )
      const body = requestBody === undefined ? [] : [`takes ${mediaOf(requestBody.content).join(' ')}`]
      const answers = Object.entries(responses).map(([status, { content }]) => [status, ...mediaOf(content)].join(' '))
      return `${titleOf(operation)} ${operationId} | ${[...asked, ...body, ...answers].join(' | ')}`
    })
    await expectFile('operations', lines.toSorted())
  })

  it('has the schemas of the file', async () => {
    const named = Object.entries(document.components.schemas as Readonly<Record<string, JsonSchema>>)
    const firsts = new Map<string, string>()
    const lines = named.flatMap(([name, schema]) => {
      const digest = digestOf(schema)
      const first = firsts.get(digest)
      if (first !== undefined) return [`${name} as ${first}`]
      firsts.set(digest, name)
      return [`${name} ${digest}`, ...schemaLines(schema)]
    })
    await expectFile('schemas', lines)
  })
})

describe('every route', () => {
  it('is open, strict and on the page as the file says', async () => {
    const onPage = new Set(operations.map((one) => titleOf(one).replaceAll(/\{(\w+|\*)\}/g, 'one')))
    const lines: string[] = []
    for (const { method, url } of printedRoutes(app)) {
      const stranger = await app.inject({ method, url })
      const payload = method === 'GET' || method === 'DELETE' ? {} : { payload: '{}' }
      const headers = { prefer: 'handling=strict', ...('payload' in payload && { 'content-type': JSON_TYPE }) }
      const strict = await ask({ method, url: `${url}?zzz=1`, headers, ...payload })
      const page = onPage.has(`${method} ${url}`) ? [] : ['not on the page']
      const answers = [`${stranger.statusCode} to strangers`, `${refusalOf(strict)} to ?zzz`]
      lines.push(`${method} ${url}: ${[...answers, ...page].join(', ')}`)
    }
    await expectFile('routes', lines.toSorted())
  })
})

describe('what is refused', () => {
  /** Answers by what was sent, for each operation. */
  const lines = new Map<Operation, string[]>()
  const line = (operation: Operation, label: string, answer: Answer, verdict?: Verdict) => {
    const { isValid } = verdict ?? {}
    const says = isValid === undefined ? [] : [isValid ? 'valid' : 'invalid']
    const drift = verdict !== undefined && differs(verdict, answer) ? ['DRIFT'] : []
    const text = [`  ${label}:`, ...says, refusalOf(answer), ...drift].join(' ')
    lines.set(operation, [...(lines.get(operation) ?? []), text])
  }
  const send = (operation: Operation, payload: string | Buffer | undefined, url = story.urlOf(operation)) =>
    ask({
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
    const schema = schemaOf(operation.requestBody?.content[JSON_TYPE]?.schema ?? {})
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
    const url = story.urlOf(operation)
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
            await send(operation, payload, story.urlOf({ ...operation, path: other })),
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
    const asked = operations.filter(({ operationId }) => !ENDLESS.test(operationId) && !CALLS.test(operationId))
    const by = (...methods: readonly string[]) => asked.filter(({ method }) => methods.includes(method))
    for (const operation of by('get')) await askParameters(operation)
    for (const operation of [...by('post'), ...by('put', 'patch')])
      if (exampleOf(operation) !== undefined) await askBodies(operation)
    for (const operation of [...by('post', 'put', 'patch'), ...by('delete')]) await askParameters(operation)
  })

  it('is what the files say', async () => {
    const asked = operations.filter((one) => lines.has(one))
    for (const group of new Set(asked.map(({ tags }) => tags[0]))) {
      const own = asked.filter(({ tags }) => tags[0] === group)
      await expectFile(
        `refusals-${group}`,
        own.flatMap((one) => [titleOf(one), ...(lines.get(one) ?? [])]),
      )
    }
  })
})

describe('the metrics', () => {
  it('have the names, types and labels of the file', async () => {
    const { body } = await app.inject('/metrics')
    const labels = new Map<string, Set<string>>()
    for (const [, name = '', inside = ''] of body.matchAll(/^(\w+)(?:\{(.*)\})? \S+$/gm))
      for (const [, label = '', value = ''] of inside.matchAll(/(\w+)="([^"]*)"/g)) {
        const isFixed = !['method', 'route', 'status', 'le'].includes(label) || name === 'reflexarc_tasks'
        labels.set(name, (labels.get(name) ?? new Set()).add(isFixed ? `${label}=${value}` : label))
      }
    const lines = [...body.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) => {
      const series = labels.get(type === 'histogram' ? `${name}_bucket` : name)
      return [name, type, ...[...(series ?? [])].toSorted()].join(' ')
    })
    await expectFile('metrics', lines.toSorted())
  })
})
