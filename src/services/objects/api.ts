/** Routes of buckets and objects. Contents are transferred through signed addresses only. */
import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { makeIssue, refuse } from '#kernel'
import { routesOf } from '#services/shared'
import { addObjectRoutes, at, hrefWith, originOf } from './api-parts.ts'
import type { ObjectsApi, SignedLink, SignOptions } from './contract.ts'
import {
  BucketSchema,
  BucketsSchema,
  EntrySchema,
  LinksSchema,
  ListingSchema,
  PATH_QUERY,
  PUT_QUERY,
  type PathQuery,
  REMOVE_QUERY,
  RemovedSchema,
  STORE,
} from './object-schema.ts'
import { readPrefix } from './paths.ts'
import type { Objects } from './service.ts'
import type { ContentRouting } from './routes/content-request.ts'
import { contentRoutes } from './routes/content-routes.ts'
import { BASE, bucketHref, shownBucket, shownEntry, signHref } from './show.ts'

export interface ObjectsRouting extends ContentRouting {
  readonly service: Pick<Objects, 'as'>
  readonly version: string
}

const route = routesOf<ObjectsApi>()

const ROUTES = [
  route({
    method: 'GET',
    path: `${BASE}/bucket`,
    aliases: [`${BASE}/bucket/`, '/bucket', '/bucket/'],
    operation: { operationId: 'getBuckets' },
    scope: 'read',
    summary: 'The buckets of the tenant',
    query: STORE,
    answers: { 200: BucketsSchema },
    handler: async ({ api, query, request }) => {
      const origin = originOf(request)
      const buckets = await api.buckets(query.store)
      return {
        _links: { self: { href: `${origin}${BASE}/bucket` } },
        buckets: buckets.map((bucket) => shownBucket(bucket, origin, 'record')),
      }
    },
  }),
  route({
    ...at('/bucket/:bucket'),
    method: 'GET',
    operation: { operationId: 'getBucket' },
    scope: 'read',
    summary: 'A bucket, by alias or name',
    query: STORE,
    answers: { 200: BucketSchema },
    handler: async ({ api, query, params, request }) =>
      shownBucket(await api.bucket(params.bucket, query.store), originOf(request), 'name'),
  }),
  route({
    ...at('/bucket/:bucket/*'),
    method: 'GET',
    operation: { operationId: 'getObjects' },
    scope: 'read',
    summary: 'Objects whose paths begin with this path; with `stat` a single object, with `sign` a signed URL',
    query: PATH_QUERY,
    answers: { 200: Type.Union([ListingSchema, EntrySchema, LinksSchema], { title: 'ObjectAnswer' }) },
    handler: async ({ api, query, params: { bucket: named, '*': path }, request }) => {
      const origin = originOf(request)
      const bucket = await api.bucket(named, query.store)
      const { alias, rights } = bucket
      if (query.sign !== undefined) {
        const options = signOptions(query, query.sign)
        return { _links: signedLinks(await api.sign(alias, path, { ...options, origin }), options) }
      }
      if (query.stat === true) return api.show(await api.stat(alias, path), origin)
      const { recursive, all, max_keys: maxKeys, start_after: startAfter } = query
      const { entries, next } = await api.list(alias, path, { recursive, all, maxKeys, startAfter })
      const prefix = readPrefix(path)
      const page = (after?: string) => {
        const href = hrefWith(bucketHref(origin, alias, prefix), request.query, { start_after: after })
        return { href }
      }
      return {
        _links: {
          self: page(startAfter),
          ...(rights.includes('write') && { sign_post: { href: signHref(origin, alias, prefix, 'POST') } }),
          ...(startAfter !== undefined && { first: page() }),
          ...(next !== undefined && { next: page(next) }),
        },
        objects: entries.map((entry) => shownEntry(entry, bucket, origin, false)),
      }
    },
  }),
  route({
    ...at('/bucket/:bucket/*'),
    method: 'PUT',
    operation: { operationId: 'putObject' },
    scope: 'operate',
    summary: 'Create a folder, or with `source` copy an object',
    query: PUT_QUERY,
    answers: { 200: EntrySchema },
    handler: async ({ api, query: { source, move, all }, params: { bucket, '*': path }, request }) => {
      if (source === undefined && !path.endsWith('/')) {
        const ways =
          'set the object to copy, end the path with a slash to create a folder, or get a signed URL with sign=PUT to upload'
        throw refuse('the query', [makeIssue('QUERY', '/source', 'is missing', ways)])
      }
      const entry =
        source === undefined
          ? await api.putFolder(bucket, path, { all })
          : await api.copy(bucket, path, source, { move })
      return api.show(entry, originOf(request))
    },
  }),
  route({
    ...at('/bucket/:bucket/*'),
    method: 'DELETE',
    operation: { operationId: 'deleteObjects' },
    scope: 'operate',
    summary: 'Remove an object or an empty folder, or everything whose path begins with the path',
    query: REMOVE_QUERY,
    answers: { 200: RemovedSchema },
    handler: async ({ api, query, params, request }) => {
      const { recursive = false, all, max_keys: maxKeys, start_after: startAfter } = query
      const path = params['*']
      const { alias } = await api.bucket(params.bucket)
      const hrefOf = (one: string) => bucketHref(originOf(request), alias, one)
      const { paths, count, next } = await api.remove(alias, path, { recursive, all, maxKeys, startAfter })
      const removed = paths.map((one) => ({ href: hrefOf(one) }))
      if (!recursive) return { _links: { removed: removed[0] } }
      const href = hrefOf(readPrefix(path))
      const more = next !== undefined && {
        next: { href: hrefWith(href, request.query, { start_after: next }), method: 'DELETE' },
      }
      return { _links: { self: { href }, removed, ...more }, removed_count: count }
    },
  }),
]

