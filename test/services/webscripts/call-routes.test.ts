import { Readable } from 'node:stream'
import Fastify from 'fastify'
import { afterAll, describe, expect, it } from 'vitest'
import { AppError } from '../../../src/kernel/errors.ts'
import type { DeployedWebscript } from '../../../src/services/functions/contract.ts'
import { admit, type AdmissionOptions } from '../../../src/services/webscripts/admission.ts'
import type { InternalWebscripts, ScriptRequest } from '../../../src/services/webscripts/contract.ts'
import { callRoutes } from '../../../src/services/webscripts/call-routes.ts'

const app = Fastify()
const asked: ScriptRequest[] = []
const admission: AdmissionOptions = {
  checkPair: (key) => Promise.resolve(key === 'acme' ? { tenant: 'acme' } : undefined),
  isToken: (token) => Promise.resolve(token === 'of-the-host'),
}
const serviceOf = (tenant: string): Partial<InternalWebscripts> => ({
  has: (name) => ['public', 'private', 'one'].includes(name),
  nameOf: (id) => (id === 'the-id' ? 'public' : undefined),
  choose: (name) => ({ tenant, name, isPrivate: name === 'private' }) as DeployedWebscript,
  authenticate: (script, shown) => admit(script, ['s3cret'], shown, admission),
  admit: () => {
    if (tenant === 'busy') throw new AppError('RATE_LIMITED', 'go on in 7 s', { cause: 7 })
  },
  call(_, request) {
    asked.push(request)
    return Promise.resolve({ status: 200, headers: [], body: '' })
  },
})
const find = (tenant: string) => serviceOf(tenant) as InternalWebscripts
callRoutes(app, { ...admission, find, all: () => [find('acme')] })
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

describe('an address', () => {
  it.each([
    ['the-id', 200, '/'],
    ['the-id/a/%62?c=d', 200, '/a/%62'],
    ['acme/public', 200, '/'],
    ['acme/p%75blic//a/', 200, '//a/'],
    ['acme/none', 404, undefined],
    ['acme', 404, undefined],
    ['other-id', 404, undefined],
  ])('%s', async (address, status, path) => {
    const before = asked.length
    const answer = await app.inject({ url: `/api/v1/${address}` })
    expect([answer.statusCode, asked.length > before ? asked.at(-1)?.path : undefined]).toEqual([status, path])
  })
})

describe('a tenant that calls too much', () => {
  it('is rejected before the body is read, with the time to retry', async () => {
    let read = 0
    const body = new Readable({
      read() {
        read++
        this.push(null)
      },
    })
    const headers = { 'content-type': 'text/plain', 'content-length': '5' }
    const answer = await app.inject({ method: 'POST', url: '/api/v1/busy/one', headers, payload: body })
    expect([answer.statusCode, answer.headers['retry-after'], read]).toEqual([429, '7', 0])
  })

  it('is not reported to unauthorized callers', async () => {
    expect((await app.inject({ url: '/api/v1/busy/private' })).statusCode).toBe(401)
  })
})

// Holds WEBSCRIPT-3
describe('a page of another origin', () => {
  const called = async (
    method: 'GET' | 'POST',
    name: string,
    authorization: string,
    origin = 'https://evil.example',
  ) => {
    const headers = { host: 'iot.example', origin, authorization }
    return (await app.inject({ method, url: `/api/v1/acme/${name}`, headers })).statusCode
  }
  const pair = `Basic ${Buffer.from('acme:s').toString('base64')}`

  it('cannot write with credentials that a browser attaches', async () => {
    expect(await called('POST', 'private', pair)).toBe(403)
    expect(await called('POST', 'private', pair, 'null')).toBe(403)
    expect(await called('POST', 'private', pair, 'https://iot.example')).toBe(200)
    expect(await called('GET', 'private', pair)).toBe(200)
  })

  it('can use credentials that browsers do not attach', async () => {
    expect(await called('POST', 'private', 'hmac-sha256 s3cret')).toBe(200)
    expect(await called('POST', 'public', pair)).toBe(200)
  })
})

describe('credentials', () => {
  it.each([
    ['a token of the host', 'public', '', 'Bearer of-the-host', undefined],
    ['a token of the host, however it is written', 'public', '', 'bearer  of-the-host ', undefined],
    ['a token of another issuer', 'public', '', 'Bearer another', 'Bearer another'],
    ['credentials that the webscript checks itself', 'public', '', 'Basic a2V5OnNlY3JldA==', 'Basic a2V5OnNlY3JldA=='],
    ['its secret', 'private', '', 'hmac-sha256 s3cret', undefined],
  ])('%s', async (_, name, query, authorization, expected) => {
    expect((await handedOn(name, query, authorization)).authorization).toBe(expected)
  })

  it('are not passed on in a second header, which was not checked', async () => {
    const headers = { authorization: ['Bearer another', 'Bearer of-the-host'] }
    await app.inject({ url: '/api/v1/acme/public', headers: headers as unknown as Record<string, string> })
    const shown = asked.at(-1)?.headers.filter(([name]) => name === 'authorization')
    expect(shown).toEqual([['authorization', 'Bearer another']])
  })

  it.each([
    ['?secret=s3cret&a=1', 'a=1'],
    ['?a=1&%73ecret=s3cret', 'a=1'],
    ['?secret=s3cret&secretary=2', 'secretary=2'],
  ])('of a private webscript in %s are not passed on', async (query, expected) => {
    expect((await handedOn('private', query)).query).toBe(expected)
  })
})
