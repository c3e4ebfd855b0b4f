/** Routes of functions by name and version: made, listed, looked at, protected and taken away. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { QueryReader } from '#services/shared'
import type { FunctionQuery, InclusionQuery, SingleFunction } from '../contract.ts'
import { MAX_BYTES } from '../registry/archive.ts'
import { DEFAULT_LIMIT, MAX_LIMIT } from '../registry/find-functions.ts'
import { plugPage } from './plug-page.ts'
import {
  addList,
  ARCHIVE_TYPES,
  described,
  flags,
  handle,
  listIn,
  OF_NAME,
  OF_VERSION,
  pathsOf,
  policyIn,
  sendChange,
  sourceOf,
  tagsIn,
  texts,
  timeIn,
  type TypeRouting,
} from './route-parts.ts'
import {
  CHANGE_QUERY,
  ChangeSchema,
  CREATE_QUERY,
  LIST_QUERY,
  PageSchema,
  PROTECT_QUERY,
  RemovalSchema,
  SingleSchema,
} from './schemas.ts'
import { hrefsOf, pageBody, removalBody, singleBody } from './wire.ts'

const { async: ASYNC, comment: COMMENT, showTags: SHOW_TAGS } = CHANGE_QUERY
const INCLUSION = {
  includeDraft: LIST_QUERY.includeDraft,
  includeDeprecated: LIST_QUERY.includeDeprecated,
  includeUndeployed: LIST_QUERY.includeUndeployed,
}
const REMOVE_QUERY = {
  force: Type.Optional(Type.Boolean({ description: 'true: its record goes too' })),
  undeploy: Type.Optional(
    Type.Boolean({ description: 'true: its processes end and its record stays; false: it is only deprecated' }),
  ),
  reset: Type.Optional(Type.Boolean({ description: 'true: its processes end and it is a draft again' })),
  async: ASYNC,
  comment: COMMENT,
}

export function functionRoutes(app: FastifyInstance, routing: TypeRouting): void {
  addListing(app, routing)
  addCreation(app, routing)
  addReading(app, routing)
  addRemoval(app, routing)
  addProtection(app, routing)
}

function addListing(app: FastifyInstance, { service, type, now }: TypeRouting): void {
  const paths = pathsOf(type)
  addList(
    app,
    paths.all,
    described({
      summary: `Versions of ${type}: the latest of each name, or all`,
      query: LIST_QUERY,
      answers: { 200: PageSchema },
    }),
    handle(service, async ({ api, query, request }) =>
      pageBody(await api.list(queryOf(query, now())), hrefsOf(request.tenant)),
    ),
  )
  addList(
    app,
    `${paths.one}/versions`,
    described({
      summary: `The versions of one of the ${type}`,
      params: OF_NAME,
      query: LIST_QUERY,
      answers: { 200: PageSchema },
    }),
    handle(service, async ({ api, query, param, request }) => {
      const asked = queryOf(query, now())
      const status = asked.status ?? ['any']
      const page = await api.list({ ...asked, status, name: undefined, exactName: param('name'), latest: false })
      return pageBody(page, hrefsOf(request.tenant))
    }),
  )
}

function addCreation(app: FastifyInstance, { service, type }: TypeRouting): void {
  const { all } = pathsOf(type)
  const upload = {
    ...described({
      summary: `Make a version of one of the ${type} of its assets`,
      consumes: [...ARCHIVE_TYPES, 'multipart/form-data'],
      query: CREATE_QUERY,
      answers: { 201: ChangeSchema, 202: ChangeSchema },
    }),
    bodyLimit: MAX_BYTES,
  }
  const create = handle(service, async ({ api, query, body, reply }) => {
    const options = {
      ...flags(query, 'deploy', 'draft', 'dryRun', 'scaleToZero'),
      ...texts(query, 'name', 'version', 'runtime', 'copy', 'author', 'comment'),
      ...policyIn(query),
      ...tagsIn(query),
    }
    const isAsync = query.flag('async') ?? true
    query.done()
    const { assets, manifest } = await sourceOf(body, options.copy !== undefined)
    const change = await api.create(assets, { ...options, ...(manifest && { manifest }) })
    return sendChange(api, reply, change, { isAsync, ...options })
  })
  // vendors' examples have both
  app.post(all, upload, create)
  app.post(`${all}/`, { ...upload, schema: { ...upload.schema, hide: true } }, create)
}

function addReading(app: FastifyInstance, { service, type }: TypeRouting): void {
  const paths = pathsOf(type)
  app.get(
    paths.one,
    described({
      summary: `The latest version of one of the ${type}`,
      params: OF_NAME,
      query: { ...INCLUSION, showTags: SHOW_TAGS },
      answers: { 200: SingleSchema },
    }),
    handle(service, async ({ api, query, param, request, reply }) => {
      const asked = { ...inclusionOf(query), ...tagsIn(query) }
      query.done()
      return shownTo({ type, request, reply }, await api.latest(param('name'), asked))
    }),
  )
  app.get(
    paths.version,
    described({
      summary: `One version of one of the ${type}`,
      params: OF_VERSION,
      query: { showTags: SHOW_TAGS },
      answers: { 200: SingleSchema },
    }),
    handle(service, async ({ api, query, param, request, reply }) => {
      const asked = tagsIn(query)
      query.done()
      return shownTo({ type, request, reply }, await api.get(param('name'), param('version'), asked))
    }),
  )
}

/** A plug is a page for those who want one, as browsers do. */
function shownTo(
  {
    type,
    request,
    reply,
  }: Pick<TypeRouting, 'type'> & { readonly request: FastifyRequest; readonly reply: FastifyReply },
  one: SingleFunction,
): unknown {
  if (type !== 'plugs') return singleBody(one, hrefsOf(request.tenant))
  reply.header('vary', 'accept')
  if (request.headers.accept?.includes('text/html') !== true) return singleBody(one, hrefsOf(request.tenant))
  reply.header('content-security-policy', "default-src 'none'").header('x-content-type-options', 'nosniff')
  return reply.type('text/html; charset=utf-8').send(plugPage(one))
}

