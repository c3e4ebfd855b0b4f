/** Reads a stored query as it is sent: `{ name, query, meta? }`. What else is there is passed over. */
import { Type } from 'typebox'
import { isPlainObject, Issues, type JsonObject, ownValue, shown } from '#kernel'
import { isAddressable, NOT_ADDRESSABLE } from '#services/shared'
import { checkPlain } from '../query/check-plain.ts'
import { checkSchema } from '../query/check-schema.ts'
import { QuerySchema } from '../query/query-schema.ts'

export interface Entity {
  readonly name: string
  readonly query: JsonObject
  readonly meta: JsonObject
}

const MAX_NAME = 200

/** `meta`: what people say of a query. */
export const MetaSchema = Type.Object(
  {
    tags: Type.Optional(
      Type.Array(
        Type.String({ minLength: 1, maxLength: 500, title: 'tag', description: 'a text of 1 to 500 characters' }),
        {
          maxItems: 100,
          title: 'list of tags',
          description: 'at most 100 texts',
        },
      ),
    ),
    description: Type.Optional(Type.String({ maxLength: 10_000, title: 'description', description: 'a text' })),
  },
  { additionalProperties: true, title: 'Meta of a query', description: 'an object with tags and description' },
)

/** `name`: that of the path. Throws `VALIDATION` with every problem. */
export function readEntity(body: unknown, name: string | undefined): Entity {
  const issues = new Issues('QUERY')
  if (!isPlainObject(body)) {
    issues.wrong('', `${shown(body)} is no stored query`, 'send {"name": .., "query": {..}}')
    issues.throwIfAny('the stored query')
    return { name: '', query: {}, meta: {} }
  }
  const own = ownValue(body, 'name')
  if (name !== undefined && own !== undefined && own !== null && own !== name) {
    issues.wrong('/name', `${shown(own)} is not the name of the path, which is ${shown(name)}`, 'leave it out')
  }
  const wanted = readName(name ?? own, name === undefined ? '/name' : '', issues)
  const { query } = body
  if (query === undefined) issues.wrong('/query', 'is missing', 'send {"query": {..}}')
  else checkPlain(query, '/query', issues)
  const meta = body['meta'] ?? {}
  checkPlain(meta, '/meta', issues)
  if (issues.count === 0) {
    checkSchema(QuerySchema, query, issues, '/query')
    checkSchema(MetaSchema, meta, issues, '/meta')
  }
  issues.throwIfAny('the stored query')
  return { name: wanted ?? '', query: query as JsonObject, meta: meta as JsonObject }
}

function readName(name: unknown, path: string, issues: Issues): string | undefined {
  if (name === undefined || name === null) return issues.wrong(path, 'is missing', 'give the query a name')
  if (typeof name !== 'string' || name === '' || name.length > MAX_NAME || /[\0\p{Surrogate}]/u.test(name)) {
    return issues.wrong(path, `${shown(name)} is no name of a query`, `give a text of 1 to ${MAX_NAME} characters`)
  }
  return isAddressable(name) ? name : issues.wrong(path, `${shown(name)} ${NOT_ADDRESSABLE}`, 'give another name')
}
