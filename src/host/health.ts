/** Serves the health and the probes of the host. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { isFromHere } from './auth/authenticate.ts'

export interface Health {
  probe(): Promise<readonly string[]>
  /** Returns false until the host has joined its cluster */
  isReady?(): boolean
  warnings(): readonly string[]
}

/**
 * `/health` and `/ready` are 503 while starting or failing. Only this machine and the log see troubles; warnings keep
 * 200, as a restart would not fix them. `/live` is 200 as long as the process answers.
 */
export function healthRoutes(app: FastifyInstance, { probe, warnings, isReady = () => true }: Health): void {
  const schema = {
    tags: ['host'],
    security: [],
    response: { '2xx': STATUS, 503: STATUS },
  }
  const config = { scope: 'public' } as const
  const live = { ...schema, summary: 'Whether the process responds', response: { '2xx': STATUS } }
  app.get('/live', { config, schema: live }, () => ({ status: 'ok' }))
  const answer = async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    if (!isReady()) return reply.code(503).send({ status: 'starting' })
    try {
      const troubles = await probe()
      const warned = isFromHere(request) ? warnings() : []
      if (troubles.length === 0) return { status: 'ok', ...(warned.length > 0 && { warnings: warned }) }
      request.log.error({ troubles }, 'the host is unhealthy')
      reply.code(503)
      return { status: 'failing', ...(isFromHere(request) && { troubles }) }
    } catch (error) {
      request.log.error({ err: error }, 'the host is unhealthy')
      reply.code(503)
      return { status: 'failing' }
    }
  }
  app.get('/health', { config, schema: { ...schema, summary: 'Whether the host is healthy' } }, answer)
  app.get('/ready', { config, schema: { ...schema, summary: 'Whether the host can process requests' } }, answer)
}

const STATUS = {
  description: 'ok, starting or failing',
  type: 'object',
  properties: {
    status: { type: 'string', enum: ['ok', 'starting', 'failing'] },
    warnings: {
      type: 'array',
      items: { type: 'string' },
      description: 'only for requests from the machine of the host',
    },
    troubles: {
      type: 'array',
      items: { type: 'string' },
      description: 'only for requests from the machine of the host',
    },
  },
} as const
