import { describe, expect, it } from 'vitest'
import { sampleHost } from './sample-host.ts'

describe('the API page', () => {
  it('is public, and loads nothing from elsewhere', async () => {
    await using host = await sampleHost()
    const answer = await host.app.inject({ method: 'GET', url: '/docs' })
    const page = answer.statusCode === 302 ? await host.app.inject({ method: 'GET', url: '/docs/' }) : answer
    expect(page.statusCode).toBe(200)
    // a host without TLS serves nothing over https
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
