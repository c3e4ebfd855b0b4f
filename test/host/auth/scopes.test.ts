/**
 * What keys of each scope may do, as an outsider finds it: every route with a key of every scope. The file of the
 * scopes is an independent record; `vitest -u` writes it.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SCOPES, type Scope } from '../../../src/kernel/rights.ts'
import { printedRoutes } from '../printed-routes.ts'
import { basic } from '../sample-host.ts'
import { wholeHost, type WholeHost } from '../whole-host.ts'

interface Pair {
  readonly key: string
  readonly secret: string
}

let host: WholeHost
const pairs = new Map<Scope, Pair>()
beforeAll(async () => {
  host = await wholeHost({ rateLimit: '0' })
  for (const scope of SCOPES) {
    const body = scope === 'provision' ? { provisioning: true } : { scopes: [scope] }
    pairs.set(scope, await host.done<Pair>('POST', '/auth/v1/keys', body))
  }
})
afterAll(() => host[Symbol.asyncDispose]())

/** Parameters that no route knows, so that a route that is open answers without an effect. */
const STRICT = { prefer: 'handling=strict', 'content-type': 'application/json' }

async function isOpenTo(scope: Scope, { method, url }: ReturnType<typeof printedRoutes>[number]): Promise<boolean> {
  const { key, secret } = pairs.get(scope) ?? { key: '', secret: '' }
  const headers = { ...STRICT, authorization: basic(key, secret) }
  const payload = method === 'GET' || method === 'DELETE' ? {} : { payload: '{}' }
  const { statusCode, body } = await host.app.inject({ method, url: `${url}?zzz=1`, headers, ...payload })
  const isRefused = statusCode === 403 && body.includes('The scope ')
  if (isRefused) expect(body, `${method} ${url}`).toMatch(/The scope [a-z]+(?: or device)? is missing/)
  return !isRefused
}

describe('every route', () => {
  it('is open to the scopes of the file, and no others', async () => {
    const lines: string[] = []
    for (const route of printedRoutes(host.app)) {
      const stranger = await host.app.inject({ method: route.method, url: route.url })
      const open: string[] = []
      for (const scope of SCOPES) if (await isOpenTo(scope, route)) open.push(scope)
      const isPublic = stranger.statusCode !== 401
      lines.push(`${route.method} ${route.url}: ${isPublic ? 'all, without a key' : open.join(' ')}`)
    }
    await expect(`${lines.toSorted().join('\n')}\n`).toMatchFileSnapshot('../../freeze/golden/scopes.txt')
  })
})