function addRemoval(app: FastifyInstance, { service, type }: TypeRouting): void {
  const paths = pathsOf(type)
  for (const [path, what, params] of [
    [paths.one, 'all versions', OF_NAME],
    [paths.version, 'one version', OF_VERSION],
  ] as const) {
    app.delete(
      path,
      described({
        summary: `Deprecate or take away ${what} of one of the ${type}`,
        params,
        query: REMOVE_QUERY,
        answers: { 200: RemovalSchema, 202: RemovalSchema },
      }),
      handle(service, async ({ api, query, param, reply }) => {
        const options = { ...flags(query, 'force', 'undeploy', 'reset'), ...texts(query, 'comment') }
        const isAsync = query.flag('async') ?? true
        query.done()
        const removal = await api.remove(param('name'), path === paths.version ? param('version') : undefined, options)
        if (removal.job === undefined) return removalBody(removal)
        if (isAsync) return reply.code(202).send(removalBody(removal))
        await api.jobs.finished(removal.job.id)
        const { job: _job, ...done } = removal
        return removalBody(done)
      }),
    )
  }
}

function addProtection(app: FastifyInstance, { service, type }: TypeRouting): void {
  const paths = pathsOf(type)
  const options = (query: QueryReader) => {
    const asked = { ...flags(query, 'enable', 'chown'), ...texts(query, 'author', 'comment'), ...tagsIn(query) }
    query.done()
    return asked
  }
  app.post(
    `${paths.one}/protect`,
    described({
      summary: `Let the owner alone read the assets of all versions of one of the ${type}`,
      params: OF_NAME,
      query: PROTECT_QUERY,
      answers: { 200: RemovalSchema },
    }),
    handle(service, async ({ api, query, param }) =>
      removalBody(await api.protect(param('name'), undefined, options(query))),
    ),
  )
  app.post(
    `${paths.version}/protect`,
    described({
      summary: `Let the owner alone read the assets of one version of one of the ${type}`,
      params: OF_VERSION,
      query: PROTECT_QUERY,
      answers: { 200: SingleSchema },
    }),
    handle(service, async ({ api, query, param, request }) => {
      const [name, version] = [param('name'), param('version')]
      const asked = options(query)
      await api.protect(name, version, asked)
      return singleBody(await api.get(name, version, asked), hrefsOf(request.tenant))
    }),
  )
}

function inclusionOf(query: QueryReader): InclusionQuery {
  return flags(query, 'includeDraft', 'includeDeprecated', 'includeUndeployed')
}

function queryOf(query: QueryReader, now: number): FunctionQuery {
  const asked: FunctionQuery = {
    limit: query.integer('limit', { most: MAX_LIMIT }) ?? DEFAULT_LIMIT,
    page: query.integer('page'),
    latest: query.flag('latest'),
    ...texts(query, 'name', 'version', 'runtimeVersion', 'createdBy', 'updatedBy'),
    nameVersion: listIn(query, 'nameVersion'),
    type: listIn(query, 'type'),
    status: listIn(query, 'status'),
    runtime: listIn(query, 'runtime'),
    archiveFormat: listIn(query, 'archiveFormat'),
    ...flags(query, 'draft', 'deprecated'),
    ...inclusionOf(query),
    createdBefore: timeIn(query, 'createdBefore', now),
    createdAfter: timeIn(query, 'createdAfter', now),
    updatedBefore: timeIn(query, 'updatedBefore', now),
    updatedAfter: timeIn(query, 'updatedAfter', now),
    showRelated: query.oneOf('showRelated', ['embed', 'link', 'none']),
    ...tagsIn(query),
    tags: listIn(query, 'tags'),
    ...texts(query, 'wql'),
  }
  query.done()
  return asked
}
