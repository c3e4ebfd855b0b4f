/** Buckets and objects over HTTP, as the platform's clients know them. Contents go by signed addresses alone. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Type, type TSchema } from 'typebox'
import { asking, describing, type Handler, QueryReader } from '#services/shared'
import {
  MAX_EXPIRY,
  type ListOptions,
  type ObjectListing,
  type ObjectsApi,
  type ObjectsService,
  type SignedLink,
  type SignOptions,
} from '../contract.ts'
import { readPrefix } from '../paths.ts'
import { BASE, bucketHref, shownBucket, shownEntry, signHref } from '../show.ts'
import {
  BucketSchema,
  BucketsSchema,
  EntrySchema,
  ErrorSchema,
  LinksSchema,
  ListingSchema,
  RemovedSchema,
} from './schemas.ts'

type Handle = (handler: Handler<ObjectsApi, QueryReader>) => ReturnType<typeof ask>
const ask = asking<ObjectsApi, QueryReader>((query) => new QueryReader(query))
const described = describing('objects', ErrorSchema)

const text = (description: string) => Type.Optional(Type.String({ description }))
const flag = (description: string) => Type.Optional(Type.Boolean({ description }))
const whole = (description: string) => Type.Optional(Type.Integer({ minimum: 0, description }))

const STORE = { store: text('name of a store: only buckets in it') }
const ALL = flag('true: hidden objects too, whose names begin with a dot')
const PATH_QUERY = {
  ...STORE,
  stat: flag('true: one object, or with a slash at the end a folder'),
  sign: Type.Optional(
    Type.Union([Type.Literal('GET'), Type.Literal('PUT'), Type.Literal('POST'), Type.Literal('DELETE')], {
      description: 'a signed address for this method',
    }),
  ),
  upload: text('of an upload in parts: new with sign=POST, else its id'),
  part: whole('number of a part, with sign=PUT: 1 to 10,000'),
  recursive: flag('true: what is in folders too, and no folders'),
  max_keys: whole('of a page; default 200, at most 1,000'),
  start_after: text('those after this path'),
  all: ALL,
  expiry_seconds: whole(
    'for how long a signed address is good; the three are added, 7 days at most, 300 seconds without any',
  ),
  expiry_hours: whole('hours of that'),
  expiry_days: whole('days of that'),
  get_as_attachment: flag('true: browsers save what is fetched under its name'),
  content_type: text('what the content type of an upload must be'),
  content_length_min: whole('bytes that an upload must have'),
  content_length_max: whole('bytes that an upload may have'),
} as const satisfies Readonly<Record<string, TSchema>>

/** `bases`: what paths begin with; the first one is shown on the page of the API. */
export function bucketRoutes(app: FastifyInstance, service: ObjectsService, bases: readonly string[]): void {
  const handle: Handle = (handler) => ask(service, handler)
  for (const base of bases) {
    const hide = base !== BASE
    const shown = (operationId: string, description: Parameters<typeof described>[0]) => {
      const options = described(description)
      return { ...options, schema: { ...options.schema, hide, ...(!hide && { operationId }) } }
    }
    const one = `${base}/bucket/:bucket`
    const buckets = handle(listBuckets)
    const all = shown('getBuckets', {
      summary: 'The buckets of the tenant',
      query: STORE,
      answers: { 200: BucketsSchema },
    })
    app.get(`${base}/bucket`, all, buckets)
    app.get(`${base}/bucket/`, { ...all, schema: { ...all.schema, hide: true } }, buckets)
    app.get(
      one,
      shown('getBucket', {
        summary: 'A bucket, by alias or name',
        params: ['bucket'],
        query: STORE,
        answers: { 200: BucketSchema },
      }),
      handle(async ({ api, query, param, request }) => {
        const store = query.text('store')
        query.done()
        return shownBucket(await api.bucket(param('bucket'), store), originOf(request, app), 'name')
      }),
    )
    const pathOptions = shown('getObjects', {
      summary: 'Objects whose paths begin with this one; with `stat` one of them, with `sign` a signed address',
      params: ['bucket', '*'],
      query: PATH_QUERY,
      answers: { 200: Type.Union([ListingSchema, EntrySchema, LinksSchema], { title: 'ObjectAnswer' }) },
    })
    app.get(`${one}/*`, pathOptions, handle(getPath(app)))
    app.put(
      `${one}/*`,
      shown('putObject', {
        summary: 'Make a folder, or with `source` copy an object',
        params: ['bucket', '*'],
        query: {
          all: ALL,
          source: text('path of the object that is copied here'),
          move: flag('true: the source is gone afterwards'),
        },
        answers: { 200: EntrySchema },
      }),
      handle(putPath(app)),
    )
    app.delete(
      `${one}/*`,
      shown('deleteObjects', {
        summary: 'Remove an object or an empty folder, or all that begins with the path',
        params: ['bucket', '*'],
        query: {
          recursive: flag('true: all that begins with the path'),
          all: ALL,
          max_keys: whole('at most so many, 1 to 1,000; without it all'),
          start_after: text('those after this path'),
        },
        answers: { 200: RemovedSchema },
      }),
      handle(removePath(app)),
    )
  }
}

