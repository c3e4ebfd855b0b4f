/** Responds to the preflight request of a browser, which carries no credentials. */
import type { FastifyReply, FastifyRequest } from 'fastify'

export function answerPreflight({ headers }: FastifyRequest, reply: FastifyReply, methods: string): FastifyReply {
  const requested = headers['access-control-request-headers']
  return reply
    .code(204)
    .headers({
      'access-control-allow-methods': methods,
      'access-control-max-age': 600,
      vary: 'access-control-request-headers',
      ...(typeof requested === 'string' && { 'access-control-allow-headers': requested }),
    })
    .send()
}
