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
  headers: Type.Optional(Type.Record(Text, Text, { description: 'what must be sent with it' })),
  form_data: Type.Optional(Type.Record(Text, Text, { description: 'fields of the form before the file' })),
})
export interface ObjectLink extends Decoded<typeof LinkSchema> {}
export type ObjectLinks = Readonly<Record<string, ObjectLink>>
export const Links = Type.Unsafe<ObjectLinks>(Type.Record(Text, LinkSchema))

const Bucket = {
  _links: Links,
  alias: Text,
  name: Type.String({ description: 'unique; what addresses of contents begin with' }),
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
  name: Type.String({ description: 'path in the bucket; of a folder with a slash at its end' }),
  last_modified: Type.Optional(Type.String({ description: 'ISO 8601; folders have none' })),
  etag: Type.String({ description: 'MD5 in hex; of a folder empty' }),
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
      Type.Integer({ description: 'with recursive: how many objects; `removed` has the first 1,000' }),
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
export const STORE = { store: optionalText('name of a store: only buckets in it') }
const ALL = { all: flag('true: hidden objects too, whose names begin with a dot') }
const AFTER = { start_after: optionalText('those after this path') }
export const PAGE_SIZE = { max_keys: whole('of a page; default 200, at most 1,000', { minimum: 1 }) }

const LIST = { recursive: flag('true: what is in folders too, and no folders'), ...PAGE_SIZE, ...AFTER, ...ALL }
const SIGN = {
  upload: optionalText('of an upload in parts: new with sign=POST, else its id'),
  part: whole('number of a part, with sign=PUT: 1 to 10,000'),
  expiry_seconds: whole(
    'for how long a signed address is good; the three are added, 7 days at most, 300 seconds without any',
  ),
  expiry_hours: whole('hours of that'),
  expiry_days: whole('days of that'),
  get_as_attachment: flag('true: browsers save what is fetched under its name'),
  content_type: optionalText('what the content type of an upload must be'),
  metadata: optionalText('metadata that an upload by sign=PUT must have, form-encoded: name=value&name=value'),
  content_length_min: whole('bytes that an upload must have'),
  content_length_max: whole('bytes that an upload may have'),
}
export const PATH_QUERY = {
  ...STORE,
  stat: flag('true: one object, or with a slash at the end a folder'),
  sign: Type.Optional(Type.Enum(METHODS, { description: 'a signed address for this method' })),
  ...LIST,
  ...SIGN,
}
export interface PathQuery extends Decoded<TObject<typeof PATH_QUERY>> {}
export interface ListQuery extends Decoded<TObject<typeof LIST>> {}
export interface SignQuery extends Decoded<TObject<typeof SIGN & typeof ALL>> {}
export const PUT_QUERY = {
  ...ALL,
  source: optionalText('path of the object that is copied here'),
  move: flag('true: the source is gone afterwards'),
}
export const REMOVE_QUERY = {
  recursive: flag('true: all that begins with the path'),
  ...ALL,
  max_keys: whole('at most so many, 1 to 1,000; without it all', { minimum: 1, ...CHECKED }),
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
