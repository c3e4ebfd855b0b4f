/** Routes of the converter service, which accept forms as well as plain JSON. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { AppError } from '#kernel'
import {
  addRoutes,
  bodyText,
  FORM_TYPE,
  formEntries,
  issueLine,
  Payload,
  payloadValue,
  type Refusal,
  routesOf,
} from '#services/shared'
import type { Decoded } from '#services/shared/contract'
import type { InternalConverter, RoutedConverter } from './contract.ts'
import {
  ConvertedSchema,
  ConverterConfiguration,
  ConverterSchema,
  ConvertersSchema,
  ConverterTest,
  ErrorSchema,
  IngestedSchema,
  PayloadSchema,
  REJECTED,
  RejectedSchema,
  RetriedSchema,
  Retry,
  TestedSchema,
} from './converter-schema.ts'

const MAX_PARTS = 10

class Form extends Map<string, string | Payload> {}

async function readForm(request: FastifyRequest, bytes: Buffer): Promise<Form> {
  const parts = new Form()
  for (const [name, value] of await formEntries(request.headers['content-type'] ?? '', bytes)) {
    if (parts.size >= MAX_PARTS) throw new AppError('VALIDATION', `a form has at most ${MAX_PARTS} parts`)
    if (parts.has(name)) throw new AppError('VALIDATION', `the part "${name.slice(0, 80)}" occurs twice`)
    const text = typeof value === 'string' ? value : bodyText(Buffer.from(await value.arrayBuffer()))
    parts.set(name, name === 'topic' ? text : new Payload(text))
  }
  return parts
}

const payload = {
  schema: PayloadSchema,
  read: (body: unknown): unknown => {
    const found = body instanceof Form ? body.get('payload') : body
    if (found === undefined) throw new AppError('VALIDATION', 'the payload is missing; send JSON, or a form with it')
    return found
  },
}
const test = {
  schema: Type.Unsafe<unknown>(ConverterTest.schema),
  read: (body: unknown): unknown =>
    body instanceof Form
      ? Object.fromEntries([...body].map(([name, part]) => [name, name === 'payload' ? part : payloadValue(part)]))
      : body,
}
const retry = { schema: Retry.schema, read: (body: unknown) => Retry.read(body === undefined ? {} : body) }

const route = routesOf<RoutedConverter>()
const taken = {
  server: { config: { takesPayload: true } },
  consumes: ['application/json', 'multipart/form-data'],
} as const

const ROUTES = [
  route({
    method: 'GET',
    path: '/converter/',
    scope: 'read',
    summary: 'The converters of the tenant, by name',
    answers: { 200: ConvertersSchema },
    handler: ({ api }) => api.list(),
  }),
  route({
    method: 'GET',
    path: '/converter/:name',
    scope: 'read',
    summary: 'One converter',
    answers: { 200: ConverterSchema },
    handler: ({ api, params }) => api.get(params.name),
  }),
  route({
    method: 'PUT',
    path: '/converter/:name',
    scope: 'author',
    summary: 'Create or replace a converter',
    body: ConverterConfiguration,
    answers: { 200: ConverterSchema, 201: ConverterSchema },
    handler: async ({ api, params, body, reply }) => {
      const { converter, created } = await api.put(params.name, body)
      return reply.code(created ? 201 : 200).send(converter)
    },
  }),
  route({
    method: 'DELETE',
    path: '/converter/:name',
    scope: 'author',
    summary: 'Delete a converter; a new converter of the same name takes over its rejected payloads',
    answers: { 200: ConverterSchema },
    handler: ({ api, params }) => api.remove(params.name),
  }),
  route({
    ...taken,
    method: 'POST',
    path: '/converter/:name/convert',
    scope: 'operate',
    summary: 'Convert a payload, and forward the result on request',
    query: { forward: Type.Optional(Type.Boolean({ description: 'default false: only returns the result' })) },
    body: payload,
    answers: { 200: ConvertedSchema },
    handler: ({ api, params, body, query }) => api.convert(params.name, body, query),
  }),
  route({
    ...taken,
    method: 'POST',
    path: '/converter/test',
    scope: 'author',
    summary: 'Test a converter before you store it: the result, a preview of what would be stored, and warnings',
    body: test,
    answers: { 200: TestedSchema },
    handler: ({ api, body }) => api.testSent(body),
  }),
  route({
    ...taken,
    method: 'POST',
    path: '/converter/:name/ingest',
    scope: 'device',
    summary: 'Ingest a payload durably: it is forwarded, or stored as rejected, before the response',
    body: payload,
    answers: { 200: IngestedSchema, 202: IngestedSchema },
    handler: async ({ api, params, body, request, reply }) => {
      const key = request.headers['idempotency-key']?.toString()
      const ingested = await api.ingest(params.name, body, key === undefined ? {} : { idempotencyKey: key })
      return reply.code(ingested.rejected === undefined ? 200 : 202).send(ingested)
    },
  }),
  route({
    method: 'GET',
    path: '/converter/:name/rejected',
    scope: 'read',
    summary: 'Payloads that could not be converted, with the reason',
    query: REJECTED,
    answers: { 200: RejectedSchema },
    handler: ({ api, params, query }) => api.rejected.list(params.name, query),
  }),
  route({
    method: 'POST',
    path: '/converter/:name/rejected',
    scope: 'operate',
    summary: 'Retry rejected payloads, all of them or the named ones',
    body: retry,
    answers: { 200: RetriedSchema },
    handler: ({ api, params, body }) => api.rejected.retry(params.name, body.ids),
  }),
  route({
    method: 'DELETE',
    path: '/converter/:name/rejected/:id',
    scope: 'operate',
    summary: 'Discard a rejected payload',
    answers: { 204: Type.Null() },
    handler: ({ api, params }) => api.rejected.remove(params.name, params.id),
  }),
]

export function converterRoutes(
  app: FastifyInstance,
  { service }: { service: Pick<InternalConverter, 'as'> },
): Promise<void> {
  return addRoutes(app, service, {
    tag: 'converter',
    errors: ErrorSchema,
    routes: ROUTES,
    addParsers: (child) => child.addContentTypeParser(FORM_TYPE, { parseAs: 'buffer' }, readForm),
  })
}

export function converterErrorBody({ statusCode, error, code, issues }: Refusal): Decoded<typeof ErrorSchema> {
  const { line, column, around, rendered } = issues[0]?.details ?? {}
  const details = typeof rendered === 'string' ? rendered : issues.length > 0 ? issues.map(issueLine) : undefined
  return {
    statusCode,
    error,
    code,
    ...(typeof line === 'number' && typeof column === 'number' && { line, column }),
    ...(Array.isArray(around) && { around: around.map(String) }),
    ...(details !== undefined && { details }),
  }
}
