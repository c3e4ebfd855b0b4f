/** The converter service over HTTP. Forms of several parts and plain JSON are the same to it. */
import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { AppError, isPlainObject } from '#kernel'
import { asking, describing, type Handler, ownScope, payloadValue, QueryReader, Whole } from '#services/shared'
import type { ConverterApi, ConverterService } from './contract.ts'
import { Form, partOf, readForms } from './multipart.ts'
import {
  ConfigurationSchema,
  ConvertedSchema,
  ConverterSchema,
  ConvertersSchema,
  ErrorSchema,
  IngestedSchema,
  PayloadSchema,
  RejectedSchema,
  RetriedSchema,
  RetrySchema,
  TestedSchema,
  TestSchema,
} from './schema.ts'

const described = describing('converter', ErrorSchema)
const withPayload: typeof described = (description) => ({ ...described(description), config: { takesPayload: true } })
const CONSUMES = ['application/json', 'multipart/form-data']
const ask = asking<ConverterApi, QueryReader>((query) => new QueryReader(query))

/** Adds every route of the service, in a scope of its own. `request.tenant` and `request.user` say who asks. */
export async function converterRoutes(app: FastifyInstance, { service }: { service: ConverterService }): Promise<void> {
  await ownScope(app, (own) => {
    readForms(own)
    const handle = (handler: Handler<ConverterApi, QueryReader>) => ask(service, handler)
    for (const add of [configurationRoutes, conversionRoutes, rejectedRoutes]) add(own, handle)
  })
}

type Handle = (handler: Handler<ConverterApi, QueryReader>) => ReturnType<typeof ask>

function configurationRoutes(app: FastifyInstance, handle: Handle): void {
  const one = { params: ['name'], answers: { 200: ConverterSchema } }
  app.get(
    '/converter/',
    described({ summary: 'The converters of the tenant, by name', answers: { 200: ConvertersSchema } }),
    handle(({ api }) => api.list()),
  )
  app.get(
    '/converter/:name',
    described({ summary: 'One converter', ...one }),
    handle(({ api, param }) => api.get(param('name'))),
  )
  app.put(
    '/converter/:name',
    described({
      summary: 'Create or replace a converter',
      ...one,
      answers: { 200: ConverterSchema, 201: ConverterSchema },
      body: ConfigurationSchema,
    }),
    handle(async ({ api, param, body, reply }) => {
      const { converter, created } = await api.put(param('name'), body)
      return reply.code(created ? 201 : 200).send(converter)
    }),
  )
  app.delete(
    '/converter/:name',
    described({ summary: 'Delete a converter; what it rejected stays for one of the same name', ...one }),
    handle(({ api, param }) => api.remove(param('name'))),
  )
}

function conversionRoutes(app: FastifyInstance, handle: Handle): void {
  app.post(
    '/converter/:name/convert',
    withPayload({
      summary: 'Convert a payload, and forward the result when asked to',
      params: ['name'],
      query: { forward: Type.Optional(Type.Boolean({ description: 'default false: only shows the result' })) },
      consumes: CONSUMES,
      body: PayloadSchema,
      answers: { 200: ConvertedSchema },
    }),
    handle(({ api, param, body, query }) => {
      const forward = query.flag('forward') ?? false
      query.done()
      return api.convert(param('name'), payloadOf(body), { forward })
    }),
  )
  app.post(
    '/converter/test',
    withPayload({
      summary: 'Try a converter before it is stored: the result, what would be stored, and what looks wrong',
      consumes: CONSUMES,
      body: TestSchema,
      answers: { 200: TestedSchema },
    }),
    handle(({ api, body }) => {
      const whole = payloadValue(body)
      const [config, payload] = ['config', 'payload'].map((name) => partOf(whole, name, (json) => memberOf(json, name)))
      const topic = whole instanceof Form ? whole.parts.get('topic') : isPlainObject(whole) ? whole['topic'] : undefined
      if (topic !== undefined && typeof topic !== 'string') throw new AppError('VALIDATION', '/topic must be a text')
      return api.test(payloadValue(config), payload, topic)
    }),
  )
  app.post(
    '/converter/:name/ingest',
    withPayload({
      summary: 'Take a payload for good: forwarded, or among the rejected ones, before it is answered',
      params: ['name'],
      consumes: CONSUMES,
      body: PayloadSchema,
      answers: { 200: IngestedSchema, 202: IngestedSchema },
    }),
    handle(async ({ api, param, body, request, reply }) => {
      const key = request.headers['idempotency-key']
      const idempotencyKey = Array.isArray(key) ? key[0] : key
      const options = idempotencyKey === undefined ? {} : { idempotencyKey }
      const ingested = await api.ingest(param('name'), payloadOf(body), options)
      return reply.code(ingested.rejected === undefined ? 200 : 202).send(ingested)
    }),
  )
}

function rejectedRoutes(app: FastifyInstance, handle: Handle): void {
  app.get(
    '/converter/:name/rejected',
    described({
      summary: 'Payloads that could not be converted, with the reason',
      params: ['name'],
      query: {
        limit: Type.Optional(Whole),
        after: Type.Optional(Type.String()),
      },
      answers: { 200: RejectedSchema },
    }),
    handle(({ api, param, query }) => {
      const limit = query.integer('limit', { least: 1, most: 1_000 })
      const after = query.text('after')
      query.done()
      const asked = { ...(limit !== undefined && { limit }), ...(after !== undefined && { after }) }
      return api.rejected.list(param('name'), asked)
    }),
  )
  app.post(
    '/converter/:name/rejected',
    described({
      summary: 'Try rejected payloads again, all of them or those that are named',
      params: ['name'],
      body: RetrySchema,
      answers: { 200: RetriedSchema },
    }),
    handle(({ api, param, body }) => api.rejected.retry(param('name'), idsOf(body))),
  )
  app.delete(
    '/converter/:name/rejected/:id',
    described({
      summary: 'Give up a rejected payload',
      params: ['name', 'id'],
      answers: { 204: Type.Null() },
    }),
    handle(async ({ api, param, reply }) => {
      await api.rejected.remove(param('name'), param('id'))
      return reply.code(204).send()
    }),
  )
}

/** Of plain JSON the body is the payload itself. */
function payloadOf(body: unknown): unknown {
  if (body === undefined) throw new AppError('VALIDATION', 'the payload is missing; send JSON, or a form with it')
  return partOf(body, 'payload', (json) => json)
}

function memberOf(body: unknown, name: string): unknown {
  if (!isPlainObject(body) || !Object.hasOwn(body, name)) throw new AppError('VALIDATION', `"${name}" is missing`)
  return body[name]
}

function idsOf(body: unknown): readonly string[] | undefined {
  if (body === undefined) return undefined
  const ids = isPlainObject(body) ? body['ids'] : body
  if (ids === undefined) return undefined
  if (!Array.isArray(ids) || ids.length > 1_000 || !ids.every((id) => typeof id === 'string')) {
    throw new AppError('VALIDATION', '/ids must be a list of at most 1,000 ids')
  }
  return ids
}
