/**
 * Tests what webscripts of another tenant, and pages of another origin, receive from a Chromium that is signed in to
 * the host as one tenant.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createClient, type Client } from '../../src/client.ts'
import { readConfig } from '../../src/host/config.ts'
import { compose } from '../../src/host/compose.ts'
import { createApp } from '../../src/host/app.ts'
import { SERVICES } from '../../src/host/wiring/service-table.ts'
import { freePort } from '../support/free-port.ts'
import { chromium, NO_CHROMIUM, openBrowser, type Browser, type Page } from './support/chromium.ts'

/** Requests credentials the way the API does, sets a cookie, and records what browsers send. */
const SPY = `const seen = []
exports.handleRequest = (req, res) => {
  if (req.path === '/seen') return res.json(seen)
  seen.push({ authorization: req.get('authorization') ?? null, cookie: req.get('cookie') ?? null })
  const status = req.path === '/asks' ? 401 : 200
  res.status(status).set('WWW-Authenticate', 'Basic realm="reflexarc", charset="UTF-8"').set('Set-Cookie', 'spy=1; Path=/')
  res.type('text/html').send('<p>' + status + '</p>')
}`

interface Seen {
  readonly authorization: string | null
  readonly cookie: string | null
}

const port = await freePort()
const MANIFEST = { name: 'planted', version: '1.0.0', runtime: 'web-node24', private: false }
/** Sends what a form on any page can send: the browser adds credentials if it has some. */
const UPLOAD = `(() => {
  const form = new FormData()
  form.append('webscript.json', new Blob([${JSON.stringify(JSON.stringify(MANIFEST))}]), 'webscript.json')
  form.append('index.js', new Blob(['exports.handleRequest = (req, res) => res.send("planted")']), 'index.js')
  const request = { method: 'POST', mode: 'no-cors', credentials: 'include', body: form }
  return fetch('http://127.0.0.1:${port}/registry/v2/webscripts', request).then(({ status }) => status)
})()`
/** A page that submits the same as a form, so that the browser navigates to the response. */
const FORM = `<form method="post" enctype="multipart/form-data" action="http://127.0.0.1:${port}/registry/v2/webscripts">
<input type="file" name="webscript.json"><input type="file" name="index.js"></form><script>
const files = { 'webscript.json': ${JSON.stringify(JSON.stringify(MANIFEST))}, 'index.js': 'exports.handleRequest = () => 1' }
for (const input of document.querySelectorAll('input')) {
  const list = new DataTransfer()
  list.items.add(new File([files[input.name]], input.name))
  input.files = list.files
}
</script>`
const api = `http://127.0.0.1:${port}`
const own = `http://localhost:${port}`
const credentials = (key: string) => ({ key, secret: `of-${key}` })
let stop: () => Promise<void>
let spy: Client

beforeAll(async () => {
  const given = { store: 'memory:', port, host: '127.0.0.1', empty: true, webscriptUrl: own }
  const composed = await compose(readConfig(given, {}, [...SERVICES.keys()]), { hashCost: 2 })
  for (const tenant of ['acme', 'umbrella']) await composed.keyPairs.add({ ...credentials(tenant), tenant })
  const app = await createApp({ ...composed, log: { level: 'silent', stream: { write: () => {} } } })
  await app.listen({ port, host: '127.0.0.1' })
  stop = () => app.close()
  spy = createClient({ url: api, credentials: credentials('umbrella') })
  const manifest = { name: 'spy', version: '1.0.0', runtime: 'web-node24', private: false }
  const files = { 'webscript.json': JSON.stringify(manifest), 'index.js': SPY }
  const assets = new Map(Object.entries(files).map(([path, text]) => [path, new TextEncoder().encode(text)]))
  const { job } = await spy.functions.webscripts.create(assets)
  await spy.functions.webscripts.jobs.finished(job?.id ?? '')
})
afterAll(() => stop())

async function withPage(program: string, work: (page: Page) => Promise<void>, ...flags: string[]): Promise<void> {
  const browser: Browser = await openBrowser(program, flags)
  try {
    await work(await browser.newPage())
  } finally {
    await browser.end()
  }
}

/** Signs in at the API page like a user: the browser is asked for a pair, and stores it for the origin. */
async function signIn(page: Page): Promise<void> {
  await page.open(`http://acme:of-acme@127.0.0.1:${port}/api/tasks`)
  await page.open(`${api}/docs/`)
  expect(await page.evaluate(`fetch('/api/tasks').then(({ status }) => status)`)).toBe(200)
}