/** As the client reached this host. `prefix`: what all its paths begin with. */
function originOf({ protocol, host }: FastifyRequest, { prefix }: FastifyInstance): string {
  return `${protocol}://${host}${prefix}`
}

const listBuckets: Handler<ObjectsApi, QueryReader> = async ({ api, query, request }) => {
  const store = query.text('store')
  query.done()
  const origin = originOf(request, request.server)
  const buckets = await api.buckets(store)
  return {
    _links: { self: { href: `${origin}${BASE}/bucket` } },
    buckets: buckets.map((bucket) => shownBucket(bucket, origin, 'record')),
  }
}

function getPath(app: FastifyInstance): Handler<ObjectsApi, QueryReader> {
  return async ({ api, query, param, request }) => {
    const origin = originOf(request, app)
    const [bucket, path] = [param('bucket'), param('*')]
    const { alias } = await api.bucket(bucket, query.text('store'))
    const method = query.oneOf('sign', ['GET', 'PUT', 'POST', 'DELETE'])
    const isStat = query.flag('stat') ?? false
    if (method !== undefined) {
      const options = signOptions(query, method)
      query.done()
      return { _links: signedLinks(await api.sign(alias, path, { ...options, origin }), options) }
    }
    if (isStat) {
      query.done()
      return api.show(await api.stat(alias, path), origin)
    }
    const options = listOptions(query)
    query.done()
    return listing(await api.list(alias, path, options), {
      api,
      alias,
      prefix: readPrefix(path),
      query,
      options,
      origin,
    })
  }
}

interface Listed {
  readonly api: ObjectsApi
  readonly alias: string
  readonly prefix: string
  readonly query: QueryReader
  readonly options: ListOptions
  readonly origin: string
}

async function listing(
  { entries, next }: ObjectListing,
  { api, alias, prefix, query, options, origin }: Listed,
): Promise<object> {
  const bucket = await api.bucket(alias)
  const self = bucketHref(origin, alias, prefix)
  const page = (startAfter?: string): { readonly href: string } => {
    const parameters = new URLSearchParams()
    for (const name of query.keys) for (const value of query.texts(name)) parameters.append(name, value)
    parameters.delete('start_after')
    if (startAfter !== undefined) parameters.set('start_after', startAfter)
    return { href: parameters.size === 0 ? self : `${self}?${parameters.toString()}` }
  }
  return {
    _links: {
      self: page(options.startAfter),
      ...(bucket.rights.includes('write') && { sign_post: { href: signHref(origin, alias, prefix, 'POST') } }),
      ...(options.startAfter !== undefined && { first: page() }),
      ...(next !== undefined && { next: page(next) }),
    },
    objects: entries.map((entry) => shownEntry(entry, bucket, origin, false)),
  }
}

