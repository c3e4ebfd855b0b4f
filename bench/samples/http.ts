/**
 * One sample: what a request costs the server, by CPU time of its main thread. The same body goes to a bare fastify
 * route and to the same route behind the frame of the host; who asks is a process of its own.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { createApp } from '../../src/host/app.ts'
import { ApiKeys, type KeyRecord, type Records } from '../../src/host/auth/api-keys.ts'
import { checkPairs } from '../../src/host/auth/check-pair.ts'
import { Tokens } from '../../src/host/auth/tokens.ts'
import { randomKey } from '../../src/host/data-folder.ts'
import { openMemory } from '../../src/storage/memory/open-memory.ts'
import { Metrics } from '../../src/host/metrics.ts'
import type { HostedService } from '../../src/host/hosted-service.ts'
import { cpuMs } from './spent.ts'

export type HttpSubject = 'bare' | 'host'

export interface HttpSample {
  requests: number
  cpuMs: number
  wallMs: number
}

const CONNECTIONS = 32
const WARM_UP = 20_000
const PAIR = { key: 'bench', secret: 'bench', tenant: 'default' }

/** A task from a template, as it is created. */
const BODY = {
  type: 'object',
  properties: {
    name: { type: 'string' },
    template: { type: 'string' },
    resource: { type: 'string' },
    type: { type: 'string' },
    start: { type: 'boolean' },
    variables: { type: 'object' },
    tags: { type: 'object' },
  },
  required: ['name', 'template'],
  additionalProperties: false,
} as const

export async function httpSample(subject: HttpSubject, measureMs: number): Promise<HttpSample> {
  const app = subject === 'bare' ? bare() : await framed()
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  let answered = 0
  app.server.on('request', () => answered++)
  const client = spawn(
    process.execPath,
    [join(import.meta.dirname, 'http-client.ts'), String(port), String(CONNECTIONS)],
    {
      stdio: ['ignore', 'inherit', 'inherit'],
    },
  )
  try {
    await until(() => answered >= WARM_UP)
    const [requests, cpu, wall] = [answered, cpuMs(), performance.now()]
    await until(() => cpuMs() - cpu >= measureMs)
    return { requests: answered - requests, cpuMs: cpuMs() - cpu, wallMs: performance.now() - wall }
  } finally {
    client.kill()
    await once(client, 'exit')
    app.server.closeAllConnections()
    await app.close()
  }
}

function bare(): FastifyInstance {
  const app = fastify()
  app.post('/api/tasks', { schema: { body: BODY } }, answer)
  return app
}

async function framed(): Promise<FastifyInstance> {
  const now = Date.now
  const keyPairs = new ApiKeys(recordsInMemory(), now)
  await keyPairs.add(PAIR)
  const service: HostedService = {
    name: 'tasks',
    description: '',
    routes: (app) => void app.post('/api/tasks', { schema: { body: BODY } }, answer),
    start: async () => {},
    stop: async () => {},
  }
  return createApp({
    services: [service],
    authentication: { checkPair: checkPairs(keyPairs, now), tokens: new Tokens(randomKey(), now), now },
    keeping: { storage: openMemory(), secret: randomKey(), now },
    metrics: new Metrics(),
    limits: { bodyBytes: 1_048_576, requestMs: 30_000, ratePerKey: 1_000_000 },
    probe: async () => [],
    warnings: () => [],
    close: async () => {},
    log: { level: 'info', stream: process.stderr },
  })
}

function answer({ body }: FastifyRequest, reply: FastifyReply): void {
  void reply.code(201).send({ ID: (body as { name: string }).name })
}

function recordsInMemory(): Records {
  const records = new Map<string, KeyRecord>()
  return {
    get: async (id) => {
      const value = records.get(id)
      return value && { id, version: 1, value }
    },
    ids: async () => [...records.keys()],
    put: async (id, value) => {
      records.set(id, value)
      return 1
    },
    delete: async (id) => records.delete(id),
  }
}

async function until(done: () => boolean): Promise<void> {
  while (!done()) await new Promise((resolve) => setTimeout(resolve, 5))
}
