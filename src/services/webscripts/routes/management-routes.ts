/** Webscripts made, looked at and taken away by their name. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { asking, describing, QueryReader } from '#services/shared'
import type { WebscriptsApi } from '../contract.ts'
import { ErrorSchema } from './error-schema.ts'
import { BASE, type WebscriptsRouting } from './routing.ts'

const PATH = `${BASE}/webscripts`
const InfoSchema = Type.Object(
  {
    id: Type.String({ description: 'as addresses have it' }),
    name: Type.String(),
    version: Type.String(),
    status: Type.String(),
    draft: Type.Boolean(),
    deprecated: Type.Boolean(),
    private: Type.Boolean(),
    allowHmac: Type.Boolean(),
    runtime: Type.String(),
    href: Type.String({ description: 'where it is called' }),
    secret: Type.Optional(Type.String()),
  },
  { title: 'Webscript' },
)
const OperationSchema = Type.Object(
  {
    message: Type.String(),
    name: Type.String(),
    version: Type.String(),
    operation: Type.Optional(Type.Object({ id: Type.String(), href: Type.String() })),
  },
  { title: 'WebscriptOperation' },
)
const BODY = {
  script: Type.String({ description: 'the text of the script' }),
  version: Type.Optional(Type.String({ description: 'major.minor.patch; without it the next one' })),
  runtime: Type.Optional(Type.Enum(['web-node24', 'web-python3'])),
  private: Type.Optional(Type.Boolean()),
  allowHmac: Type.Optional(Type.Boolean()),
  draft: Type.Optional(Type.Boolean()),
  envVars: Type.Optional(Type.Record(Type.String(), Type.String())),
  metadata: Type.Optional(Type.Object({}, { additionalProperties: true })),
  dependencies: Type.Optional(Type.Record(Type.String(), Type.String())),
  lock: Type.Optional(Type.Object({}, { additionalProperties: true, description: 'the package-lock.json' })),
}
const NewSchema = Type.Object({ name: Type.String(), ...BODY }, { title: 'NewWebscript' })
const ChangedSchema = Type.Object(BODY, { title: 'ChangedWebscript' })

const handle = asking<WebscriptsApi, QueryReader>((query) => new QueryReader(query))
const described = describing('webscripts', ErrorSchema)

export function managementRoutes(app: FastifyInstance, { service }: WebscriptsRouting): void {
  app.get(
    PATH,
    described({
      summary: 'The webscripts of the tenant, each in its latest version',
      answers: { 200: Type.Array(InfoSchema, { title: 'Webscripts' }) },
    }),
    handle(service, ({ api }) => api.list()),
  )
  app.post(
    PATH,
    described({ summary: 'Make a webscript of a text', body: NewSchema, answers: { 202: OperationSchema } }),
    handle(service, async ({ api, body, reply }) => {
      const created = await api.create(body)
      return reply.code(202).send(created)
    }),
  )
  app.get(
    `${PATH}/:name`,
    described({ summary: 'One webscript, or a version of it', params: ['name'], answers: { 200: InfoSchema } }),
    handle(service, ({ api, param, request }) => api.get(param('name'), versionOf(request))),
  )
  app.put(
    `${PATH}/:name`,
    described({
      summary: 'Make the next version of a webscript of a text, or replace that of a draft',
      params: ['name'],
      body: ChangedSchema,
      answers: { 202: OperationSchema },
    }),
    handle(service, async ({ api, param, body, reply, request }) => {
      const replaced = await api.replace(param('name'), body, versionOf(request))
      return reply.code(202).send(replaced)
    }),
  )
  app.delete(
    `${PATH}/:name`,
    described({
      summary: 'Take a webscript away, or a version of it',
      params: ['name'],
      answers: { 202: OperationSchema },
    }),
    handle(service, async ({ api, param, reply, request }) => {
      const removed = await api.remove(param('name'), versionOf(request))
      return reply.code(202).send(removed)
    }),
  )
  app.get(
    `${PATH}/operations/:id`,
    described({
      summary: 'How the making or removal of a webscript is getting on',
      params: ['id'],
      answers: { 200: Type.Object({}, { additionalProperties: true, title: 'WebscriptOperationState' }) },
    }),
    handle(service, ({ api, id }) => api.operation(id)),
  )
}

/** Of the header that picks one. */
function versionOf({ headers }: FastifyRequest): string | undefined {
  const version = headers['x-webscript-version']
  return typeof version === 'string' && version.trim() !== '' ? version.trim() : undefined
}
