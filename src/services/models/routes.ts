/** Hosted models over HTTP. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Readable } from 'node:stream'
import { Type } from 'typebox'
import { AppError } from '#kernel'
import { asking, bodyBytes, describing, FORM_TYPE, type Handler, ownScope, QueryReader } from '#services/shared'
import type { FrameworkInfo, ModelInfo, ModelsApi, ModelsService } from './contract.ts'
import { MAX_FORM, readModelForm, uploadOf } from './read-form.ts'
import { frameworkOf } from './read-upload.ts'
import {
  ChangedModelSchema,
  ClassifiedSchema,
  ErrorSchema,
  ExamplesRequestSchema,
  ExamplesSchema,
  FrameworkSchema,
  FrameworksSchema,
  ModelSchema,
  ModelsSchema,
  PatchSchema,
  PredictedSchema,
  PredictSchema,
  RegressedSchema,
  ReplacementSchema,
  UploadSchema,
  Zip,
} from './routes/schemas.ts'

const described = describing('models', ErrorSchema)
const ask = asking<ModelsApi, QueryReader>((query) => new QueryReader(query))
const ONE = { params: ['name'] } as const
/** bytes of the body of a call */
const MAX_CALL = 16_777_216

type Handle = (handler: Handler<ModelsApi, QueryReader>) => ReturnType<typeof ask>

/** Adds every route of the service, in a scope of its own. `request.tenant` and `request.user` say who asks. */
export async function modelsRoutes(app: FastifyInstance, { service }: { service: ModelsService }): Promise<void> {
  await ownScope(app, (own) => {
    own.addContentTypeParser(FORM_TYPE, readForm)
    const handle: Handle = (handler) => ask(service, handler)
    for (const add of [listRoutes, uploadRoutes, readRoutes, callRoutes, frameworkRoutes]) add(own, handle)
  })
}

async function readForm(request: FastifyRequest, body: AsyncIterable<Uint8Array>): Promise<unknown> {
  const { 'content-length': length, 'content-type': type = '' } = request.headers
  const { bodyLimit } = request.routeOptions
  return readModelForm(type, await bodyBytes(body, bodyLimit, length === undefined ? undefined : Number(length)))
}

function listRoutes(app: FastifyInstance, handle: Handle): void {
  app.get(
    '/models',
    described({
      summary: 'The hosted models of the tenant',
      query: { name: Type.Optional(Type.String({ description: 'a part of the name' })) },
      answers: { 200: ModelsSchema },
    }),
    handle(async ({ api, query }) => {
      const name = query.text('name')
      query.done()
      return { available_models: await api.list(name === undefined ? {} : { name }) }
    }),
  )
}

function uploadRoutes(app: FastifyInstance, handle: Handle): void {
  app.post(
    '/models',
    {
      ...described({
        summary: 'Upload a model, or say which server has it; it is loaded in the background',
        body: UploadSchema,
        answers: { 201: ChangedModelSchema },
      }),
      bodyLimit: MAX_FORM,
    },
    handle(async ({ api, body, reply }) => {
      const created = await api.create(uploadOf(body))
      return reply.code(201).send(uploaded(created))
    }),
  )
  // clients put what the documents of the interface post
  for (const method of ['POST', 'PUT'] as const) {
    app.route({
      ...described({
        summary: 'Overwrite a model',
        ...ONE,
        body: ReplacementSchema,
        answers: { 200: ChangedModelSchema },
      }),
      method,
      url: '/models/:name',
      bodyLimit: MAX_FORM,
      handler: handle(async ({ api, param, body }) => {
        const { name, ...upload } = uploadOf(body, param('name'))
        return uploaded(await api.replace(name, upload))
      }),
    })
  }
  app.patch(
    '/models/:name',
    described({
      summary: 'Change what is known about a model; its files stay',
      ...ONE,
      body: PatchSchema,
      answers: { 200: ModelSchema },
    }),
    handle(({ api, param, body }) => api.patch(param('name'), body)),
  )
  app.delete(
    '/models/:name',
    described({ summary: 'Delete a model', ...ONE, answers: { 200: ChangedModelSchema } }),
    handle(async ({ api, param }) => changed('Model successfully deleted', await api.remove(param('name')))),
  )
}

function changed(message: string, { name, framework, description, version }: ModelInfo): object {
  return { message, name, framework, description, version }
}

/** With how it is: an upload is not ready yet, or will not be. */
function uploaded(info: ModelInfo): object {
  const { ready, failure } = info
  return { ...changed('Model successfully uploaded', info), ready, ...(failure !== undefined && { failure }) }
}

function readRoutes(app: FastifyInstance, handle: Handle): void {
  app.get(
    '/models/:name',
    described({ summary: 'One model, and whether it is ready', ...ONE, answers: { 200: ModelSchema } }),
    handle(({ api, param }) => api.get(param('name'))),
  )
  app.get(
    '/models/:name/content',
    described({ summary: 'The zip, as it was uploaded', ...ONE, produces: ['application/zip'], answers: { 200: Zip } }),
    handle(async ({ api, param, reply }) => {
      const { size, content } = await api.content(param('name'))
      return reply.type('application/zip').header('content-length', size).send(Readable.from(content))
    }),
  )
  app.get(
    '/models/:name/examples',
    described({ summary: 'Bodies that the model can be asked with', ...ONE, answers: { 200: ExamplesSchema } }),
    handle(({ api, param }) => api.examples(param('name'))),
  )
}

function callRoutes(app: FastifyInstance, handle: Handle): void {
  const calls = [
    ['predict', 'What a model predicts of each instance', PredictSchema, PredictedSchema],
    ['classify', 'Labels with their scores, of a model of tensorflow', ExamplesRequestSchema, ClassifiedSchema],
    ['regress', 'A number for each example, of a model of tensorflow', ExamplesRequestSchema, RegressedSchema],
  ] as const
  for (const [operation, summary, body, answer] of calls) {
    app.post(
      `/models/:name/${operation}`,
      { ...described({ summary, ...ONE, body, answers: { 200: answer, 502: ErrorSchema } }), bodyLimit: MAX_CALL },
      handle((context) => context.api[operation](context.param('name'), context.body)),
    )
  }
}

function frameworkRoutes(app: FastifyInstance, handle: Handle): void {
  app.get(
    '/frameworks',
    described({ summary: 'What models of each framework are run by here', answers: { 200: FrameworksSchema } }),
    handle(async ({ api }) => ({ frameworks: (await api.frameworks()).map(shown) })),
  )
  app.get(
    '/frameworks/:name',
    described({ summary: 'What models of one framework are run by here', ...ONE, answers: { 200: FrameworkSchema } }),
    handle(async ({ api, param }) => {
      const wanted = frameworkOf(param('name'))
      const found = (await api.frameworks()).find(({ framework }) => framework === wanted)
      if (found === undefined) throw new AppError('NOT_FOUND', `No framework '${param('name').slice(0, 100)}'`)
      return shown(found)
    }),
  )
}

function shown(info: FrameworkInfo): object {
  const [first] = info.runtimes
  return { ...info, ...(first && { default_runtime: first }) }
}
