/** Routes for the functions of one type. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError, type Caller, isPlainObject, makeIssue, refuse } from '#kernel'
import { addRoutes, bodyBytes, FORM_TYPE, issueLine, type Refusal, routesOf } from '#services/shared'
import { ASSET_ROLES, type Change, type FunctionsApi, type InternalFunctions, type SingleFunction } from './contract.ts'
import {
  Bytes,
  CHANGE_QUERY,
  ChangeSchema,
  COMMENTED,
  CREATE_QUERY,
  type CreateOptions,
  ErrorSchema,
  INCLUSION,
  jobsQuery,
  JobsSchema,
  LISTED,
  listQuery,
  LogSchema,
  PageSchema,
  PROTECT_QUERY,
  PUBLISH_QUERY,
  REBUILD_QUERY,
  RebuildSchema,
  RemovalSchema,
  REMOVE_QUERY,
  SCOPE,
  SingleSchema,
  TagListSchema,
  TagOneSchema,
  TAGS_SHOWN,
  type TagsQuery,
  VERIFY_QUERY,
  WAITING,
} from './function-schema.ts'
import { FUNCTION_TYPES, type FunctionType, TYPE_NAMES } from './function-type.ts'
import { Documentation, MANIFEST_PATCHES, metadataOf, RebuildBody, TagsBody } from './manifest-schema.ts'
import { plugPage } from './plug-page.ts'
import { jobQuery, registryRoutes } from './registry-api.ts'
import { type Assets, MAX_BYTES, MAX_FORM, readArchive, readForm } from './registry/archive.ts'
import { oneTag } from './registry/tags.ts'
import {
  assetsBody,
  changeBody,
  jobReportBody,
  pageBody,
  PREFIX,
  removalBody,
  singleBody,
  versionHref,
} from './wire.ts'

const ARCHIVE_TYPES = [
  'application/tar',
  'application/x-tar',
  'application/tar+gzip',
  'application/gzip',
  'application/x-gzip',
  'application/octet-stream',
]
const UPLOAD = { consumes: [...ARCHIVE_TYPES, 'multipart/form-data'], server: { bodyLimit: MAX_BYTES } }
const CHANGING = {
  scope: 'author',
  query: { ...CHANGE_QUERY, ...WAITING },
  answers: { 201: ChangeSchema, 202: ChangeSchema },
} as const
const FILE = { consumes: ['application/octet-stream'], server: { bodyLimit: MAX_BYTES } }
const NO_ASSETS: Assets = new Map()

const READ = { method: 'GET', scope: 'read' } as const
const route = routesOf<FunctionsApi>()
const pathsOf = (type: FunctionType) => {
  const all = `${PREFIX}/${type}` as const
  const one = `${all}/:name` as const
  const version = `${one}/versions/:version` as const
  return { all, one, version }
}

function functionRoutes(type: FunctionType, now: () => number) {
  const paths = pathsOf(type)
  const LIST = listQuery(now)
  return [
    route({
      ...READ,
      path: paths.all,
      aliases: [`${paths.all}/`],
      summary: `Versions of ${type}: the latest of each name, or all`,
      query: LIST,
      answers: { 200: PageSchema },
      handler: async ({ api, query, request }) => pageBody(await api.list(query), request),
    }),
    route({
      method: 'POST',
      path: paths.all,
      aliases: [`${paths.all}/`],
      scope: 'author',
      summary: `Create a version of a ${TYPE_NAMES[type].noun} from assets`,
      query: { ...CREATE_QUERY, ...WAITING },
      answers: { 201: ChangeSchema, 202: ChangeSchema },
      ...UPLOAD,
      handler: async ({ api, query, request, reply }) => {
        const { assets, manifest } = await sourceOf(request.body, query.copy !== undefined)
        return sendChange(api, reply, query, api.create(assets, { ...query, ...(manifest && { manifest }) }))
      },
    }),
    route({
      ...READ,
      path: `${paths.one}/versions`,
      aliases: [`${paths.one}/versions/`],
      summary: `The versions of a ${TYPE_NAMES[type].noun}`,
      query: LIST,
      answers: { 200: PageSchema },
      handler: async ({ api, params, query: { name: _any, status = ['any'], ...query }, request }) =>
        pageBody(await api.list({ ...query, status, exactName: params.name, latest: false }), request),
    }),
    route({
      ...READ,
      path: paths.one,
      summary: `The latest version of a ${TYPE_NAMES[type].noun}`,
      query: { ...INCLUSION, ...TAGS_SHOWN },
      answers: { 200: SingleSchema },
      handler: async ({ api, params: { name }, query, request, reply }) =>
        shownTo(request, reply, await api.latest(name, query)),
    }),
    route({
      ...READ,
      path: paths.version,
      summary: `One version of a ${TYPE_NAMES[type].noun}`,
      query: TAGS_SHOWN,
      answers: { 200: SingleSchema },
      handler: async ({ api, params: { name, version }, query, request, reply }) =>
        shownTo(request, reply, await api.get(name, version, query)),
    }),
    ...([paths.one, paths.version] as const).map((path) =>
      route({
        method: 'DELETE',
        path,
        scope: 'author',
        summary: `Deprecate or remove ${path === paths.one ? 'all versions' : 'one version'} of a ${TYPE_NAMES[type].noun}`,
        query: { ...REMOVE_QUERY, ...WAITING },
        answers: { 200: RemovalSchema, 202: RemovalSchema },
        handler: async ({ api, params: { name, version }, query, request, reply }) => {
          const { job, ...done } = await api.remove(name, version, query)
          if (job !== undefined && query.async !== false)
            return reply.code(202).send(removalBody({ ...done, job }, request))
          if (job !== undefined) await api.jobs.finished(job.id)
          return removalBody(done, request)
        },
      }),
    ),
    route({
      method: 'POST',
      path: `${paths.one}/protect`,
      scope: 'author',
      summary: `Protect the assets of all versions of a ${TYPE_NAMES[type].noun}: only the owner can read them`,
      query: PROTECT_QUERY,
      answers: { 200: RemovalSchema },
      handler: async ({ api, params, query, request }) =>
        removalBody(await api.protect(params.name, undefined, query), request),
    }),
    route({
      method: 'POST',
      path: `${paths.version}/protect`,
      scope: 'author',
      summary: `Protect the assets of one version of a ${TYPE_NAMES[type].noun}: only the owner can read them`,
      query: PROTECT_QUERY,
      answers: { 200: SingleSchema },
      handler: async ({ api, params: { name, version }, query, request }) => {
        await api.protect(name, version, query)
        return singleBody(await api.get(name, version, query), request)
      },
    }),
  ]
}

function changeRoutes(type: FunctionType, now: () => number) {
  const paths = pathsOf(type)
  return [
    route({
      method: 'POST',
      path: `${paths.version}/publish`,
      scope: 'publish',
      summary: 'Publish a draft as an immutable version',
      query: { ...PUBLISH_QUERY, ...WAITING },
      answers: { 201: ChangeSchema, 202: ChangeSchema },
      handler: ({ api, params: { name, version }, query, reply }) =>
        sendChange(api, reply, query, api.publish(name, version, query)),
    }),
    route({
      method: 'POST',
      path: `${paths.version}/rebuild`,
      scope: 'operate',
      summary: 'Build, deploy and verify a version again, as far as needed',
      query: { ...REBUILD_QUERY, ...WAITING },
      answers: { 200: RebuildSchema, 202: RebuildSchema },
      handler: ({ api, params: { name, version }, query, request, reply }) => {
        if (query.upgrade !== undefined && query.forceVersion !== undefined)
          throw refuse('the query', [makeIssue('QUERY', '/forceVersion', 'excludes upgrade', 'use one of them')])
        const { deploy: overrides } = RebuildBody.read(request.body ?? {})
        const change = api.rebuild(name, version, { ...query, ...(overrides && { overrides }) })
        return sendChange(api, reply, query, change, { done: 200 })
      },
    }),
    route({
      method: 'POST',
      path: `${paths.version}/verify`,
      scope: 'operate',
      summary: 'Check the health of a version',
      query: { ...VERIFY_QUERY, ...WAITING },
      answers: { 200: ChangeSchema, 202: ChangeSchema },
      handler: ({ api, params: { name, version }, query, reply }) => {
        const more = ({ status }: SingleFunction) => ({ result: { healthy: status === 'running' } })
        return sendChange(api, reply, query, api.verify(name, version, query), { done: 200, more })
      },
    }),
    route({
      method: 'PATCH',
      path: `${paths.version}/metadata`,
      scope: 'author',
      summary: 'Change the metadata of a version, even a published one',
      query: COMMENTED,
      body: metadataOf(type),
      answers: { 200: SingleSchema },
      handler: async ({ api, params: { name, version }, query, body, request }) =>
        singleBody(await api.patchMetadata(name, version, body, query), request),
    }),
    ...(type === 'plugs'
      ? [
          route({
            method: 'PATCH',
            path: `${paths.version}/interface`,
            scope: 'author',
            summary: 'Document the interface of a plug, even a published one',
            query: COMMENTED,
            body: Documentation,
            answers: { 200: SingleSchema },
            handler: async ({ api, params: { name, version }, query, body, request }) =>
              singleBody(await api.patchDocumentation(name, version, body, query), request),
          }),
        ]
      : []),
    route({
      ...READ,
      path: `${paths.version}/log`,
      summary: 'The last log lines of its processes on this host',
      answers: { 200: LogSchema },
      handler: async ({ api, params: { name, version } }) => {
        const lines = await api.log(name, version)
        return { lines: lines.map(({ time, level, text }) => ({ time: new Date(time).toISOString(), level, text })) }
      },
    }),
    route({
      ...READ,
      path: `${paths.version}/jobs`,
      aliases: [`${paths.version}/jobs/`],
      summary: 'Jobs of one version, newest first, each with its request and result',
      query: jobsQuery(now),
      answers: { 200: JobsSchema },
      handler: async ({ api, params, query, request }) => {
        const { name, version } = await api.get(params.name, params.version)
        const wanted = jobQuery(query)
        const jobs = await api.jobs.list({ ...wanted, name, version })
        const { wire, noun } = TYPE_NAMES[type]
        return {
          jobs: jobs.map((one) => jobReportBody(one, request)),
          limit: wanted.limit,
          function: { functionType: wire, name, version },
          _links: { [noun]: { href: versionHref({ type, name, version }, request) } },
        }
      },
    }),
  ]
}

function contentRoutes(type: FunctionType) {
  const paths = pathsOf(type)
  return [
    route({
      ...READ,
      path: `${paths.version}/content`,
      summary: 'All assets of a version, as a gzipped tar',
      query: LISTED,
      produces: ['application/gzip', 'application/json'],
      answers: { 200: Bytes },
      handler: async ({ api, params: { name, version }, query, request, reply }) => {
        if (query.ls === true) return assetsBody({ type, name, version }, await api.assets(name, version), request)
        const content = await api.content(name, version)
        return reply.type('application/gzip').send(Buffer.from(content))
      },
    }),
    route({
      method: 'PUT',
      path: `${paths.version}/content`,
      summary: 'Add and replace assets of a draft',
      ...CHANGING,
      ...UPLOAD,
      handler: async ({ api, params: { name, version }, query, request, reply }) =>
        sendChange(api, reply, query, api.putAssets(name, version, await assetsOf(request.body), query)),
    }),
    route({
      method: 'PATCH',
      path: `${paths.version}/manifest`,
      summary: 'Change members of the manifest of a draft',
      ...CHANGING,
      body: MANIFEST_PATCHES[type],
      handler: ({ api, params: { name, version }, query, body, reply }) =>
        sendChange(api, reply, query, api.patchManifest(name, version, body, query)),
    }),
  ]
}

function assetRoutes(type: FunctionType) {
  const paths = pathsOf(type)
  type OfVersion = Readonly<Record<'name' | 'version', string>>
  const byPath = (_api: FunctionsApi, params: OfVersion) => Promise.resolve((params as { '*'?: string })['*'] ?? '')
  const files = [
    {
      path: `${paths.version}/content/*` as const,
      read: 'One asset of a version, or the assets below a path',
      write: 'Add or replace one asset of a draft',
      pathOf: byPath,
    },
    ...ASSET_ROLES.map((role) => ({
      path: `${paths.version}/${role}` as const,
      read: `The ${role} asset of a version`,
      write: `Replace the ${role} asset of a draft`,
      pathOf: (api: FunctionsApi, { name, version }: OfVersion) => api.pathOf(name, version, role),
    })),
  ]
  return [
    ...files.flatMap(({ path, read, write, pathOf }) => [
      route({
        ...READ,
        path,
        summary: read,
        query: LISTED,
        produces: ['application/octet-stream', 'application/json'],
        answers: { 200: Bytes },
        handler: async ({ api, params, query, request, reply }) => {
          const { name, version } = params
          const path = await pathOf(api, params)
          if (query.ls === true)
            return assetsBody({ type, name, version }, await api.assets(name, version, path), request)
          const asset = await api.asset(name, version, path)
          return reply.type('application/octet-stream').send(Buffer.from(asset))
        },
      }),
      route({
        method: 'PUT',
        path,
        summary: write,
        ...CHANGING,
        ...FILE,
        handler: async ({ api, params, query, request: { body }, reply }) => {
          const asset = [await pathOf(api, params), body instanceof Uint8Array ? body : new Uint8Array()] as const
          return sendChange(api, reply, query, api.putAssets(params.name, params.version, new Map([asset]), query))
        },
      }),
    ]),
    route({
      method: 'DELETE',
      path: `${paths.version}/content/*`,
      summary: 'Remove one asset of a draft',
      ...CHANGING,
      handler: ({ api, params: { name, version, '*': path }, query, reply }) =>
        sendChange(api, reply, query, api.removeAsset(name, version, path, query)),
    }),
  ]
}

function tagRoutes(type: FunctionType) {
  const paths = pathsOf(type)
  return ([paths.one, paths.version] as const).flatMap((path) => {
    const what = `${path === paths.one ? 'all versions' : 'one version'} of a ${TYPE_NAMES[type].noun}`
    // a single version needs no scope
    const query = path === paths.one ? SCOPE : ({} as typeof SCOPE)
    const setting = (method: 'PUT' | 'PATCH', kind: 'set' | 'add', doing: string, scoped: typeof SCOPE) =>
      route({
        method,
        path: `${path}/tags`,
        scope: 'author',
        summary: `${doing} tags of ${what}`,
        query: scoped,
        body: TagsBody,
        answers: { 200: TagListSchema },
        handler: async ({ api, params: { name, version }, query: { scope }, body: { tags } }) => ({
          tags: await api.changeTags(name, version, { kind, tags }, scope),
        }),
      })
    return [
      route({
        ...READ,
        path: `${path}/tags`,
        summary: `Tags of ${what}`,
        query,
        answers: { 200: TagListSchema },
        handler: async ({ api, params: { name, version }, query: { scope } }) => ({
          tags: await api.tags(name, version, scope),
        }),
      }),
      setting('PUT', 'set', 'Replace', query),
      setting('PATCH', 'add', 'Add', {} as typeof SCOPE),
      route({
        method: 'DELETE',
        path: `${path}/tags`,
        scope: 'author',
        summary: `Remove all tags of ${what}`,
        query,
        answers: { 200: TagListSchema },
        handler: async ({ api, params: { name, version }, query: { scope } }) => {
          const tags = await api.tags(name, version, scope)
          await api.changeTags(name, version, { kind: 'remove' })
          return { tags }
        },
      }),
      route({
        ...READ,
        path: `${path}/tags/:tag`,
        summary: `A tag of ${what}`,
        query,
        answers: { 200: TagOneSchema },
        handler: async ({ api, params: { name, version, tag }, query: { scope } }) =>
          oneTag(await api.tags(name, version, scope), tag),
      }),
      route({
        method: 'PUT',
        path: `${path}/tags/:tag`,
        scope: 'author',
        summary: `Add a tag to ${what}`,
        answers: { 200: TagOneSchema },
        handler: async ({ api, params: { name, version, tag } }) =>
          oneTag(await api.changeTags(name, version, { kind: 'add', tags: [tag] }, 'any'), tag),
      }),
      route({
        method: 'DELETE',
        path: `${path}/tags/:tag`,
        scope: 'author',
        summary: `Remove a tag of ${what}`,
        answers: { 200: TagOneSchema },
        handler: async ({ api, params: { name, version, tag } }) => {
          const found = oneTag(await api.tags(name, version, 'any'), tag)
          await api.changeTags(name, version, { kind: 'remove', name: tag })
          return found
        },
      }),
    ]
  })
}

export function functionsErrorBody({ statusCode, error, code, issues }: Refusal): object {
  return { error, code, statusCode, ...(issues.length > 0 && { data: issues.map(issueLine) }) }
}

interface RegistryRouting {
  readonly service: Pick<InternalFunctions, 'as'>
  readonly now: () => number
  readonly revision: string
}

export async function functionsRoutes(
  app: FastifyInstance,
  { service, now, revision }: RegistryRouting,
): Promise<void> {
  const ofType = (type: FunctionType) => ({ as: (caller: Caller) => service.as(caller, type) })
  const shared = { tag: 'functions', errors: ErrorSchema }
  const addParsers = (scope: FastifyInstance): void => {
    scope.addContentTypeParser(ARCHIVE_TYPES, readBytes)
    scope.addContentTypeParser(
      FORM_TYPE,
      { parseAs: 'buffer', bodyLimit: MAX_FORM },
      (request: FastifyRequest, body: Buffer) => readForm(request.headers['content-type'] ?? '', body),
    )
  }
  // these routes do not depend on the type
  await addRoutes(app, ofType('plugs'), { ...shared, routes: registryRoutes(revision, now) })
  for (const type of FUNCTION_TYPES) {
    const routes = [
      ...functionRoutes(type, now),
      ...changeRoutes(type, now),
      ...contentRoutes(type),
      ...tagRoutes(type),
    ]
    await addRoutes(app, ofType(type), { ...shared, routes, addParsers })
    await addRoutes(app, ofType(type), {
      ...shared,
      routes: assetRoutes(type),
      addParsers: (scope) => {
        // assets are read as bytes, even when they are JSON
        scope.removeAllContentTypeParsers()
        scope.addContentTypeParser('*', readBytes)
      },
    })
  }
}

function readBytes(request: FastifyRequest, body: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const length = request.headers['content-length']
  return bodyBytes(body, request.routeOptions.bodyLimit, length === undefined ? undefined : Number(length))
}

async function assetsOf(body: unknown): Promise<Assets> {
  if (body instanceof Map) return body as Assets
  if (body instanceof Uint8Array && body.length > 0) return readArchive(body)
  throw new AppError('VALIDATION', 'the body is empty; send the assets as a tar, optionally gzipped, or as a form')
}

async function sourceOf(
  body: unknown,
  isCopy: boolean,
): Promise<{ readonly assets: Assets; readonly manifest?: CreateOptions['manifest'] }> {
  if (isPlainObject(body)) return { assets: NO_ASSETS, manifest: body }
  const isEmpty = body === undefined || body === null || (body instanceof Uint8Array && body.length === 0)
  return { assets: isEmpty && isCopy ? NO_ASSETS : await assetsOf(body) }
}

interface Answer {
  readonly done?: 200 | 201
  /** adds fields to the response body, once the change is done */
  readonly more?: (after: SingleFunction) => object
}

