/** Whole host on SQLite in this process, as by `serve` without its command line. */
import type { FastifyInstance } from 'fastify'
import { createApp } from '../../../src/host/app.ts'
import { compose } from '../../../src/host/compose.ts'
import { readConfig } from '../../../src/host/config.ts'
import { SERVICES } from '../../../src/host/wiring/service-table.ts'
import { keepHeapSteady } from '../../../src/host/steady-heap.ts'

const PAIR = `Basic ${Buffer.from('bench:bench').toString('base64')}`

export async function openHost(folder: string, services = SERVICES): Promise<FastifyInstance> {
  keepHeapSteady()
  const options = { data: folder, empty: true, rateLimit: 0, key: 'bench', secret: 'bench' }
  const composed = await compose(readConfig(options, {}, [...services.keys()]), { services, hashCost: 2 })
  await composed.keyPairs.add({ key: 'bench', secret: 'bench', tenant: 'default' })
  return createApp({ ...composed, log: { level: 'error', stream: process.stderr } })
}

/** Posts to a host without a socket; throws on an error status. */
export function posting(app: FastifyInstance): (url: string, payload: object) => Promise<void> {
  return async (url, payload) => {
    const { statusCode, body } = await app.inject({ method: 'POST', url, headers: { authorization: PAIR }, payload })
    if (statusCode >= 300) throw new Error(`${url} was answered with ${statusCode}: ${body}`)
  }
}
