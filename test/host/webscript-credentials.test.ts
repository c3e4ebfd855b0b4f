/**
 * Tests which credentials a webscript of one tenant receives from another, on the API's origin and on a separate
 * origin.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { tarOf } from './function-host.ts'
import { basic } from './sample-host.ts'
import { wholeHost, type Body, type WholeHost } from './whole-host.ts'

const OWN = 'scripts.test:8443'
const CODE = `exports.handleRequest = (req, res) => {
  res.status(401).set('Set-Cookie', 'seen=1').set('WWW-Authenticate', 'Basic realm="reflexarc"').set('X-Own', 'yes')
  if (req.path === '/pieces') { res.write('in '); return res.end('pieces') }
  res.json({ authorization: req.get('authorization') ?? null, cookie: req.get('cookie') ?? null })
}`

let host: WholeHost
beforeAll(async () => {
  host = await wholeHost({ webscriptUrl: `https://${OWN}`, timeLimit: 600_000 })
  const manifest = { name: 'cred', version: '1.0.0', runtime: 'web-node24', private: false }
  const files = await tarOf({ 'webscript.json': JSON.stringify(manifest), 'index.js': CODE })
  const { status, body } = await host.ask('POST', '/registry/v2/webscripts?async=false', files, 'umbrella')
  if (status !== 201) throw new Error(`the webscript was not deployed: ${status} ${JSON.stringify(body)}`)
})
afterAll(() => host[Symbol.asyncDispose]())

const asked = (path: string, headers: Readonly<Record<string, string>>) => host.app.inject({ url: path, headers })
const onApi = { host: 'api.test' }
const onOwn = { host: OWN }

// Holds WEBSCRIPT-3
describe('a webscript of another tenant', () => {
  it.each([
    ['the API', onApi],
    ['webscripts', onOwn],
  ])('is not shown the pair of a client on the origin of %s', async (_, origin) => {
    for (const path of ['/api/v1/umbrella/cred', '/functions/v1/umbrella/cred']) {
      const answer = await asked(path, { ...origin, authorization: basic('acme', 's') })
      expect(answer.json()).toEqual({ authorization: null, cookie: null })
    }
  })

  it.each([
    ['reflexarc_session=secret', null],
    ['theme=dark; reflexarc_session=secret; reflexarc_sign_in=secret; a=1', 'theme=dark; a=1'],
    ['reflexarc_session=secret;theme=dark', 'theme=dark'],
    ['theme=dark', 'theme=dark'],
  ])('is not shown the session of a browser: %s', async (cookie, shown) => {
    for (const path of ['/api/v1/umbrella/cred', '/functions/v1/umbrella/cred']) {
      expect((await asked(path, { ...onApi, cookie })).json()).toMatchObject({ cookie: shown })
    }
  })
})

// Holds WEBSCRIPT-6
describe('an answer that requests credentials and stores a cookie', () => {
  const shownOf = async (path: string, origin: typeof onApi) => {
    const { statusCode, headers } = await asked(`/api/v1/umbrella/cred${path}`, origin)
    return [statusCode, headers['www-authenticate'], headers['set-cookie'], headers['x-own']]
  }

  it.each(['', '/pieces'])('does neither on the origin of the API, and the log reports it: %j', async (path) => {
    expect(await shownOf(path, onApi)).toEqual([401, undefined, undefined, 'yes'])
    const { body } = await host.ask('GET', '/api/v1/webscripts/logs/cred?level=warn&limit=2', undefined, 'umbrella')
    const { values } = body as { readonly values: readonly Body[] }
    expect(values.map(({ message }) => message)).toContainEqual(
      expect.stringMatching(/^set-cookie and www-authenticate removed from the answer: .*--webscript-url/),
    )
  })

  it.each(['', '/pieces'])('does both on the origin of webscripts: %j', async (path) => {
    expect(await shownOf(path, onOwn)).toEqual([401, 'Basic realm="reflexarc"', 'seen=1', 'yes'])
  })
})

describe('the origin of webscripts', () => {
  it.each(['/', '/api/tasks', '/api/nothing', '/docs/', '/health', '/metrics', '/api/v1/webscripts', '/registry/v2/'])(
    'has no %s',
    async (path) => {
      const answer = await asked(path, { ...onOwn, authorization: basic('acme', 's'), accept: 'text/html' })
      expect(answer.statusCode).toBe(404)
    },
  )

  it('has public objects, as the origin of the API has', async () => {
    for (const origin of [onOwn, onApi]) {
      const answer = await asked('/reflexarc-ws-public-umbrella/nothing.txt', origin)
      expect([answer.statusCode, answer.body]).toEqual([404, expect.stringContaining('<Code>NoSuch')])
    }
  })
})
