/** Tests parameters that a route does not read, and parameters that occur too often. */
import { fastify, type FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { AppError } from '../../../../src/kernel/errors.ts'
import { Text, Texts } from '../../../../src/services/shared/api/parameters.ts'
import { addRoutes, routesOf } from '../../../../src/services/shared/api/route.ts'

const from = Type.Optional(Text)
let app: FastifyInstance
let handled = 0
beforeAll(async () => {
  app = fastify()
  app.setErrorHandler((error, _request, reply) =>
    error instanceof AppError ? reply.code(error.status).send({ error: error.message }) : reply.code(500).send(error),
  )
  const route = routesOf<undefined>()
  const handler = (): string => `handled ${++handled}`
  const routes = (['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const).flatMap((method) => [
    route({
      method,
      path: '/named',
      scope: 'read',
      summary: 'names',
      query: { from, id: Type.Optional(Texts) },
      handler,
    }),
    route({
      method,
      path: '/tagged',
      scope: 'read',
      summary: 'others',
      query: { from },
      otherQuery: /^tags\../,
      handler,
    }),
    route({ method, path: '/none', scope: 'read', summary: 'nothing', handler }),
  ])
  await addRoutes(app, { as: () => undefined }, { tag: 'test', errors: Type.Object({}), routes })
  await app.ready()
})
afterAll(() => app.close())

type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

async function ask(method: Method, url: string, prefer?: string): Promise<readonly [number, unknown, unknown]> {
  const before = handled
  const { statusCode, headers, body } = await app.inject({ method, url, headers: { ...(prefer && { prefer }) } })
  if (statusCode !== 200) expect(handled).toBe(before)
  const { error } = (statusCode === 200 ? { error: 'handled' } : JSON.parse(body || '{}')) as {
    readonly error?: string
  }
  return [statusCode, error, headers['warning']]
}

describe('a parameter that the route does not read', () => {
  const unknown = 'the query: /untl <- is not a parameter of this request (write one of from, id)'

  it.each(['POST', 'PUT', 'PATCH', 'DELETE'] as const)(
    'is rejected for %s, before anything is done',
    async (method) => {
      expect(await ask(method, '/named?from=1&untl=2d')).toEqual([400, unknown, undefined])
    },
  )

  it('is named in a warning for a read', async () => {
    const warning = '299 - "untl is not a parameter of this request and was ignored"'
    expect(await ask('GET', '/named?from=1&untl=2d')).toEqual([200, 'handled', warning])
    expect((await ask('HEAD', '/named?untl=2d'))[2]).toBe(warning)
    const both = [warning, warning.replace('untl', 'lmit')].join(', ')
    expect(await ask('GET', '/named?untl=2d&lmit=3')).toEqual([200, 'handled', both])
  })

  it('cannot inject headers by the warning', async () => {
    const [, , warning] = await ask('GET', `/named?${encodeURIComponent('a"\r\nx: é')}=1`)
    expect(warning).toBe('299 - "a%22%0D%0Ax:%20%C3%A9 is not a parameter of this request and was ignored"')
    expect((await ask('GET', '/named?%ed%a0%80=1'))[0]).toBe(200)
  })

  it.each(['handling=strict', 'respond-async, Handling = "strict"; x=1', 'handling=strict,wait=5'])(
    'is rejected for a read with Prefer: %s',
    async (prefer) => {
      expect(await ask('GET', '/named?untl=2d', prefer)).toEqual([400, unknown, undefined])
      expect((await ask('GET', '/named?from=2d', prefer))[0]).toBe(200)
    },
  )

  it.each(['handling=lenient', 'nothandling=strict', 'handling=stricter'])(
    'is accepted with Prefer: %s',
    async (prefer) => {
      expect((await ask('GET', '/named?untl=2d', prefer))[0]).toBe(200)
    },
  )

  it('is any parameter, where a route has none', async () => {
    expect((await ask('POST', '/none?toString=1'))[1]).toBe(
      'the query: /toString <- is not a parameter of this request (it has no parameters)',
    )
    expect((await ask('POST', '/none'))[0]).toBe(200)
  })

  it('can be one of a family', async () => {
    expect(await ask('POST', '/tagged?tags.a=1&tags.a=2&tags.b=3')).toEqual([200, 'handled', undefined])
    expect((await ask('POST', '/tagged?tag.a=1'))[0]).toBe(400)
  })
})

describe('a parameter that occurs twice', () => {
  it.each(['GET', 'POST'] as const)('is rejected for %s', async (method) => {
    expect((await ask(method, '/named?from=1&from=2'))[1]).toBe('the query: /from <- was sent 2 times (send it once)')
  })

  it('can be a list', async () => {
    expect(await ask('GET', '/named?id=1&id=2')).toEqual([200, 'handled', undefined])
  })

  it('is reported with all the others', async () => {
    expect((await ask('POST', '/named?from=1&from=2&x=1'))[1]).toMatch(/^the query: \/x <- .*; \/from <- /)
  })
})
