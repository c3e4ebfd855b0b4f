/** What bodies of object storage look like: for whoever reads the page of the API, and for clients that are made of it. */
import { Type } from 'typebox'

const Link = Type.Object({
  href: Type.String(),
  method: Type.Optional(Type.String({ description: 'GET without' })),
  headers: Type.Optional(Type.Record(Type.String(), Type.String(), { description: 'what must be sent with it' })),
  form_data: Type.Optional(
    Type.Record(Type.String(), Type.String(), { description: 'fields of the form before the file' }),
  ),
})
const Links = Type.Record(Type.String(), Type.Union([Link, Type.Array(Link)]))

const Bucket = {
  _links: Links,
  alias: Type.String(),
  name: Type.String({ description: 'unique; what addresses of contents begin with' }),
}
const StoreSchema = Type.Object({ type: Type.String(), name: Type.String(), url: Type.String() })

export const BucketSchema = Type.Object(
  { ...Bucket, store: Type.String({ description: 'name of its store' }) },
  { title: 'ObjectBucket' },
)
export const BucketsSchema = Type.Object(
  { _links: Links, buckets: Type.Array(Type.Object({ ...Bucket, store: StoreSchema })) },
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
  content_type: Type.Optional(Type.String()),
}
export const EntrySchema = Type.Object(Entry, { title: 'StoredObject' })
export const ListingSchema = Type.Object(
  { _links: Links, objects: Type.Array(Type.Object(Entry)) },
  { title: 'ObjectListing' },
)
export const LinksSchema = Type.Object({ _links: Links }, { title: 'ObjectLinks' })
export const RemovedSchema = Type.Object(
  {
    _links: Links,
    removed_count: Type.Optional(
      Type.Integer({ description: 'with recursive: how many objects; `removed` has the first 1,000' }),
    ),
  },
  { title: 'RemovedObjects' },
)
export const ErrorSchema = Type.Object(
  {
    error: Type.String(),
    code: Type.String(),
    statusCode: Type.Integer(),
    detail: Type.Optional(
      Type.Array(Type.Object({ loc: Type.Array(Type.String()), msg: Type.String(), type: Type.String() })),
    ),
  },
  { title: 'ObjectsError' },
)
