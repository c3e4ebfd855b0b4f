/** The parameters of the listing of resources, as the API page shows them. */
import { Type } from 'typebox'
import { PagingSchema } from './route-parts.ts'

const text = Type.Optional(Type.String())
const texts = Type.Optional(Type.Array(Type.String()))

/** The parameters of the listing of resources, for readers. */
export const LISTING = {
  filter: Type.Optional(Type.String({ maxLength: 256, description: 'Text somewhere in id, name, tags ...' })),
  query: Type.Optional(Type.String({ description: 'Such as name:like(pump*) AND limits.minimum:gt(3)' })),
  tag: texts,
  id: texts,
  provider: texts,
  customer: texts,
  resourceTypeId: texts,
  toplevelOnly: Type.Optional(Type.Boolean()),
  lat: Type.Optional(Type.Number()),
  lon: Type.Optional(Type.Number()),
  distance: Type.Optional(Type.String({ description: 'Such as 500m, 100km or 3mi' })),
  sort: text,
  order: Type.Optional(Type.Enum(['ascending', 'descending'])),
  field: texts,
  fields: texts,
  denormalized: Type.Optional(Type.Boolean({ default: true })),
  ...PagingSchema,
}