const seenSince = async (count: number): Promise<readonly Seen[]> => {
  const seen = (await (await fetch(`${api}/api/v1/umbrella/spy/seen`)).json()) as readonly Seen[]
  return seen.slice(count)
}

describe('a browser that is signed in as one tenant', () => {
  // Holds WEBSCRIPT-3, WEBSCRIPT-6
  it('shows a public webscript of another tenant neither its pair nor a cookie', async ({ skip }) => {
    if (chromium === undefined) return skip(NO_CHROMIUM)
    await withPage(chromium, async (page) => {
      const before = (await seenSince(0)).length
      await signIn(page)
      for (const path of ['/umbrella/spy/x', '/umbrella/spy/asks', '/umbrella/spy/x']) {
        await page.evaluate(`fetch('/api/v1${path}', { credentials: 'include' }).then(({ status }) => status)`)
      }
      const nothing = { authorization: null, cookie: null }
      expect(await seenSince(before)).toEqual([nothing, nothing, nothing])
      await page.open(`${api}/api/v1/umbrella/spy/asks`)
      await page.open(`${api}/functions/v1/umbrella/spy/x`)
      expect((await seenSince(before)).slice(3)).toEqual([nothing, nothing])
    })
    const { values } = await spy.webscripts.log('spy', { level: 'warn' })
    expect(values.map(({ message }) => message)).toContainEqual(
      expect.stringMatching(/^www-authenticate and set-cookie/),
    )
  })

  it('sends nothing of the API to the origin of webscripts, which may have cookies of its own', async ({ skip }) => {
    if (chromium === undefined) return skip(NO_CHROMIUM)
    await withPage(chromium, async (page) => {
      await signIn(page)
      const before = (await seenSince(0)).length
      await page.open(`${own}/api/v1/umbrella/spy/x`)
      await page.open(`${own}/api/v1/umbrella/spy/x`)
      expect(await seenSince(before)).toEqual([
        { authorization: null, cookie: null },
        { authorization: null, cookie: 'spy=1' },
      ])
      await page.open(`${own}/api/tasks`)
      expect(await page.evaluate('document.body.innerText')).toContain('This origin serves only webscripts')
      await page.open(`${api}/api/v1/umbrella/spy/x`)
      expect((await seenSince(before)).at(-1)).toEqual({ authorization: null, cookie: null })
    })
  })

  it('writes nothing from a page of another origin, and writes from a page of the host', async ({ skip }) => {
    if (chromium === undefined) return skip(NO_CHROMIUM)
    const evil = createServer((_request, response) => response.setHeader('content-type', 'text/html').end(FORM))
    evil.listen(0, '127.0.0.1')
    await once(evil, 'listening')
    const { port: evilPort } = evil.address() as AddressInfo
    const acme = createClient({ url: api, credentials: credentials('acme') })
    const uploaded = async () => (await acme.functions.webscripts.list({})).entities.map(({ name }) => name)
    try {
      await withPage(chromium, async (page) => {
        await signIn(page)
        await page.open(`http://localhost:${evilPort}/`)
        await page.evaluate(UPLOAD)
        await page.evaluate('document.forms[0].submit()')
        await expect.poll(() => page.evaluate('location.port')).toBe(`${port}`)
        await expect.poll(() => page.evaluate('document.body.innerText')).toMatch(/another origin|webscript/)
        expect(await uploaded()).toEqual([])
        await page.open(`${api}/docs/`)
        expect(await page.evaluate(UPLOAD)).toBe(202)
        expect(await uploaded()).toEqual(['planted'])
      })
    } finally {
      evil.close()
      evil.closeAllConnections()
    }
  })
})

it('the page of the API is there for a browser that opens it by a name without TLS', async ({ skip }) => {
  if (chromium === undefined) return skip(NO_CHROMIUM)
  await withPage(
    chromium,
    async (page) => {
      await page.open(`http://iot.test:${port}/docs/`)
      const text = () => page.evaluate(`document.querySelector('.swagger-ui .info')?.innerText ?? ''`)
      await expect.poll(text, { timeout: 60_000 }).toContain('Reflexarc')
    },
    '--host-resolver-rules=MAP iot.test 127.0.0.1',
  )
})
