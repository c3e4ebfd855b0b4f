/** Creates the links of responses. */
import type { FastifyRequest } from 'fastify'

declare module 'fastify' {
  interface FastifyRequest {
    /** External address of the host (`--url`), without a trailing slash; undefined: the address of each request */
    readonly externalUrl?: string | undefined
  }
}

/** Returns the absolute address of a path of the API. */
export function linkTo({ externalUrl, server, protocol, host }: FastifyRequest, path: string): string {
  return `${externalUrl ?? `${protocol}://${host}${server.prefix}`}${path}`
}

/** Returns the absolute address of a request with other query parameters; `undefined` removes one. */
export function linkWith(
  request: FastifyRequest,
  changes: Readonly<Record<string, string | number | undefined>> = {},
): string {
  const [path = '', query = ''] = request.url.slice(request.server.prefix.length).split('?', 2)
  const parameters = new URLSearchParams(query)
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) parameters.delete(name)
    else parameters.set(name, String(value))
  }
  return linkTo(request, parameters.size === 0 ? path : `${path}?${parameters.toString()}`)
}
