import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { sampleHost } from './sample-host.ts'

/** Files that a page loads at first: what it names itself, and what these import statically. */
async function firstView(read: (path: string) => Promise<string>, page: string): Promise<ReadonlyMap<string, string>> {
  const files = new Map<string, string>()
  const add = async (path: string): Promise<void> => {
    if (files.has(path)) return
    const text = await read(path)
    files.set(path, text)
    for (const [, name = ''] of text.matchAll(/(?:from|import)\s*"\.\/([\w.-]+\.js)"/g)) await add(`assets/${name}`)
  }
  for (const [, path = ''] of page.matchAll(/(?:src|href)="\.\/(assets\/[\w.-]+)"/g)) await add(path)
  return files
}

const KB = 1_000

describe('the console of a host', () => {
  it('is served to browsers without credentials, under a strict policy', async () => {
    await using host = await sampleHost()
    for (const url of ['/console', '/console/', '/console/tasks/some-id?at=1']) {
      const page = await host.app.inject(url)
      expect([page.statusCode, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
      expect(page.headers['content-security-policy']).toMatch(
        /^default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; require-trusted-types-for 'script'/,
      )
      expect(page.headers['cache-control']).toBe('no-cache')
      expect(page.body).toContain('<base href="/console/" />')
      expect(page.body).not.toMatch(/<script>|<style|\sstyle=|https?:/)
    }
    const lost = await host.app.inject('/console/assets/nothing.js')
    expect([lost.statusCode, lost.json<{ code: string }>().code]).toEqual([404, 'NOT_FOUND'])
  })

  it('has a first view of at most 90 kB, and an editor of at most 200 kB, both zipped', async () => {
    await using host = await sampleHost()
    const page = await host.app.inject('/console/')
    const read = async (path: string) => (await host.app.inject(`/console/${path}`)).body
    const files = await firstView(read, page.body)
    const size = (names: readonly string[]) =>
      names.reduce((sum, name) => sum + gzipSync(files.get(name) ?? '').length, 0)
    expect(files.size).toBeGreaterThan(1)
    const [script = ''] = [...files.keys()].filter((name) => /index-.*\.js$/.test(name))
    const lazy = [...(files.get(script) ?? '').matchAll(/import\("?`?\.\/([\w.-]+\.js)/g)].map(
      ([, name = '']) => `assets/${name}`,
    )
    expect(lazy.length).toBeGreaterThan(7)
    const first = size([...files.keys()])
    const overview = await read(lazy.find((name) => name.includes('overview')) ?? '')
    expect(first + gzipSync(overview).length).toBeLessThan(90 * KB)
    const editor = await read(lazy.find((name) => name.includes('editor')) ?? '')
    expect(gzipSync(editor).length).toBeGreaterThan(50 * KB)
    expect(gzipSync(editor).length).toBeLessThan(200 * KB)
    const zipped = await host.app.inject({ url: `/console/${script}`, headers: { 'accept-encoding': 'gzip' } })
    expect(zipped.headers['content-encoding']).toBe('gzip')
    expect(zipped.rawPayload.length).toBeLessThan(gzipSync(files.get(script) ?? '').length + KB)
    expect(zipped.headers['cache-control']).toContain('immutable')
  })
})
