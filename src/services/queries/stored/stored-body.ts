/** Schemas of stored queries in requests, with limits. */
import { Type } from 'typebox'
import { shown } from '#kernel'
import { isAddressable, NOT_ADDRESSABLE } from '#services/shared'
import { checked, closed, nullable, readOnly, refined, text } from '#services/shared/contract'
import { QuerySchema } from '../query/query-schema.ts'
import { meta } from './stored-schema.ts'

const MAX_NAME = 200

const name = refined(text(MAX_NAME, { minLength: 1 }), (value) => {
  const isName = typeof value === 'string' && value !== '' && value.length <= MAX_NAME
  if (!isName || /[\0\p{Surrogate}]/u.test(value)) {
    return [{ message: `${shown(value)} is not a name of a query`, suggestion: `write 1 to ${MAX_NAME} characters` }]
  }
  return isAddressable(value)
    ? []
    : [{ message: `${shown(value)} ${NOT_ADDRESSABLE}`, suggestion: 'write another name' }]
})
export const QueryName = checked(name, { subject: 'the name', type: 'QUERY' })

const FIELDS = {
  query: QuerySchema,
  meta: Type.Optional(nullable(meta)),
  ...readOnly(['attrs', '_links', 'messages']),
}
const STORED = { subject: 'the stored query', type: 'QUERY' }
export const NewStoredQuery = checked(closed({ name, ...FIELDS }, { title: 'New stored query' }), STORED)
export const NamedStoredQuery = checked(
  closed({ name: Type.Optional(nullable(name)), ...FIELDS }, { title: 'Stored query of a name' }),
  STORED,
)
