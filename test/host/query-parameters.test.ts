/** Parameters that no route reads; which routes refuse them stands in test/freeze/golden/routes.txt. */
import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApp } from '../../src/host/app.ts'
import { compose } from '../../src/host/compose.ts'
import { readConfig } from '../../src/host/config.ts'
import { SERVICES } from '../../src/host/wiring/service-table.ts'
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

describe('a misspelt parameter', () => {
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
