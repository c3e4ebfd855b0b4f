/** Routes of what is done to a version: published, built again, checked, and described otherwise. */
import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { isPlainObject } from '#kernel'
import { UPGRADE_LEVELS } from '../contract.ts'
import { DocumentationSchema, MetadataSchema, PlugMetadataSchema } from '../registry/manifest.ts'
import {
  described,
  flags,
  handle,
  OF_VERSION,
  pathsOf,
  policyIn,
  sendChange,
  tagsIn,
  texts,
  type TypeRouting,
} from './route-parts.ts'
import {
  CHANGE_QUERY,
  ChangeSchema,
  CREATE_QUERY,
  LogSchema,
  REBUILD_QUERY,
  RebuildSchema,
  SingleSchema,
} from './schemas.ts'
import { hrefsOf, singleBody } from './wire.ts'

const {
  async: ASYNC,
  comment: COMMENT,
  author: AUTHOR,
  chown: CHOWN,
  showTags: SHOW_TAGS,
  scaleToZero: SCALE,
} = CHANGE_QUERY

export function changeRoutes(app: FastifyInstance, routing: TypeRouting): void {
  addPublish(app, routing)
  addRebuild(app, routing)
  addVerify(app, routing)
  addDescriptions(app, routing)
  const { service, type } = routing
  app.get(
    `${pathsOf(type).version}/log`,
    described({
      summary: 'The last lines that its processes wrote on this host',
      params: OF_VERSION,
      answers: { 200: LogSchema },
    }),
    handle(service, async ({ api, param }) => {
      const lines = await api.log(param('name'), param('version'))
      return { lines: lines.map(({ time, level, text }) => ({ time: new Date(time).toISOString(), level, text })) }
    }),
  )
}

function addPublish(app: FastifyInstance, { service, type }: TypeRouting): void {
  app.post(
    `${pathsOf(type).version}/publish`,
    described({
      summary: 'Make a draft a version that is used and that nobody changes',
      params: OF_VERSION,
      query: {
        deprecatePrevious: CREATE_QUERY.deprecatePrevious,
        async: ASYNC,
        chown: CHOWN,
        author: AUTHOR,
        comment: COMMENT,
        showTags: SHOW_TAGS,
      },
      answers: { 201: ChangeSchema, 202: ChangeSchema },
    }),
    handle(service, async ({ api, query, param, reply }) => {
      const options = {
        ...policyIn(query),
        ...flags(query, 'chown'),
        ...texts(query, 'author', 'comment'),
        ...tagsIn(query),
      }
      const isAsync = query.flag('async') ?? true
      query.done()
      const change = await api.publish(param('name'), param('version'), options)
      return sendChange(api, reply, change, { isAsync, ...options })
    }),
  )
}

function addRebuild(app: FastifyInstance, { service, type }: TypeRouting): void {
  app.post(
    `${pathsOf(type).version}/rebuild`,
    described({
      summary: 'Build, deploy and verify a version once more, as far as it needs that',
      params: OF_VERSION,
      query: REBUILD_QUERY,
      answers: { 200: RebuildSchema, 202: RebuildSchema },
    }),
    handle(service, async ({ api, query, param, body, reply }) => {
      const upgrade = query.oneOf('upgrade', UPGRADE_LEVELS)
      const options = {
        ...flags(query, 'forceDeploy', 'ignoreChecks', 'skipRebuild', 'skipVerify', 'scaleToZero', 'dryRun'),
        ...texts(query, 'forceVersion', 'comment'),
        ...(upgrade !== undefined && { upgrade }),
        ...tagsIn(query),
        ...(isPlainObject(body) && body['deploy'] !== undefined && { overrides: body['deploy'] }),
      }
      if (upgrade !== undefined && options.forceVersion !== undefined)
        query.wrong('forceVersion', 'excludes upgrade', 'give one of them')
      const isAsync = query.flag('async') ?? true
      query.done()
      const change = await api.rebuild(param('name'), param('version'), options)
      return sendChange(api, reply, change, { isAsync, done: 200, ...options })
    }),
  )
}

function addVerify(app: FastifyInstance, { service, type }: TypeRouting): void {
  app.post(
    `${pathsOf(type).version}/verify`,
    described({
      summary: 'Ask a version whether it is well',
      params: OF_VERSION,
      query: { async: ASYNC, comment: COMMENT, scaleToZero: SCALE, showTags: SHOW_TAGS },
      answers: { 200: ChangeSchema, 202: ChangeSchema },
    }),
    handle(service, async ({ api, query, param, reply }) => {
      const options = { ...flags(query, 'scaleToZero'), ...texts(query, 'comment'), ...tagsIn(query) }
      const isAsync = query.flag('async') ?? true
      query.done()
      const change = await api.verify(param('name'), param('version'), options)
      const more = ({ status }: { readonly status: string }) => ({ result: { healthy: status === 'running' } })
      return sendChange(api, reply, change, { isAsync, done: 200, more, ...options })
    }),
  )
}

function addDescriptions(app: FastifyInstance, { service, type }: TypeRouting): void {
  const { version } = pathsOf(type)
  const query = { author: AUTHOR, comment: COMMENT, showTags: SHOW_TAGS }
  const metadata = type === 'plugs' ? PlugMetadataSchema : MetadataSchema
  app.patch(
    `${version}/metadata`,
    described({
      summary: 'Change what is said about a version; also of one that is published',
      params: OF_VERSION,
      query,
      body: Type.Partial(metadata, { title: 'Metadata of a function' }),
      answers: { 200: SingleSchema },
    }),
    handle(service, async ({ api, query: asked, param, body, request }) => {
      const options = { ...texts(asked, 'author', 'comment'), ...tagsIn(asked) }
      asked.done()
      const after = await api.patchMetadata(param('name'), param('version'), body, options)
      return singleBody(after, hrefsOf(request.tenant))
    }),
  )
  if (type !== 'plugs') return
  app.patch(
    `${version}/interface`,
    described({
      summary: 'Document the interface of a plug; also of one that is published',
      params: OF_VERSION,
      query,
      body: DocumentationSchema,
      answers: { 200: SingleSchema },
    }),
    handle(service, async ({ api, query: asked, param, body, request }) => {
      const options = { ...texts(asked, 'author', 'comment'), ...tagsIn(asked) }
      asked.done()
      const after = await api.patchDocumentation(param('name'), param('version'), body, options)
      return singleBody(after, hrefsOf(request.tenant))
    }),
  )
}
