import type { FastifyInstance } from 'fastify'

/** `GET /health`, for anybody: 200 `{ status: 'ok' }`, or 503 `{ status: 'failing' }` when `probe` rejects. */
export function healthRoute(app: FastifyInstance, probe: () => Promise<unknown>): void {
  const schema = {
    summary: 'Whether the host works',
    tags: ['host'],
    security: [],
    response: { '2xx': STATUS, 503: STATUS },
  }
  app.get('/health', { config: { access: 'public' }, schema }, async (request, reply) => {
    try {
      await probe()
      return { status: 'ok' }
    } catch (error) {
      request.log.error({ err: error }, 'the host is not well')
      return reply.code(503).send({ status: 'failing' })
    }
  })
}

const STATUS = {
  description: 'ok, or failing',
  type: 'object',
  properties: { status: { type: 'string', enum: ['ok', 'failing'] } },
} as const
