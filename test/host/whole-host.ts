/** Creates a host with all services and two tenants, without a socket, and in memory unless a folder is given. */
import type { InjectOptions } from 'fastify'
import { createApp } from '../../src/host/app.ts'
import { compose, type HostOverrides } from '../../src/host/compose.ts'
import { readConfig, type Given } from '../../src/host/config.ts'
import { SERVICES } from '../../src/host/wiring/service-table.ts'
import { basic } from './sample-host.ts'

export type Body = Record<string, unknown>
export type WholeHost = Awaited<ReturnType<typeof wholeHost>>

/** Keys: acme and umbrella belong to the tenants of the same names, and bob to acme; every secret is s. */
export async function wholeHost(given: Given = {}, making: HostOverrides = {}) {
  const services = making.services ?? SERVICES
  const where = given.data === undefined && { store: 'memory:' }
  const config = readConfig({ ...where, ...given }, {}, [...services.keys()])
  const composed = await compose(config, { hashCost: 2, ...making })
  if ((await composed.keyPairs.list()).length === 0) {
    for (const tenant of ['acme', 'umbrella']) await composed.keyPairs.add({ key: tenant, secret: 's', tenant })
    await composed.keyPairs.add({ key: 'bob', secret: 's', tenant: 'acme' })
  }
  const log: string[] = []
  const stream = { write: (line: string) => void log.push(line) }
  const app = await createApp({ ...composed, log: { level: 'warn', stream } })
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
  /** Returns the response to a request that must succeed. */
  const done = async <T = unknown>(...request: Parameters<typeof send>): Promise<T> => {
    const { statusCode, body } = await send(...request)
    if (statusCode >= 300) throw new Error(`${request[0]} ${request[1]} was answered with ${statusCode}: ${body}`)
    return JSON.parse(body) as T
  }
  /** Returns the lines of `GET /metrics` that Reflexarc itself defines. */
  const figures = async (): Promise<readonly string[]> =>
    (await app.inject({ url: '/metrics' })).body.split('\n').filter((line) => line.startsWith('reflexarc_'))
  const { tokens } = composed.authentication
  return { app, log, ask, send, done, figures, tokens, [Symbol.asyncDispose]: () => app.close() }
}