function putPath(app: FastifyInstance): Handler<ObjectsApi, QueryReader> {
  return async ({ api, query, param, request }) => {
    const [bucket, path] = [param('bucket'), param('*')]
    const source = query.text('source')
    const move = query.flag('move') ?? false
    const all = query.flag('all') ?? false
    if (source === undefined && !path.endsWith('/')) {
      query.wrong(
        'source',
        'is missing',
        'name the object to copy, end the path with a slash to make a folder, or ask for sign=PUT to upload',
      )
    }
    query.done()
    const entry =
      source === undefined ? await api.putFolder(bucket, path, { all }) : await api.copy(bucket, path, source, { move })
    return api.show(entry, originOf(request, app))
  }
}

function removePath(app: FastifyInstance): Handler<ObjectsApi, QueryReader> {
  return async ({ api, query, param, request }) => {
    const origin = originOf(request, app)
    const recursive = query.flag('recursive') ?? false
    const all = query.flag('all') ?? false
    const maxKeys = query.integer('max_keys', { least: 1 })
    const startAfter = query.text('start_after')
    query.done()
    const { alias } = await api.bucket(param('bucket'))
    const path = param('*')
    const options = {
      recursive,
      all,
      ...(maxKeys !== undefined && { maxKeys }),
      ...(startAfter !== undefined && { startAfter }),
    }
    const { paths, count, next } = await api.remove(alias, path, options)
    const removed = paths.map((one) => ({ href: bucketHref(origin, alias, one) }))
    if (!recursive) return { _links: { removed: removed[0] } }
    const self = bucketHref(origin, alias, readPrefix(path))
    const parameters = new URLSearchParams(request.query as Record<string, string>)
    if (next !== undefined) parameters.set('start_after', next)
    const more = next === undefined ? {} : { next: { href: `${self}?${parameters.toString()}`, method: 'DELETE' } }
    return { _links: { self: { href: self }, removed, ...more }, removed_count: count }
  }
}

function listOptions(query: QueryReader): ListOptions {
  const maxKeys = query.integer('max_keys', { least: 1 })
  const startAfter = query.text('start_after')
  return {
    recursive: query.flag('recursive') ?? false,
    all: query.flag('all') ?? false,
    ...(maxKeys !== undefined && { maxKeys }),
    ...(startAfter !== undefined && { startAfter }),
  }
}

function signOptions(query: QueryReader, method: SignedLink['method']): SignOptions {
  const parts = [
    [query.integer('expiry_seconds'), 1],
    [query.integer('expiry_hours'), 3_600],
    [query.integer('expiry_days'), 86_400],
  ] as const
  const given = parts.filter(([value]) => value !== undefined)
  const expiry = given.reduce((sum, [value = 0, seconds]) => sum + value * seconds, 0)
  if (given.length > 0 && (expiry < 1 || expiry > MAX_EXPIRY)) {
    query.wrong(
      'expiry_seconds',
      `makes ${expiry} seconds with hours and days`,
      `a signed address is good for 1 to ${MAX_EXPIRY} seconds, 7 days`,
    )
  }
  const contentType = query.text('content_type')
  const upload = query.text('upload')
  const part = query.integer('part')
  const min = query.integer('content_length_min')
  const max = query.integer('content_length_max')
  return {
    method,
    all: query.flag('all') ?? false,
    asAttachment: query.flag('get_as_attachment') ?? false,
    ...(given.length > 0 && { expiry }),
    ...(contentType !== undefined && { contentType }),
    ...(upload !== undefined && { upload }),
    ...(part !== undefined && { part }),
    ...((min ?? max) !== undefined && {
      contentLength: { ...(min !== undefined && { min }), ...(max !== undefined && { max }) },
    }),
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
