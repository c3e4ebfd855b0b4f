/** Routes of versions: made, listed, looked at, changed and taken away. */
import type { FastifyInstance } from 'fastify'
import type { QueryReader } from '../../../web/query-reader.ts'
import type { ChangeOptions, FunctionQuery, InclusionQuery } from '../contract.ts'
import { MAX_BYTES, readArchive } from '../registry/archive.ts'
import { DEFAULT_LIMIT, MAX_LIMIT } from '../registry/find-functions.ts'
import {
  addList,
  ARCHIVE_TYPES,
  bytesOf,
  described,
  handle,
  listIn,
  pathsOf,
  sendChange,
  timeIn,
  type TypeRouting,
} from './route-parts.ts'
import {
  Bytes,
  CHANGE_QUERY,
  ChangeSchema,
  CREATE_QUERY,
  LIST_QUERY,
  LogSchema,
  PageSchema,
  RemovalSchema,
  SingleSchema,
} from './schemas.ts'
import { Type } from 'typebox'
import { assetsBody, pageBody, removalBody, singleBody } from './wire.ts'

const PARTS = ['name', 'version'] as const
const { async: ASYNC, comment: COMMENT } = CHANGE_QUERY
const INCLUSION = {
  includeDraft: LIST_QUERY.includeDraft,
  includeDeprecated: LIST_QUERY.includeDeprecated,
  includeUndeployed: LIST_QUERY.includeUndeployed,
}
const REMOVE_QUERY = {
  force: Type.Optional(Type.Boolean({ description: 'true: its record goes too' })),
  undeploy: Type.Optional(Type.Boolean({ description: 'true: its processes end and its record stays' })),
  reset: Type.Optional(Type.Boolean({ description: 'true: its processes end and it is a draft again' })),
  async: ASYNC,
  comment: COMMENT,
}

