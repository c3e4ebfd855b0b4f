/**
 * Recognizes requests to the separate origin of webscripts and public objects, where browsers send no API credentials.
 */
import type { FastifyRequest } from 'fastify'

export type IsOnOrigin = (request: FastifyRequest) => boolean

export function onOrigin(url: string): IsOnOrigin {
  const { host } = new URL(url)
  return (request) => request.host.toLowerCase() === host
}
