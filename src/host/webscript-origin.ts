/** Separate origin of webscripts and public objects, without the browser's API credentials. */
import type { FastifyRequest } from 'fastify'

export type IsOnOrigin = (request: FastifyRequest) => boolean

/** Tests whether a request came to that origin, by `Host` or a trusted proxy's header. */
export function onOrigin(url: string): IsOnOrigin {
  const { host } = new URL(url)
  return (request) => request.host.toLowerCase() === host
}