export function functionRoutes(app: FastifyInstance, { service, type, now }: TypeRouting): void {
  const paths = pathsOf(type)
  const upload = {
    ...described({
      summary: 'Make a version of its assets',
      consumes: [...ARCHIVE_TYPES],
      query: CREATE_QUERY,
      answers: { 201: ChangeSchema, 202: ChangeSchema },
    }),
    bodyLimit: MAX_BYTES,
  }
  const create = handle(service, async ({ api, query, body, reply }) => {
    const options = {
      ...changeOptions(query),
      draft: query.flag('draft') ?? false,
      dryRun: query.flag('dryRun') ?? false,
      ...texts(query, 'name', 'version'),
      ...deprecating(query),
    }
    const isAsync = query.flag('async') ?? true
    query.done()
    return sendChange(api, reply, await api.create(await readArchive(bytesOf(body)), options), { isAsync })
  })
  const listing = described({
    summary: `Versions of ${type}: the latest of each name, or all`,
    query: LIST_QUERY,
    answers: { 200: PageSchema },
  })
  const list = handle(service, async ({ api, query }) => pageBody(await api.list(queryOf(query, now()))))
  // vendors' examples have both
  app.post(paths.all, upload, create)
  app.post(`${paths.all}/`, { ...upload, schema: { ...upload.schema, hide: true } }, create)
  addList(app, paths.all, listing, list)

  app.get(
    `${paths.all}/:name`,
    described({
      summary: `The latest version of one of the ${type}`,
      params: ['name'],
      query: INCLUSION,
      answers: { 200: SingleSchema },
    }),
    handle(service, async ({ api, query, param }) => {
      const include = inclusionOf(query)
      query.done()
      return singleBody(await api.latest(param('name'), include))
    }),
  )
  addList(
    app,
    `${paths.all}/:name/versions`,
    described({
      summary: `The versions of one of the ${type}`,
      params: ['name'],
      query: LIST_QUERY,
      answers: { 200: PageSchema },
    }),
    handle(service, async ({ api, query, param }) => {
      const asked = queryOf(query, now())
      const status = asked.status ?? ['any']
      return pageBody(await api.list({ ...asked, status, name: undefined, exactName: param('name'), latest: false }))
    }),
  )
  app.get(
    paths.version,
    described({ summary: `One version of one of the ${type}`, params: PARTS, answers: { 200: SingleSchema } }),
    handle(service, async ({ api, param }) => singleBody(await api.get(param('name'), param('version')))),
  )
  for (const [path, what, params] of [
    [`${paths.all}/:name`, `all versions of one of the ${type}`, ['name']],
    [paths.version, `one version of one of the ${type}`, PARTS],
  ] as const) {
    app.delete(
      path,
      described({
        summary: `Deprecate or take away ${what}`,
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

/** Routes of what is done to a version. */
export function changeRoutes(app: FastifyInstance, { service, type }: TypeRouting): void {
  const paths = pathsOf(type)
  app.post(
    `${paths.version}/publish`,
    described({
      summary: 'Make a draft a version that rules use and nobody changes',
      params: PARTS,
      query: { deprecatePrevious: CREATE_QUERY.deprecatePrevious, async: ASYNC, comment: COMMENT },
      answers: { 201: ChangeSchema, 202: ChangeSchema },
    }),
    handle(service, async ({ api, query, param, reply }) => {
      const options = { ...deprecating(query), ...texts(query, 'comment') }
      const isAsync = query.flag('async') ?? true
      query.done()
      return sendChange(api, reply, await api.publish(param('name'), param('version'), options), { isAsync })
    }),
  )
  for (const operation of ['rebuild', 'verify'] as const) {
    const summary =
      operation === 'rebuild' ? 'Build, deploy and verify a version once more' : 'Ask a version whether it is well'
    app.post(
      `${paths.version}/${operation}`,
      described({
        summary,
        params: PARTS,
        query: { async: ASYNC, comment: COMMENT },
        answers: { 200: ChangeSchema, 202: ChangeSchema },
      }),
      handle(service, async ({ api, query, param, reply }) => {
        const options = texts(query, 'comment')
        const isAsync = query.flag('async') ?? true
        query.done()
        return sendChange(api, reply, await api[operation](param('name'), param('version'), options), {
          isAsync,
          done: 200,
        })
      }),
    )
  }
  app.get(
    `${paths.version}/log`,
    described({
      summary: 'The last lines that its processes wrote on this host',
      params: PARTS,
      answers: { 200: LogSchema },
    }),
    handle(service, async ({ api, param }) => {
      const lines = await api.log(param('name'), param('version'))
      return { lines: lines.map(({ time, level, text }) => ({ time: new Date(time).toISOString(), level, text })) }
    }),
  )
}

/** Routes of assets. */
export function assetRoutes(app: FastifyInstance, { service, type }: TypeRouting): void {
  const paths = pathsOf(type)
  const listed = { ls: Type.Optional(Type.Boolean({ description: 'true: only what there is, as JSON' })) }
  app.get(
    `${paths.version}/content`,
    described({
      summary: 'All assets of a version, as a gzipped tar',
      params: PARTS,
      query: listed,
      produces: ['application/gzip', 'application/json'],
      answers: { 200: Bytes },
    }),
    handle(service, async ({ api, query, param, reply }) => {
      const isListed = query.flag('ls') ?? false
      query.done()
      const [name, version] = [param('name'), param('version')]
      if (isListed) return assetsBody({ type, name, version }, await api.assets(name, version))
      return reply.type('application/gzip').send(Buffer.from(await api.content(name, version)))
    }),
  )
  app.put(
    `${paths.version}/content`,
    {
      ...described({
        summary: 'Add and replace assets of a draft',
        params: PARTS,
        consumes: [...ARCHIVE_TYPES],
        query: CHANGE_QUERY,
        answers: { 201: ChangeSchema, 202: ChangeSchema },
      }),
      bodyLimit: MAX_BYTES,
    },
    handle(service, async ({ api, query, param, body, reply }) => {
      const options = changeOptions(query)
      const isAsync = query.flag('async') ?? true
      query.done()
      const assets = await readArchive(bytesOf(body))
      return sendChange(api, reply, await api.putAssets(param('name'), param('version'), assets, options), { isAsync })
    }),
  )
  const path = `${paths.version}/content/*`
  const params = [...PARTS, '*']
  app.get(
    path,
    described({
      summary: 'One asset of a version',
      params,
      produces: ['application/octet-stream'],
      answers: { 200: Bytes },
    }),
    handle(service, async ({ api, param, reply }) => {
      const asset = await api.asset(param('name'), param('version'), param('*'))
      return reply.type('application/octet-stream').send(Buffer.from(asset))
    }),
  )
  app.put(
    path,
    {
      ...described({
        summary: 'Add or replace one asset of a draft',
        params,
        consumes: ['application/octet-stream'],
        query: CHANGE_QUERY,
        answers: { 201: ChangeSchema, 202: ChangeSchema },
      }),
      bodyLimit: MAX_BYTES,
    },
    handle(service, async ({ api, query, param, body, reply }) => {
      const options = changeOptions(query)
      const isAsync = query.flag('async') ?? true
      query.done()
      const asset = new Map([[param('*'), bytesOf(body)]])
      return sendChange(api, reply, await api.putAssets(param('name'), param('version'), asset, options), { isAsync })
    }),
  )
  app.delete(
    path,
    described({
      summary: 'Take one asset of a draft away',
      params,
      query: CHANGE_QUERY,
      answers: { 201: ChangeSchema, 202: ChangeSchema },
    }),
    handle(service, async ({ api, query, param, reply }) => {
      const options = changeOptions(query)
      const isAsync = query.flag('async') ?? true
      query.done()
      return sendChange(api, reply, await api.removeAsset(param('name'), param('version'), param('*'), options), {
        isAsync,
      })
    }),
  )
}

function changeOptions(query: QueryReader): ChangeOptions {
  return { deploy: query.flag('deploy') ?? true, ...texts(query, 'comment') }
}

function inclusionOf(query: QueryReader): InclusionQuery {
  return flags(query, 'includeDraft', 'includeDeprecated', 'includeUndeployed')
}

function deprecating(query: QueryReader): { readonly deprecatePrevious?: 'none' | 'patch' | 'minor' | 'all' } {
  const policy = query.oneOf('deprecatePrevious', ['none', 'patch', 'minor', 'all'])
  return policy === undefined ? {} : { deprecatePrevious: policy }
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
  }
  query.done()
  return asked
}

function texts<N extends string>(query: QueryReader, ...names: readonly N[]): { readonly [K in N]?: string } {
  const found = names.flatMap((name) => {
    const text = query.text(name)
    return text === undefined ? [] : [[name, text] as const]
  })
  return Object.fromEntries(found) as { readonly [K in N]?: string }
}

function flags<N extends string>(query: QueryReader, ...names: readonly N[]): { readonly [K in N]?: boolean } {
  const found = names.flatMap((name) => {
    const flag = query.flag(name)
    return flag === undefined ? [] : [[name, flag] as const]
  })
  return Object.fromEntries(found) as { readonly [K in N]?: boolean }
}
