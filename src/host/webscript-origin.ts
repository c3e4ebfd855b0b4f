/** The origin that webscripts and public objects have to themselves: a browser keeps no credentials of the API for it. */
import type { FastifyRequest } from 'fastify'

export type IsOnOrigin = (request: FastifyRequest) => boolean

/** Whether a request came to the origin with that address, by its `Host` or by what a trusted proxy says of it. */
export function onOrigin(url: string): IsOnOrigin {
  const { host } = new URL(url)
  return (request) => request.host.toLowerCase() === host
}
