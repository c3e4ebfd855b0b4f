/** Reads the options of a post from its query. */
import { Type } from 'typebox'
import { Flag, type QueryReader, Text } from '#services/shared'
import type { PostOptions } from '../contract.ts'

/** What the query of a post may have. */
export const POST_PARAMETERS = {
  store: Type.Optional(Flag),
  forward: Type.Optional(Flag),
  ttl: Type.Optional(Text),
}

/** `store`, `forward` and `ttl` of a post or of a socket that posts. Throws `VALIDATION`. */
export function readPostQuery(query: QueryReader): Pick<PostOptions, 'store' | 'forward' | 'ttl'> {
  // most posts have none
  if (query.keys.length === 0) return {}
  const store = query.flag('store')
  const forward = query.flag('forward')
  const ttl = query.text('ttl')
  query.done()
  return {
    ...(store !== undefined && { store }),
    ...(forward !== undefined && { forward }),
    ...(ttl !== undefined && { ttl }),
  }
}
