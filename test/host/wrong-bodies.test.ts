/** Sends bytes that are not a valid body to every writing route: each must reject them, and never fail. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { JSON_TYPE, storyHost, type Answer, type StoryHost } from './api-story.ts'
import { printedRoutes } from './printed-routes.ts'

let host: StoryHost
beforeAll(async () => {
  host = await storyHost()
  await host.story.whole(host.operations)
})
afterAll(() => host.app.close())

/** Whether a response is unacceptable: a server error, or an error without JSON. */
const isFailure = ({ statusCode }: Answer): boolean => statusCode >= 500 && statusCode !== 501 && statusCode !== 503

const GZIP = Buffer.from('H4sIAAAAAAAAA', 'base64')
const BODIES: readonly (readonly [string, Buffer])[] = [
  [JSON_TYPE, Buffer.from('null')],
  [JSON_TYPE, Buffer.from('{"a":')],
  [JSON_TYPE, Buffer.from([0xff, 0xfe, 0])],
  ['text/plain', Buffer.from('x')],
  ['application/octet-stream', Buffer.from([0, 1, 2, 255])],
  ['application/gzip', GZIP],
  ['application/x-tar', Buffer.alloc(1024, 7)],
  ['application/zip', Buffer.from('PK\u0003\u0004')],
  ['application/x-www-form-urlencoded', Buffer.from('%zz=%')],
  ['multipart/form-data', Buffer.from('--x')],
  ['multipart/form-data; boundary=x', Buffer.from('--x\r\n\r\n')],
  ['application/x-ndjson', Buffer.from('{}\nnull\n{')],
  ['text/csv', Buffer.from('a,"b\n')],
]

describe('bytes that are not a body of the route', () => {
  it('fail none of the routes that the host has', async () => {
    const failed = new Map<string, string>()
    const routes = printedRoutes(host.app).filter(({ method }) => method !== 'GET')
    expect(routes.length).toBeGreaterThan(120)
    for (const { method, url } of routes) {
      for (const [type, payload] of BODIES) {
        const answer = await host.ask({ method, url, headers: { 'content-type': type }, payload })
        if (isFailure(answer)) failed.set(`${method} ${url} ${answer.statusCode} ${type}`, answer.body)
      }
    }
    expect(failed).toEqual(new Map())
  })
})
