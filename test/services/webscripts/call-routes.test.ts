import Fastify from 'fastify'
import { afterAll, describe, expect, it } from 'vitest'
import type { DeployedWebscript } from '../../../src/services/functions/contract.ts'
import { admit } from '../../../src/services/webscripts/admission.ts'
import type { ScriptRequest, WebscriptsService } from '../../../src/services/webscripts/contract.ts'
import { callRoutes } from '../../../src/services/webscripts/routes/call-routes.ts'

const app = Fastify()
const asked: ScriptRequest[] = []
const service: Partial<WebscriptsService> = {
  find: (address) => ({ tenant: 'acme', name: address.split('/')[1] ?? '', path: '/' }),
  choose: ({ name }) => ({ tenant: 'acme', name, isPrivate: name === 'private' }) as DeployedWebscript,
  admit: (script, shown) =>
    admit(script, ['s3cret'], shown, {
      checkPair: () => Promise.resolve(undefined),
      isToken: (token) => Promise.resolve(token === 'of-the-host'),
    }),
  call(_, request) {
    asked.push(request)
    return Promise.resolve({ requestId: '1', status: 200, headers: [], body: '' })
  },
}
callRoutes(app, { service: service as WebscriptsService })
afterAll(() => app.close())

async function handedOn(name: string, query: string, authorization?: string) {
  const answer = await app.inject({
    url: `/api/v1/acme/${name}${query}`,
    headers: { ...(authorization && { authorization }) },
  })
  expect(answer.statusCode).toBe(200)
  const { headers, query: seen } = asked.at(-1) as ScriptRequest
  return { authorization: headers.find(([key]) => key === 'authorization')?.[1], query: seen }
}

// Holds WEBSCRIPT-3
describe('credentials', () => {
  it.each([
    ['a token of the host', 'public', '', 'Bearer of-the-host', undefined],
    ['a token of the host, however it is written', 'public', '', 'bearer  of-the-host ', undefined],
    ['a token of somebody else', 'public', '', 'Bearer another', 'Bearer another'],
    ['what the webscript checks by itself', 'public', '', 'Basic a2V5OnNlY3JldA==', 'Basic a2V5OnNlY3JldA=='],
    ['its secret', 'private', '', 'hmac-sha256 s3cret', undefined],
  ])('%s', async (_, name, query, authorization, expected) => {
    expect((await handedOn(name, query, authorization)).authorization).toBe(expected)
  })

  it.each([
    ['?secret=s3cret&a=1', 'a=1'],
    ['?a=1&%73ecret=s3cret', 'a=1'],
    ['?secret=s3cret&secretary=2', 'secretary=2'],
  ])('of a private one in %s do not reach it', async (query, expected) => {
    expect((await handedOn('private', query)).query).toBe(expected)
  })
})
