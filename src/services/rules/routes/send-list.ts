/** A page of a list in the form that the request accepts: an array, the paged media type, or HAL. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Page } from '#kernel'
import { HAL_MEDIA_TYPE, pagedTypeOf } from '#services/shared'

export function sendList<T>(request: FastifyRequest, reply: FastifyReply, page: Page<T>): FastifyReply {
  void reply.header('x-count', page.total).header('vary', 'accept')
  const accept = request.headers.accept ?? ''
  const paged = pagedTypeOf(accept)
  if (paged !== undefined) return sendAs(reply, paged, page)
  if (!accept.includes(HAL_MEDIA_TYPE)) return reply.send(page.values)
  const { values, skip, limit, total } = page
  const _links = linksOf(request.url, page)
  return sendAs(reply, HAL_MEDIA_TYPE, { _embedded: { values }, count: values.length, total, limit, skip, _links })
}

function sendAs(reply: FastifyReply, type: string, body: unknown): FastifyReply {
  return reply.type(`${type}; charset=utf-8`).send(JSON.stringify(body))
}

interface Link {
  readonly href: string
}

function linksOf(url: string, { skip, limit, total }: Page<unknown>): Readonly<Record<string, Link>> {
  const at = (startIndex: number): Link => {
    const [path = '', query = ''] = url.split('?', 2)
    const parameters = new URLSearchParams(query)
    parameters.set('startIndex', String(startIndex))
    parameters.set('hits', String(limit))
    return { href: `${path}?${parameters.toString()}` }
  }
  return {
    self: { href: url },
    ...(limit > 0 && skip + limit < total && { next: at(skip + limit) }),
    ...(skip > 0 && { prev: at(Math.max(0, skip - limit)) }),
  }
}
