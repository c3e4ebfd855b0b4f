import { describe, expect, it } from 'vitest'
import { withoutSecrets } from '../../src/host/log.ts'
import { PAIR, sampleHost } from './sample-host.ts'

describe('the log', () => {
  it('has a JSON object a line, and at debug one for each request', async () => {
    await using host = await sampleHost()
    await host.ask({ method: 'GET', url: '/sample/things?a=1' })
    const lines = host.log.map((line) => JSON.parse(line) as Record<string, unknown>)
    expect(lines.find(({ msg }) => msg === 'answered')).toMatchObject({
      route: '/sample/things',
      statusCode: 200,
      tenant: 'one',
      req: { method: 'GET', url: '/sample/things?a=1' },
      reqId: expect.any(String) as unknown,
    })
  })

  it('at info does not log successful requests', async () => {
    await using host = await sampleHost({}, 'info')
    await host.ask({ method: 'GET', url: '/' })
    expect(host.log).toEqual([])
  })

  it('never contains credentials', async () => {
    await using host = await sampleHost({}, 'trace')
    const token = await host.tokens.issue({ tenant: 'one', subject: 'anna', lifetime: 60 })
    const url = `/sample/things?apiKey=${PAIR.key}&apiSecret=${PAIR.secret}`
    await host.app.inject({ method: 'GET', url, headers: { upgrade: 'websocket' } })
    await host.app.inject({ method: 'GET', url })
    await host.ask({ method: 'GET', url: '/sample/broken' })
    await host.app.inject({ method: 'GET', url: '/', headers: { authorization: `Bearer ${token}` } })
    host.app.log.info({ authorization: 'a-door', req2: { headers: { authorization: 'a-door', cookie: 'a-door' } } })
    host.app.log.info({ pair: { key: 'k', secret: 'a-door' }, secret: 'a-door', apiSecret: 'a-door' })
    const text = host.log.join('')
    expect(text).toContain('/sample/things')
    for (const secret of [PAIR.secret, btoa(`${PAIR.key}:${PAIR.secret}`), token, 'a-door']) {
      expect(text).not.toContain(secret)
    }
  })
})

describe('an address', () => {
  it.each([
    ['/a?apiKey=k&apiSecret=s', '/a?apiKey=[hidden]&apiSecret=[hidden]'],
    ['/a?x=1&APISECRET=s#f', '/a?x=1&APISECRET=[hidden]#f'],
    ['/a?X-Amz-Signature=abc&y=1', '/a?X-Amz-Signature=[hidden]&y=1'],
    ['/a?notapikey=1', '/a?notapikey=1'],
    ['/apiSecret=s', '/apiSecret=s'],
  ])('%s is logged as %s', (url, logged) => {
    expect(withoutSecrets(url)).toBe(logged)
  })
})
