/** Routes of assets: all of a version, one by its path, and one by its role. */
import type { FastifyInstance, FastifyReply, RouteHandlerMethod } from 'fastify'
import { Type } from 'typebox'
import type { QueryReader, RequestContext } from '#services/shared'
import { ASSET_ROLES, type AssetsOptions, type FunctionsApi } from '../contract.ts'
import { MAX_BYTES } from '../registry/archive.ts'
import { MANIFEST_SCHEMAS } from '../registry/manifest.ts'
import {
  ARCHIVE_TYPES,
  assetsOf,
  bytesOf,
  described,
  flags,
  handle,
  OF_VERSION,
  pathsOf,
  sendChange,
  tagsIn,
  texts,
  type TypeRouting,
} from './route-parts.ts'
import { Bytes, CHANGE_QUERY, ChangeSchema } from './schemas.ts'
import { assetsBody } from './wire.ts'

const LISTED = { ls: Type.Optional(Type.Boolean({ description: 'true: only what there is, as JSON' })) }
const CHANGED = { 201: ChangeSchema, 202: ChangeSchema }

type Context = RequestContext<FunctionsApi, QueryReader>

/** All assets at once. */
export function contentRoutes(app: FastifyInstance, { service, type }: TypeRouting): void {
  const path = `${pathsOf(type).version}/content`
  app.get(
    path,
    described({
      summary: 'All assets of a version, as a gzipped tar',
      params: OF_VERSION,
      query: LISTED,
      produces: ['application/gzip', 'application/json'],
      answers: { 200: Bytes },
    }),
    handle(service, async ({ api, query, param, reply }) => {
      const isListed = query.flag('ls') ?? false
      query.done()
      const [name, version] = [param('name'), param('version')]
      if (isListed) return assetsBody({ type, name, version }, await api.assets(name, version))
      const content = await api.content(name, version)
      return reply.type('application/gzip').send(Buffer.from(content))
    }),
  )
  app.put(
    path,
    {
      ...described({
        summary: 'Add and replace assets of a draft',
        params: OF_VERSION,
        consumes: [...ARCHIVE_TYPES, 'multipart/form-data'],
        query: CHANGE_QUERY,
        answers: CHANGED,
      }),
      bodyLimit: MAX_BYTES,
    },
    handle(service, async (context) => {
      const { api, body, param } = context
      return changing(context, async (options) =>
        api.putAssets(param('name'), param('version'), await assetsOf(body), options),
      )
    }),
  )
  app.patch(
    `${pathsOf(type).version}/manifest`,
    described({
      summary: 'Change members of the manifest of a draft',
      params: OF_VERSION,
      query: CHANGE_QUERY,
      body: Type.Partial(MANIFEST_SCHEMAS[type], { title: `Part of a manifest of ${type}` }),
      answers: CHANGED,
    }),
    handle(service, (context) => {
      const { api, body, param } = context
      return changing(context, (options) => api.patchManifest(param('name'), param('version'), body, options))
    }),
  )
}

/** Single assets: bodies are bytes, whatever their content type is. */
export function assetRoutes(app: FastifyInstance, routing: TypeRouting): void {
  const { service, type } = routing
  const { version: prefix } = pathsOf(type)
  const params = [...OF_VERSION, '*']
  const path = `${prefix}/content/*`
  const pathIn = ({ param }: Context): string => param('*')
  app.get(
    path,
    described({
      summary: 'One asset of a version, or what is below a path',
      params,
      query: LISTED,
      produces: ['application/octet-stream', 'application/json'],
      answers: { 200: Bytes },
    }),
    reading(routing, (context) => Promise.resolve(pathIn(context))),
  )
  app.put(
    path,
    {
      ...described({
        summary: 'Add or replace one asset of a draft',
        params,
        consumes: ['application/octet-stream'],
        query: CHANGE_QUERY,
        answers: CHANGED,
      }),
      bodyLimit: MAX_BYTES,
    },
    writing(routing, (context) => Promise.resolve(pathIn(context))),
  )
  app.delete(
    path,
    described({ summary: 'Take one asset of a draft away', params, query: CHANGE_QUERY, answers: CHANGED }),
    handle(service, (context) => {
      const { api, param } = context
      return changing(context, (options) => api.removeAsset(param('name'), param('version'), pathIn(context), options))
    }),
  )
  for (const role of ASSET_ROLES) {
    const pathOf = ({ api, param }: Context): Promise<string> => api.pathOf(param('name'), param('version'), role)
    app.get(
      `${prefix}/${role}`,
      described({
        summary: `The asset of a version that is its ${role}`,
        params: OF_VERSION,
        produces: ['application/octet-stream'],
        answers: { 200: Bytes },
      }),
      reading(routing, pathOf),
    )
    app.put(
      `${prefix}/${role}`,
      {
        ...described({
          summary: `Replace the asset of a draft that is its ${role}`,
          params: OF_VERSION,
          consumes: ['application/octet-stream'],
          query: CHANGE_QUERY,
          answers: CHANGED,
        }),
        bodyLimit: MAX_BYTES,
      },
      writing(routing, pathOf),
    )
  }
}

type PathOf = (context: Context) => Promise<string>

function reading({ service, type }: TypeRouting, pathOf: PathOf): RouteHandlerMethod {
  return handle(service, async (context) => {
    const { api, query, param, reply } = context
    const isListed = query.flag('ls') ?? false
    query.done()
    const [name, version, path] = [param('name'), param('version'), await pathOf(context)]
    if (isListed) return assetsBody({ type, name, version }, await api.assets(name, version, path))
    const asset = await api.asset(name, version, path)
    return reply.type('application/octet-stream').send(Buffer.from(asset))
  })
}

function writing({ service }: TypeRouting, pathOf: PathOf): RouteHandlerMethod {
  return handle(service, (context) => {
    const { api, body, param } = context
    return changing(context, async (options) => {
      const asset = new Map([[await pathOf(context), bytesOf(body)]])
      return api.putAssets(param('name'), param('version'), asset, options)
    })
  })
}

async function changing(
  { api, query, reply }: Context,
  change: (options: AssetsOptions) => ReturnType<FunctionsApi['putAssets']>,
): Promise<FastifyReply> {
  const options = {
    ...flags(query, 'deploy', 'scaleToZero', 'chown'),
    ...texts(query, 'author', 'comment'),
    ...tagsIn(query),
  }
  const isAsync = query.flag('async') ?? true
  query.done()
  return sendChange(api, reply, await change(options), { isAsync, ...options })
}