export async function objectsRoutes(
  app: FastifyInstance,
  { version, service, ...routing }: ObjectsRouting,
): Promise<void> {
  const about = route({
    method: 'GET',
    path: `${BASE}/`,
    scope: 'read',
    summary: 'The version of this software, as plain text',
    produces: ['text/plain'],
    handler: ({ reply }) => reply.type('text/plain; charset=utf-8').send(version),
  })
  await addObjectRoutes(app, service, { tag: 'objects', routes: [...ROUTES, about] })
  await app.register(async (scope) => contentRoutes(scope, routing))
}

function signOptions(query: PathQuery, method: SignedLink['method']): SignOptions {
  const { expiry_seconds: seconds, expiry_hours: hours, expiry_days: days } = query
  const { content_length_min: min, content_length_max: max } = query
  return {
    method,
    all: query.all,
    asAttachment: query.get_as_attachment,
    ...((seconds ?? hours ?? days) !== undefined && {
      expiry: (seconds ?? 0) + (hours ?? 0) * 3_600 + (days ?? 0) * 86_400,
    }),
    contentType: query.content_type,
    metadata: query.metadata === undefined ? undefined : Object.fromEntries(new URLSearchParams(query.metadata)),
    upload: query.upload,
    part: query.part,
    ...((min ?? max) !== undefined && { contentLength: { min, max } }),
  }
}

const PART_LINKS = {
  GET: 'list_parts',
  PUT: 'upload_part',
  POST: 'complete_multipart_upload',
  DELETE: 'abort_multipart_upload',
} as const

function signedLinks({ method, href, headers, formData }: SignedLink, { upload }: SignOptions): object {
  if (upload !== undefined) {
    return { [upload === 'new' ? 'create_multipart_upload' : PART_LINKS[method]]: { href, method } }
  }
  if (method === 'DELETE') return { delete_object: { href, method } }
  if (method === 'GET') return { get_object: { href } }
  if (method === 'PUT') return { put_object: { href, method, ...(headers && { headers }) } }
  return { post_object: { href, method, form_data: formData } }
}