/** Responds with 202 at once; with `async=false`, with 200 or 201 after the jobs of the change. */
async function sendChange(
  api: FunctionsApi,
  reply: FastifyReply,
  { async: isAsync = true, showTags }: TagsQuery & { readonly async?: boolean },
  changing: Promise<Change>,
  { done = 201, more = () => ({}) }: Answer = {},
): Promise<FastifyReply> {
  const change = await changing
  const { job, entity, ...rest } = change
  if (job === undefined || isAsync)
    return reply.code(job === undefined ? done : 202).send(changeBody(change, reply.request))
  await api.jobs.finished(job.id)
  const after = await api.get(entity.name, entity.version, showTags && { showTags })
  const body = changeBody({ ...rest, entity: { ...entity, record: after.record } }, reply.request)
  return reply.code(done).send({ ...body, ...more(after) })
}

function shownTo(request: FastifyRequest, reply: FastifyReply, one: SingleFunction): unknown {
  if (one.type === 'plugs') void reply.header('vary', 'accept')
  if (one.type !== 'plugs' || request.headers.accept?.includes('text/html') !== true) return singleBody(one, request)
  reply.header('content-security-policy', "default-src 'none'").header('x-content-type-options', 'nosniff')
  return reply.type('text/html; charset=utf-8').send(plugPage(one))
}
