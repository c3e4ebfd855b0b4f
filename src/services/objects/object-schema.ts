/** Schemas of the bodies and parameters in the object storage API. */
import {
  type StaticDecode,
  type TCodec,
  type TObject,
  type TOptional,
  type TProperties,
  type TSchema,
  Type,
} from 'typebox'
import { CHECKED, type Decoded, nullable } from '#services/shared/contract'

export const Text = Type.String()

const LinkSchema = Type.Object({
  href: Text,
  method: Type.Optional(Type.String({ description: 'GET without' })),
  headers: Type.Optional(Type.Record(Text, Text, { description: 'headers that must be sent' })),
  form_data: Type.Optional(Type.Record(Text, Text, { description: 'fields of the form before the file' })),
})
export interface ObjectLink extends Decoded<typeof LinkSchema> {}
export type ObjectLinks = Readonly<Record<string, ObjectLink>>
export const Links = Type.Unsafe<ObjectLinks>(Type.Record(Text, LinkSchema))

const Bucket = {
  _links: Links,
  alias: Text,
  name: Type.String({ description: 'unique; prefix of the URLs of contents' }),
}
const StoreSchema = Type.Object({ type: Text, name: Text, url: Text })
export const BucketSchema = Type.Object(
  { ...Bucket, store: Type.String({ description: 'name of its store' }) },
  { title: 'ObjectBucket' },
)
export const ListedBucketSchema = Type.Object({ ...Bucket, store: StoreSchema })
export const BucketsSchema = Type.Object(
  { _links: Links, buckets: Type.Array(ListedBucketSchema) },
  { title: 'ObjectBuckets' },
)

const Entry = {
  _links: Links,
  bucket: Type.Object(Bucket),
  name: Type.String({ description: 'path in the bucket; for a folder with a slash at the end' }),
  last_modified: Type.Optional(Type.String({ description: 'ISO 8601; absent for folders' })),
  etag: Type.String({ description: 'MD5 in hex; empty for a folder' }),
  size: Type.Integer({ description: 'bytes' }),
  is_dir: Type.Boolean(),
  content_type: Type.Optional(Text),
}
export const EntrySchema = Type.Object(Entry, { title: 'StoredObject' })
export interface ObjectAnswer extends Decoded<typeof EntrySchema> {}

export const ListingSchema = Type.Object(
  { _links: Links, objects: Type.Unsafe<readonly ObjectAnswer[]>(Type.Array(Type.Object(Entry))) },
  { title: 'ObjectListing' },
)
const ManyLinks = Type.Record(Text, Type.Union([LinkSchema, Type.Array(LinkSchema)]))
export const LinksSchema = Type.Object({ _links: ManyLinks }, { title: 'ObjectLinks' })
export const RemovedSchema = Type.Object(
  {
    _links: ManyLinks,
    removed_count: Type.Optional(
      Type.Integer({ description: 'with recursive: number of objects; `removed` lists the first 1,000' }),
    ),
  },
  { title: 'RemovedObjects' },
)
export const ErrorSchema = Type.Object(
  {
    error: Text,
    code: Text,
    statusCode: Type.Integer(),
    detail: Type.Optional(Type.Array(Type.Object({ loc: Type.Array(Text), msg: Text, type: Text }))),
  },
  { title: 'ObjectsError' },
)

export const optionalText = (description: string) =>
  Type.Optional(
    Type.Decode(Type.String({ description }), (text): string | undefined => (text === '' ? undefined : text)),
  )
const flag = (description: string) => Type.Optional(Type.Boolean({ description }))
const whole = (description: string, options: object = {}) =>
  Type.Optional(Type.Integer({ minimum: 0, ...options, description }))

export const METHODS = ['GET', 'PUT', 'POST', 'DELETE'] as const
export const STORE = { store: optionalText('only buckets in this store') }
const ALL = { all: flag('true: includes hidden objects, whose names begin with a dot') }
const AFTER = { start_after: optionalText('entries after this path') }
export const PAGE_SIZE = { max_keys: whole('page size; default 200, at most 1,000', { minimum: 1 }) }

const LIST = {
  recursive: flag('true: lists the content of folders instead of folders'),
  ...PAGE_SIZE,
  ...AFTER,
  ...ALL,
}
const SIGN = {
  upload: optionalText('upload in parts: new with sign=POST, otherwise its id'),
  part: whole('number of a part, with sign=PUT: 1 to 10,000'),
  expiry_seconds: whole('validity of a signed URL: the sum of the three, at most 7 days; default 300 seconds'),
  expiry_hours: whole('validity in hours'),
  expiry_days: whole('validity in days'),
  get_as_attachment: flag('true: browsers save the content under the name of the object'),
  content_type: optionalText('required content type of the upload'),
  metadata: optionalText('metadata that an upload with sign=PUT must have, form-encoded: name=value&name=value'),
  content_length_min: whole('minimum size of the upload in bytes'),
  content_length_max: whole('maximum size of the upload in bytes'),
}
export const PATH_QUERY = {
  ...STORE,
  stat: flag('true: only the object, or the folder if the path ends with a slash'),
  sign: Type.Optional(Type.Enum(METHODS, { description: 'returns a signed URL for this method' })),
  ...LIST,
  ...SIGN,
}
export interface PathQuery extends Decoded<TObject<typeof PATH_QUERY>> {}
export interface ListQuery extends Decoded<TObject<typeof LIST>> {}
export interface SignQuery extends Decoded<TObject<typeof SIGN & typeof ALL>> {}
export const PUT_QUERY = {
  ...ALL,
  source: optionalText('path of the object that is copied here'),
  move: flag('true: removes the source'),
}
export const REMOVE_QUERY = {
  recursive: flag('true: everything whose path begins with the path'),
  ...ALL,
  max_keys: whole('maximum number, 1 to 1,000; default: all', { minimum: 1, ...CHECKED }),
  ...AFTER,
}

type OrNull<P extends TProperties> = {
  [Name in keyof P]: P[Name] extends TOptional ? TOptional<TCodec<TSchema, StaticDecode<P[Name]>>> : P[Name]
}

export function orNull<const P extends TProperties>(fields: P): OrNull<P> {
  const both = Object.entries(fields).map(([name, schema]) => [
    name,
    Type.IsOptional(schema) ? Type.Optional(Type.Decode(nullable(schema), unlessNull(schema))) : schema,
  ])
  return Object.fromEntries(both) as OrNull<P>
}

function unlessNull(schema: TSchema): (value: unknown) => unknown {
  const decode = Type.IsCodec(schema) ? schema['~codec'].decode : undefined
  return (value) => (value === null ? undefined : decode === undefined ? value : decode(value))
}
