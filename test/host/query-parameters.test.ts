/** Parameters that no route reads; which routes refuse them stands in test/freeze/golden/routes.txt. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { wholeHost, type WholeHost } from './whole-host.ts'

let host: WholeHost
beforeAll(async () => {
  host = await wholeHost({ empty: true })
})
afterAll(() => host[Symbol.asyncDispose]())

describe('a misspelt parameter', () => {
  it('changes nothing: a post is not stored, a series not forgotten', async () => {
    const post = (url: string) => host.send('POST', url, { t: 1 })
    expect((await post('/resources/r/events?stroe=false')).statusCode).toBe(400)
    expect((await host.send('GET', '/resources/r/messages')).json()).toEqual([])
    expect((await post('/resources/r/events')).statusCode).toBe(200)
    expect((await host.send('DELETE', '/resources/r?untl=2d')).statusCode).toBe(400)
    expect((await host.send('GET', '/resources/r/messages')).json()).toHaveLength(1)
  })

  it('of a read is named in a header', async () => {
    const answer = await host.send('GET', '/resources/r/series/t?fron=2d')
    expect([answer.statusCode, answer.headers['warning']]).toEqual([
      200,
      '299 - "fron is no parameter of this request and was not read"',
    ])
  })
})
