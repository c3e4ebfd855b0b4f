/** Routes for hosted models. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Readable } from 'node:stream'
import { Type } from 'typebox'
import { AppError, Issues } from '#kernel'
import { addRoutes, bodyBytes, FORM_TYPE, formEntries, routesOf } from '#services/shared'
import type { ModelInfo, ModelsApi, ModelsService } from './contract.ts'
import { frameworkOf } from './frameworks.ts'
import { MAX_ZIP } from './model-files.ts'
import {
  ChangedModelSchema,
  ClassifiedSchema,
  ErrorSchema,
  ExamplesRequest,
  ExamplesSchema,
  FrameworkSchema,
  FrameworksSchema,
  ModelChange,
  ModelSchema,
  ModelsSchema,
  PredictedSchema,
  PredictRequest,
  RegressedSchema,
  Replacement,
  Upload,
  Zip,
} from './model-schema.ts'

/** maximum number of bytes of a form: the zip and some texts */
const MAX_FORM = MAX_ZIP + 65_536
/** maximum number of bytes in the body of a call */
const MAX_CALL = 16_777_216

const route = routesOf<ModelsApi>()

const ROUTES = [
  route({
    method: 'GET',
    path: '/models',
    scope: 'read',
    summary: 'The hosted models of the tenant',
    query: { name: Type.Optional(Type.String({ description: 'a part of the name' })) },
    answers: { 200: ModelsSchema },
    handler: async ({ api, query }) => ({ available_models: await api.list(query) }),
  }),
  route({
    method: 'POST',
    path: '/models',
    scope: 'publish',
    summary: 'Upload a model, or register one on another server; it is loaded in the background',
    body: Upload,
    server: { bodyLimit: MAX_FORM },
    answers: { 201: ChangedModelSchema },
    handler: async ({ api, body, reply }) => {
      const created = await api.create(body)
      return reply.code(201).send(uploaded(created))
    },
  }),
  // clients use PUT for operations that the interface documents as POST
  ...(['POST', 'PUT'] as const).map((method) =>
    route({
      method,
      path: '/models/:name',
      scope: 'publish',
      summary: 'Overwrite a model',
      body: Replacement,
      server: { bodyLimit: MAX_FORM },
      answers: { 200: ChangedModelSchema },
      handler: async ({ api, params, body }) => uploaded(await api.replace(params.name, body)),
    }),
  ),
  route({
    method: 'PATCH',
    path: '/models/:name',
    scope: 'author',
    summary: 'Change the description of a model, but not its files',
    body: ModelChange,
    answers: { 200: ModelSchema },
    handler: ({ api, params, body }) => api.patch(params.name, body),
  }),
  route({
    method: 'DELETE',
    path: '/models/:name',
    scope: 'publish',
    summary: 'Delete a model',
    answers: { 200: ChangedModelSchema },
    handler: async ({ api, params }) => changed('Model successfully deleted', await api.remove(params.name)),
  }),
  route({
    method: 'GET',
    path: '/models/:name',
    scope: 'read',
    summary: 'One model, and whether it is ready',
    answers: { 200: ModelSchema },
    handler: ({ api, params }) => api.get(params.name),
  }),
  route({
    method: 'GET',
    path: '/models/:name/content',
    scope: 'read',
    summary: 'The uploaded zip',
    produces: ['application/zip'],
    answers: { 200: Zip },
    handler: async ({ api, params, reply }) => {
      const { size, content } = await api.content(params.name)
      return reply.type('application/zip').header('content-length', size).send(Readable.from(content))
    },
  }),
  route({
    method: 'GET',
    path: '/models/:name/examples',
    scope: 'read',
    summary: 'Example bodies for calls of the model',
    answers: { 200: ExamplesSchema },
    handler: ({ api, params }) => api.examples(params.name),
  }),
  route({
    method: 'POST',
    path: '/models/:name/predict',
    scope: 'operate',
    summary: 'Predictions of a model, one per instance',
    body: PredictRequest,
    server: { bodyLimit: MAX_CALL },
    answers: { 200: PredictedSchema, 502: ErrorSchema },
    handler: ({ api, params, body }) => api.predict(params.name, body),
  }),
  route({
    method: 'POST',
    path: '/models/:name/classify',
    scope: 'operate',
    summary: 'Labels with their scores, for TensorFlow models',
    body: ExamplesRequest,
    server: { bodyLimit: MAX_CALL },
    answers: { 200: ClassifiedSchema, 502: ErrorSchema },
    handler: ({ api, params, body }) => api.classify(params.name, body),
  }),
  route({
    method: 'POST',
    path: '/models/:name/regress',
    scope: 'operate',
    summary: 'A number for each example, for TensorFlow models',
    body: ExamplesRequest,
    server: { bodyLimit: MAX_CALL },
    answers: { 200: RegressedSchema, 502: ErrorSchema },
    handler: ({ api, params, body }) => api.regress(params.name, body),
  }),
  route({
    method: 'GET',
    path: '/frameworks',
    scope: 'read',
    summary: 'Runtimes of all frameworks on this host',
    answers: { 200: FrameworksSchema },
    handler: async ({ api }) => ({ frameworks: await api.frameworks() }),
  }),
  route({
    method: 'GET',
    path: '/frameworks/:name',
    scope: 'read',
    summary: 'Runtimes of one framework on this host',
    answers: { 200: FrameworkSchema },
    handler: async ({ api, params: { name } }) => {
      const wanted = frameworkOf(name)
      const found = (await api.frameworks()).find(({ framework }) => framework === wanted)
      if (found === undefined) throw new AppError('NOT_FOUND', `No framework '${name.slice(0, 100)}'`)
      return found
    },
  }),
]

export function modelsRoutes(app: FastifyInstance, { service }: { service: ModelsService }): Promise<void> {
  const addParsers = (own: FastifyInstance): void => {
    own.addContentTypeParser(FORM_TYPE, readForm)
  }
  return addRoutes(app, service, { tag: 'models', errors: ErrorSchema, routes: ROUTES, addParsers })
}

async function readForm(request: FastifyRequest, body: AsyncIterable<Uint8Array>): Promise<unknown> {
  const { 'content-length': length, 'content-type': type = '' } = request.headers
  const bytes = await bodyBytes(body, request.routeOptions.bodyLimit, length === undefined ? undefined : Number(length))
  const issues = new Issues('FORM', 20)
  const fields = new Map<string, string | Uint8Array>()
  for (const [name, value] of await formEntries(type, bytes)) {
    if (fields.has(name)) issues.wrong(`/${name.slice(0, 80)}`, 'occurs twice')
    const isText = typeof value === 'string'
    if (name === 'file') fields.set(name, isText ? Buffer.from(value) : new Uint8Array(await value.arrayBuffer()))
    else fields.set(name, isText ? value : await value.text())
  }
  issues.throwIfAny('The form')
  return { file: new Uint8Array(), ...Object.fromEntries(fields) }
}

function changed(message: string, { name, framework, description, version }: ModelInfo): object {
  return { message, name, framework, description, version }
}

function uploaded(info: ModelInfo): object {
  const { ready, failure } = info
  return { ...changed('Model successfully uploaded', info), ready, ...(failure !== undefined && { failure }) }
}
