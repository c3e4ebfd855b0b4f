/** Every route of every service holds the names of its parameters against those that it reads. */
import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApp } from '../../src/host/app.ts'
import { compose } from '../../src/host/compose.ts'
import { readConfig } from '../../src/host/config.ts'
import { SERVICES } from '../../src/host/wiring/service-table.ts'
import { printedRoutes } from './printed-routes.ts'
import { basic } from './sample-host.ts'

let app: FastifyInstance
beforeAll(async () => {
  const config = readConfig({ store: 'memory:', empty: true }, {}, [...SERVICES.keys()])
  const composed = await compose(config, { services: SERVICES, hashCost: 2 })
  await composed.keyPairs.add({ key: 'a', secret: 's', tenant: 'acme' })
  app = await createApp({ ...composed, log: { level: 'silent', stream: { write: () => {} } } })
})
afterAll(() => app.close())

const headers = { authorization: basic('a', 's') }
/** reads of the frame, and the one whose parameters are names of properties */
const EXCEPT = /^\/(?:docs|health|metrics|$)|^\/alarm\/alarms$/
/** calls of webscripts, whose parameters are the script's own */
const CALLS = /^\/(?:api|functions)\/v1\/one(?:\/|$)/
/** contents of objects, to whose addresses each client of S3 adds what it likes: a signature covers all of it */
const CONTENTS = /^\/reflexarc-ws-/
/** paths of the storage API, which says 422 of what is not valid */
const STORAGE = /^\/(?:storage|bucket|subscription)(?:\/|$)/

describe('a misspelt parameter', () => {
  it('is refused by everything that writes, and by reads that are to be strict', async () => {
    const routes = printedRoutes(app)
      .filter(({ method, url }) => method !== 'GET' || !EXCEPT.test(url))
      .filter(({ url }) => !CALLS.test(url) && !CONTENTS.test(url))
    expect(routes.length).toBeGreaterThan(80)
    for (const { method, url } of routes) {
      const prefer = method === 'GET' ? { prefer: 'handling=strict' } : {}
      const payload = method === 'GET' || method === 'DELETE' ? {} : { payload: {} }
      const answer = await app.inject({
        method,
        url: `${url}?stroe=false`,
        headers: { ...headers, ...prefer },
        ...payload,
      })
      expect([method, url, answer.statusCode]).toEqual([method, url, STORAGE.test(url) ? 422 : 400])
      expect(answer.body).toContain('/stroe <- is no parameter of this request')
    }
  })

  it('changes nothing: a post is not stored, a series not forgotten', async () => {
    const post = (url: string) => app.inject({ method: 'POST', url, headers, payload: { t: 1 } })
    expect((await post('/resources/r/events?stroe=false')).statusCode).toBe(400)
    expect((await app.inject({ url: '/resources/r/messages', headers })).json()).toEqual([])
    expect((await post('/resources/r/events')).statusCode).toBe(200)
    expect((await app.inject({ method: 'DELETE', url: '/resources/r?untl=2d', headers })).statusCode).toBe(400)
    expect((await app.inject({ url: '/resources/r/messages', headers })).json()).toHaveLength(1)
  })

  it('of a read is named in a header', async () => {
    const answer = await app.inject({ url: '/resources/r/series/t?fron=2d', headers })
    expect([answer.statusCode, answer.headers['warning']]).toEqual([
      200,
      '299 - "fron is no parameter of this request and was not read"',
    ])
  })
})
