/** A host in memory with all services and two tenants, without a socket. */
import type { InjectOptions } from 'fastify'
import { createApp } from '../../src/host/app.ts'
import { compose, type Making } from '../../src/host/compose.ts'
import { readConfig, type Given } from '../../src/host/config.ts'
import { SERVICES } from '../../src/host/wiring/service-table.ts'
import { basic } from './sample-host.ts'

export type Body = Record<string, unknown>
export type WholeHost = Awaited<ReturnType<typeof wholeHost>>

/** Keys: acme and umbrella of tenants of these names, and bob of acme; the secret of each is s. */
export async function wholeHost(given: Given = {}, making: Making = {}) {
  const services = making.services ?? SERVICES
  const composed = await compose(readConfig({ store: 'memory:', ...given }, {}, [...services.keys()]), {
    hashCost: 2,
    ...making,
  })
  for (const tenant of ['acme', 'umbrella']) await composed.keyPairs.add({ key: tenant, secret: 's', tenant })
  await composed.keyPairs.add({ key: 'bob', secret: 's', tenant: 'acme' })
  const app = await createApp({ ...composed, log: { level: 'silent', stream: { write: () => {} } } })
  const send = (
    method: InjectOptions['method'],
    url: string,
    payload?: object | Buffer,
    key = 'acme',
    contentType = 'application/x-tar',
  ) => {
    const type = Buffer.isBuffer(payload) ? { 'content-type': contentType } : {}
    const headers = { authorization: basic(key, 's'), ...type }
    return app.inject({ method: method ?? 'GET', url, headers, ...(payload && { payload }) })
  }
  const ask = async (...request: Parameters<typeof send>) => {
    const answer = await send(...request)
    return { status: answer.statusCode, body: answer.json<Body>() }
  }
  /** The answer of a request that has to succeed. */
  const done = async <T = unknown>(...request: Parameters<typeof send>): Promise<T> => {
    const { statusCode, body } = await send(...request)
    if (statusCode >= 300) throw new Error(`${request[0]} ${request[1]} was answered with ${statusCode}: ${body}`)
    return JSON.parse(body) as T
  }
  return { app, ask, send, done, [Symbol.asyncDispose]: () => app.close() }
}
