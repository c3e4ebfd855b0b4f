import { describe, expect, it } from 'vitest'
import { sampleHost } from './sample-host.ts'

interface Described {
  openapi: string
  paths: Record<string, Record<string, unknown>>
  tags: { name: string }[]
  security: object[]
  components: { securitySchemes: object; schemas: Record<string, unknown> }
}

describe('the API page', () => {
  it('describes every route that is not about itself, as OpenAPI 3.1', async () => {
    await using host = await sampleHost()
    const answer = await host.app.inject({ method: 'GET', url: '/docs/json' })
    const described = answer.json<Described>()
    expect(described.openapi).toBe('3.1.0')
    expect(Object.keys(described.paths)).toEqual(expect.arrayContaining(['/', '/health', '/sample/of/{tenant}']))
    expect(Object.keys(described.paths).filter((path) => /docs|metrics/.test(path))).toEqual([])
    expect(described.paths['/sample/things']?.['post']).toMatchObject({
      tags: ['sample'],
      operationId: 'postSampleThings',
      requestBody: {
        content: { 'application/json': { schema: { $ref: '#/components/schemas/PostSampleThingsBody' } } },
      },
    })
    expect(described.components.schemas['PostSampleThingsBody']).toMatchObject({ required: ['name'] })
    expect(described.paths['/health']?.['get']).toMatchObject({ security: [] })
    expect(described.tags.map(({ name }) => name)).toEqual(['sample', 'host'])
    expect(described.security).toEqual([{ pair: [] }, { token: [] }])
    expect(Object.keys(described.components.securitySchemes)).toEqual(['pair', 'token'])
  })

  it('can be read by anybody, with nothing from elsewhere', async () => {
    await using host = await sampleHost()
    const answer = await host.app.inject({ method: 'GET', url: '/docs' })
    const page = answer.statusCode === 302 ? await host.app.inject({ method: 'GET', url: '/docs/' }) : answer
    expect(page.statusCode).toBe(200)
    // a host without TLS has nothing at https
    expect(page.headers['content-security-policy']).toMatch(/^default-src 'self'(?!.*upgrade-insecure-requests)/)
    expect(page.body).toContain('<title>Reflexarc API</title>')
    expect((await host.app.inject('/docs/static/theme/icon.svg')).body).toContain('>Reflexarc</text>')
    const links = [...page.body.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1] ?? '')
    expect(links.length).toBeGreaterThan(3)
    expect(links.filter((link) => /^(?:\w+:)?\/\//.test(link))).toEqual([])
    for (const link of links) {
      const { pathname } = new URL(link, 'http://host/docs/')
      expect((await host.app.inject({ method: 'GET', url: pathname })).statusCode, link).toBe(200)
    }
  })
})
