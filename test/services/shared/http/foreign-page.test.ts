import { describe, expect, it } from 'vitest'
import { foreignPage, mayBeAttached } from '../../../../src/services/shared/http/foreign-page.ts'

const host = 'iot.example'
const evil = 'https://evil.example'
const pageOf = (method: string, headers: Readonly<Record<string, string>>, ownUrl?: string) =>
  foreignPage({ method, headers, host }, ownUrl)

describe('a write', () => {
  it.each<[string, Readonly<Record<string, string>>, string | undefined]>([
    ['a program', {}, undefined],
    ['a page of this origin', { origin: 'https://iot.example', 'sec-fetch-site': 'same-origin' }, undefined],
    ['such a page without TLS, which reports its origin alone', { origin: 'http://iot.example' }, undefined],
    ['such a page behind a proxy with another Host', { origin: evil, 'sec-fetch-site': 'same-origin' }, undefined],
    ['its address typed in', { 'sec-fetch-site': 'none' }, undefined],
    ['another site', { origin: evil, 'sec-fetch-site': 'cross-site' }, evil],
    [
      'another name of the same site',
      { origin: 'https://a.iot.example', 'sec-fetch-site': 'same-site' },
      'https://a.iot.example',
    ],
    ['a page that hides its origin', { 'sec-fetch-site': 'cross-site' }, 'cross-site'],
    ['another site, by an older browser', { origin: evil }, evil],
    ['another port', { origin: 'http://iot.example:81' }, 'http://iot.example:81'],
    ['a sandboxed page', { origin: 'null' }, 'null'],
    ['a sandboxed page of this origin', { origin: 'null', 'sec-fetch-site': 'same-origin' }, 'null'],
    ['a malformed origin', { origin: 'x' }, 'x'],
    ['another site that claims nothing of it', { origin: evil, 'sec-fetch-site': 'none' }, evil],
  ])('by %s is attributed to the page %j', (_, headers, page) => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'COPY']) expect(pageOf(method, headers)).toBe(page)
    expect(pageOf('GET', { ...headers, upgrade: 'websocket' }), 'a socket').toBe(page)
    for (const method of ['GET', 'HEAD', 'OPTIONS']) expect(pageOf(method, headers), method).toBeUndefined()
  })

  it('of a page at the external address of the host is same-origin', () => {
    const url = 'https://public.example/iot'
    expect(pageOf('POST', { origin: 'https://public.example' }, url)).toBeUndefined()
    expect(pageOf('POST', { origin: 'https://public.example:444' }, url)).toBe('https://public.example:444')
  })
})

it('a browser attaches basic credentials, and not tokens', () => {
  expect(mayBeAttached('basic eDp5')).toBe(true)
  for (const other of ['Bearer x', 'hmac-sha256 x', undefined]) expect(mayBeAttached(other)).toBe(false)
})
