/** What the routes of webscripts go by. */
import type { FastifyRequest } from 'fastify'
import type { WebscriptsService } from '../contract.ts'

/** What every address of the service begins with. */
export const BASE = '/api/v1'
/** Where they are called: there, and as the links of the registry have it. */
export const CALL_BASES = [BASE, '/functions/v1'] as const

export interface WebscriptsRouting {
  readonly service: WebscriptsService
  /** how clients reach this host, where a proxy sends another name as `Host` */
  readonly ownUrl?: string | undefined
  /** Whether the request came to the origin of webscripts, which has no routes of the API; absent: all share one origin. */
  readonly isOnOwnOrigin?: ((request: FastifyRequest) => boolean) | undefined
}
