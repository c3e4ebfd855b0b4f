/** Starts a cluster host without services, which forwards requests and answers its own. */
import websocket from '@fastify/websocket'
import { fastify, type FastifyInstance } from 'fastify'
import { afterEach } from 'vitest'
import type { TenantLocation } from '../../../src/cluster/placement/placement.ts'
import { Hops } from '../../../src/host/cluster/hop.ts'
import { RequestRouting } from '../../../src/host/cluster/request-routing.ts'
import { errorHandler } from '../../../src/host/errors.ts'
import { plainErrorBody } from '../../../src/host/failure.ts'
import { machineTimers } from '../../../src/host/timers.ts'

export const hops = new Hops(Buffer.from('secret of all hosts'), () => 1_000)

const ends: (() => Promise<unknown>)[] = []
afterEach(async () => {
  await Promise.all(ends.splice(0).map((end) => end()))
})

/** Runs `end` after the test, even if it failed. */
export function atEnd(end: () => Promise<unknown>): void {
  ends.push(end)
}

export interface ModelHost {
  readonly app: FastifyInstance
  readonly routing: RequestRouting
  readonly url: string
  place: TenantLocation
}

/** Starts a host that serves its tenant as soon as `place` says that it is here. */
export async function hostAt(
  place: TenantLocation,
  tenant = 'acme',
  maxAsked = 100,
  more: (app: FastifyInstance) => void = () => undefined,
): Promise<ModelHost> {
  const app = fastify()
  await app.register(websocket)
  const here = { hold: () => undefined }
  const routing = new RequestRouting({
    tenants: { get: () => undefined, opened: async () => here, has: () => true, isComplete: true },
    place: () => host.place,
    hops,
    timers: { ...machineTimers, elapsed: () => 0 },
    requestMs: 30_000,
    maxAsked,
    tenantOfPublic: () => undefined,
  })
  app.setErrorHandler(errorHandler(plainErrorBody))
  app.decorateRequest('tenant', '')
  app.addHook('onRequest', async (request) => {
    request.tenant = tenant
  })
  routing.addTo(app)
  app.post('/', async ({ body }) => ({ at: host.url, body }))
  app.get('/', async () => ({ at: host.url }))
  more(app)
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  const host: ModelHost = { app, routing, url, place }
  atEnd(() => app.close())
  return host
}
