/** What a request shows to be let in, in a header or in a query. */
import type { FastifyRequest } from 'fastify'

export type Credentials =
  | { readonly kind: 'pair'; readonly key: string; readonly secret: string }
  | { readonly kind: 'token'; readonly token: string }

export interface Presented {
  /** everything that was presented, as one text that no other credentials have */
  readonly text: string
  /** undefined when it cannot be read */
  read(): Credentials | undefined
}

/**
 * What a request shows to be let in: the header `Authorization` (basic with key and secret, or a bearer token), or, for
 * WebSockets only, `apiKey` and `apiSecret` in the query. Undefined when there is nothing.
 */
export function presentedBy(request: FastifyRequest): Presented | undefined {
  const { authorization } = request.headers
  if (authorization !== undefined) return { text: authorization, read: () => readHeader(authorization) }
  if (request.headers.upgrade?.toLowerCase() !== 'websocket') return undefined
  const { apiKey, apiSecret } = request.query as Readonly<Record<string, unknown>>
  if (apiKey === undefined && apiSecret === undefined) return undefined
  if (typeof apiKey !== 'string' || typeof apiSecret !== 'string') return { text: 'query', read: () => undefined }
  const text = `query ${JSON.stringify([apiKey, apiSecret])}`
  return { text, read: () => ({ kind: 'pair', key: apiKey, secret: apiSecret }) }
}

function readHeader(header: string): Credentials | undefined {
  const [, scheme = '', value = ''] = /^([a-z]{1,10}) ([\w+/.~=-]+)$/i.exec(header) ?? []
  if (scheme.toLowerCase() === 'bearer') return { kind: 'token', token: value }
  if (scheme.toLowerCase() !== 'basic') return undefined
  const pair = Buffer.from(value, 'base64').toString('utf8')
  const colon = pair.indexOf(':')
  return colon < 0 ? undefined : { kind: 'pair', key: pair.slice(0, colon), secret: pair.slice(colon + 1) }
}
