// Holds OBJECT-5
import { request as httpRequest } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ObjectRecord } from '../../../src/services/objects/contract.ts'
import { AppError } from '../../../src/kernel/errors.ts'
import { codeOf, contentApp, type ContentApp } from './content-app.ts'
import { bytes, otherwise, pathsIn, START, textOf } from './support.ts'

let content: ContentApp
beforeAll(async () => {
  content = await contentApp()
})
afterAll(() => content.close())

const put = (path: string, body: string, headers: Record<string, string> = {}, options: object = {}) =>
  content.ask('PUT', path, { body, headers }, options)

describe('a signed address', () => {
  it('writes a content and reads it back, with its MD5, type and metadata', async () => {
    const written = await put('a/ü b+c.txt', 'abc', { 'content-type': 'text/plain' })
    expect([written.status, written.headers.get('etag'), await written.text()]).toEqual([
      200,
      '"900150983cd24fb0d6963f7d28e17f72"',
      '',
    ])
    const read = await content.ask('GET', 'a/ü b+c.txt')
    expect([read.status, await read.text()]).toEqual([200, 'abc'])
    expect(Object.fromEntries(read.headers)).toMatchObject({
      'content-type': 'text/plain',
      'content-length': '3',
      etag: '"900150983cd24fb0d6963f7d28e17f72"',
      'last-modified': new Date(START).toUTCString(),
      'accept-ranges': 'bytes',
      'access-control-allow-origin': '*',
      'x-content-type-options': 'nosniff',
      'content-security-policy': expect.stringContaining('sandbox') as string,
    })
    expect((await put('empty', '', { 'content-type': 'text/csv' })).status).toBe(200)
    const { headers } = await content.ask('GET', 'empty')
    expect([headers.get('content-length'), headers.get('content-type')]).toEqual(['0', 'text/csv'])
  })

  it('returns ranges of a content', async () => {
    await put('digits', '0123456789')
    for (const [range, status, text, told] of [
      ['bytes=2-4', 206, '234', 'bytes 2-4/10'],
      ['bytes=7-', 206, '789', 'bytes 7-9/10'],
      ['bytes=-3', 206, '789', 'bytes 7-9/10'],
      ['bytes=5-99', 206, '56789', 'bytes 5-9/10'],
      ['bytes=-99', 206, '0123456789', 'bytes 0-9/10'],
      ['bytes=4-2', 200, '0123456789', null],
      ['bytes=0-1,3-4', 200, '0123456789', null],
      ['lines=1', 200, '0123456789', null],
    ] as const) {
      const read = await content.ask('GET', 'digits', { headers: { range } })
      expect([range, read.status, await read.text(), read.headers.get('content-range')]).toEqual([
        range,
        status,
        text,
        told,
      ])
    }
    const behind = await content.ask('GET', 'digits', { headers: { range: 'bytes=10-' } })
    expect([behind.headers.get('content-range'), ...(await codeOf(behind))]).toEqual([
      'bytes */10',
      416,
      'InvalidRange',
    ])
  })

  it('returns 304 for known contents, and 412 for failed conditions', async () => {
    await put('known', 'abc')
    const etag = '"900150983cd24fb0d6963f7d28e17f72"'
    const [before, at] = [new Date(START - 60_000).toUTCString(), new Date(START).toUTCString()]
    for (const [headers, status] of [
      [{ 'if-none-match': etag }, 304],
      [{ 'if-none-match': '*' }, 304],
      [{ 'if-none-match': '"x"' }, 200],
      [{ 'if-none-match': '"x"', 'if-modified-since': at }, 200],
      [{ 'if-modified-since': at }, 304],
      [{ 'if-modified-since': before }, 200],
      [{ 'if-match': etag }, 200],
      [{ 'if-match': '"x"' }, 412],
      [{ 'if-unmodified-since': before }, 412],
      [{ 'if-unmodified-since': at }, 200],
      [{ range: 'bytes=0-0', 'if-range': '"x"' }, 200],
      [{ range: 'bytes=0-0', 'if-range': etag }, 206],
    ] as const) {
      const read = await content.ask('GET', 'known', { headers })
      await read.arrayBuffer()
      expect([headers, read.status]).toEqual([headers, status])
    }
  })

  it('of a write applies every condition of the request', async () => {
    const [x, y] = ['"9dd4e461268c8034f5c8564e155c67a6"', '"415290769594460e2e485922904f345d"']
    const [before, at] = [new Date(START - 60_000).toUTCString(), new Date(START).toUTCString()]
    for (const [headers, status] of [
      [{ 'if-match': y }, 412],
      [{ 'if-match': x }, 200],
      [{ 'if-match': 'nonsense' }, 412],
      [{ 'if-match': `W/${x}` }, 412],
      [{ 'if-match': '*' }, 200],
      [{ 'if-none-match': x }, 412],
      [{ 'if-none-match': '*' }, 412],
      [{ 'if-none-match': y }, 200],
      [{ 'if-unmodified-since': before }, 412],
      [{ 'if-unmodified-since': at }, 200],
      [{ 'if-match': x, 'if-unmodified-since': before }, 200],
      [{ 'if-match': x, 'if-none-match': x }, 412],
    ] as const) {
      await put('held', 'x')
      const { status: found } = await put('held', 'y', headers)
      expect([headers, found]).toEqual([headers, status])
      expect(await (await content.ask('GET', 'held')).text()).toBe(status === 200 ? 'y' : 'x')
    }
    expect((await put('not there', 'x', { 'if-match': '*' })).status).toBe(412)
    expect((await put('not there', 'x', { 'if-none-match': x })).status).toBe(200)
  })

  it('is checked against its Content-MD5', async () => {
    const header = 'content-md5'
    await put('summed', 'before')
    expect(await codeOf(await put('summed', 'abc', { [header]: 'JQaiqYuKS8b0zXCFKfGTHw==' }))).toEqual([
      400,
      'BadDigest',
    ])
    expect(await (await content.ask('GET', 'summed')).text()).toBe('before')
  })

  it.each(['', ';', '; charset=utf-8', 'text', 'text/', '/plain', 'te xt/plain', 'text/plain,text/html'])(
    'is rejected with the content type %j',
    async (type) => {
      const answer = await put('typed', 'x', { 'content-type': type })
      expect(await codeOf(answer)).toEqual([400, 'InvalidArgument'])
    },
  )

  it.each(['text/plain;', 'text/plain ; charset=utf-8', 'application/vnd.a+b.c-d_e', 'a/b; x="y;z"'])(
    'keeps the content type %j',
    async (type) => {
      expect((await put('typed', 'x', { 'content-type': type })).status).toBe(200)
      expect((await content.ask('GET', 'typed')).headers.get('content-type')).toBe(type)
    },
  )

  it('for a part or an attribute of an object does not replace its content', async () => {
    await put('whole', 'before')
    const { href } = await content.api.sign('assets', 'whole', { method: 'PUT', origin: content.origin })
    for (const query of [
      'partNumber=1',
      'uploadId=x',
      'uploads',
      'tagging',
      'acl',
      'retention',
      'legal-hold',
      'versionId=1',
    ]) {
      const answer = await fetch(`${href}&${query}`, { method: 'PUT', body: '<Tagging/>' })
      expect([query, ...(await codeOf(answer))]).toEqual([query, 501, 'NotImplemented'])
    }
    expect(await (await content.ask('GET', 'whole')).text()).toBe('before')
  })

  it('can make browsers save the content', async () => {
    await put('a/report ü.pdf', 'x')
    const read = await content.ask('GET', 'a/report ü.pdf', {}, { asAttachment: true })
    expect(read.headers.get('content-disposition')).toBe(
      `attachment; filename="report _.pdf"; filename*=UTF-8''report%20%C3%BC.pdf`,
    )
  })

  it('restricts an upload to its type and length', async () => {
    const options = { contentType: 'text/csv', contentLength: { min: 2, max: 4 } }
    const csv = { 'content-type': 'text/csv' }
    expect((await put('limited', 'abc', csv, options)).status).toBe(200)
    expect(await codeOf(await put('limited', 'abc', { 'content-type': 'text/html' }, options))).toEqual([
      403,
      'SignatureDoesNotMatch',
    ])
    expect(await codeOf(await put('limited', 'abcde', csv, options))).toEqual([400, 'EntityTooLarge'])
    expect(await codeOf(await put('limited', 'a', csv, options))).toEqual([400, 'EntityTooSmall'])
    // without a declared length, the bytes are counted
    const unsaid = new ReadableStream({ start: (stream) => (stream.enqueue(bytes('abcde')), stream.close()) })
    const init = { body: unsaid, headers: csv, duplex: 'half' } as RequestInit
    expect(await codeOf(await content.ask('PUT', 'limited', init, options))).toEqual([400, 'EntityTooLarge'])
    expect(await textOf(await content.api.read((await content.api.stat('assets', 'limited')) as ObjectRecord))).toBe(
      'abc',
    )
  })

  const PARAMETERS = 'AuthorizationQueryParametersError'
  it.each<[string, (href: string) => string, number?, string?]>([
    ['with another path', (href) => href.replace('/known', '/knowm')],
    ['with a longer path', (href) => href.replace('/known', '/known/x')],
    ['of another bucket', (href) => href.replace('assets-acme', 'public-acme')],
    ['of another tenant', (href) => href.replace('assets-acme', 'assets-other')],
    ['of another key', (href) => href.replace('Credential=acme', 'Credential=other')],
    ['of an unknown key', (href) => href.replace('=acme.assets_', '=acme.assets-'), 403, 'InvalidAccessKeyId'],
    ['with more rights', (href) => href.replace('_readwritedelete', '_read')],
    ['with a longer life', (href) => href.replace('Expires=300', 'Expires=301')],
    ['with too long a life', (href) => href.replace('Expires=300', 'Expires=604801'), 400, PARAMETERS],
    ['with no life', (href) => href.replace('Expires=300', 'Expires=0'), 400, PARAMETERS],
    ['with another algorithm', (href) => href.replace('HMAC-SHA256', 'HMAC-SHA1'), 400, PARAMETERS],
    ['with a parameter more', (href) => `${href}&response-content-type=text/html`],
    ['with a parameter twice', (href) => `${href}&X-Amz-Expires=300`, 400, PARAMETERS],
    ['without a parameter', (href) => href.replace(/&X-Amz-Date=\w+/, ''), 400, PARAMETERS],
    ['with a changed signature', (href) => href.replace(/.$/, (last) => (last === '0' ? '1' : '0'))],
    ['without a signature', (href) => href.replace(/\?.*/, ''), 403, 'AccessDenied'],
    ['of no bucket', (href) => href.replace('ws-assets', 'ws-nothing'), 404, 'NoSuchBucket'],
    ['with a path that cannot be read', (href) => href.replace('/known', '/known%E4'), 400, ''],
  ])('is rejected %s', async (_name, change, status = 403, code = 'SignatureDoesNotMatch') => {
    await put('known', 'abc')
    const { href } = await content.api.sign('assets', 'known', { method: 'GET', origin: content.origin })
    const found = await codeOf(await fetch(change(href)))
    expect([found[0], code && found[1]]).toEqual([status, code])
    expect(await textOf(await content.api.read((await content.api.stat('assets', 'known')) as ObjectRecord))).toBe(
      'abc',
    )
  })

  it.each(['DELETE', 'HEAD', 'PUT'])('of a GET is rejected for %s', async (method) => {
    await put('known', 'abc')
    const { href } = await content.api.sign('assets', 'known', { method: 'GET', origin: content.origin })
    expect((await fetch(href, { method, ...(method === 'PUT' && { body: 'x' }) })).status).toBe(403)
    expect(await (await fetch(href)).text()).toBe('abc')
  })

  it('expires, and is not valid before its time', async () => {
    const { href } = await content.api.sign('assets', 'known', { method: 'GET', origin: content.origin })
    const at = async (seconds: number) => {
      content.clock.now = START + seconds * 1_000
      const answer = await fetch(href)
      content.clock.now = START
      return answer
    }
    expect((await at(300)).status).toBe(200)
    const late = await at(301)
    expect([late.status, await late.text()]).toEqual([
      403,
      expect.stringContaining('<Message>Request has expired</Message>'),
    ])
    expect((await at(-899)).status).toBe(200)
    expect(await codeOf(await at(-901))).toEqual([403, 'AccessDenied'])
  })

  it('rejects unsigned headers x-amz-*', async () => {
    expect(await codeOf(await put('x', 'x', { 'x-amz-meta-a': 'b' }))).toEqual([403, 'AccessDenied'])
  })

  it('covers the metadata of an upload', async () => {
    const options = { method: 'PUT', metadata: { Unit: 's', map: '%5B%5D' }, origin: content.origin } as const
    const { href, headers = {} } = await content.api.sign('assets', 'meta', options)
    expect(headers).toEqual({ 'x-amz-meta-unit': 's', 'x-amz-meta-map': '%5B%5D' })
    const other = { ...headers, 'x-amz-meta-unit': 'ms' }
    expect((await fetch(href, { method: 'PUT', headers: other, body: 'x' })).status).toBe(403)
    expect((await fetch(href, { method: 'PUT', headers, body: 'x' })).status).toBe(200)
    expect(await content.api.stat('assets', 'meta')).toMatchObject({ metadata: { unit: 's', map: '%5B%5D' } })
  })

  it('reports a missing object in XML, with the id of the request', async () => {
    const answer = await content.ask('GET', 'none & <more>')
    expect([answer.status, answer.headers.get('content-type')]).toEqual([404, 'application/xml'])
    expect(await answer.text()).toMatch(
      /^<\?xml version="1\.0" encoding="UTF-8"\?>\n<Error><Code>NoSuchKey<\/Code><Message>.*<\/Message><Resource>\/reflexarc-ws-assets-acme\/none%20%26%20%3Cmore%3E<\/Resource><RequestId>[\w-]+<\/RequestId><\/Error>$/,
    )
  })

  it('creates a folder if its path ends in a slash and the body is empty', async () => {
    const { _links } = content.api.show({ bucket: 'assets', path: 'made/here/', isFolder: true }) as {
      _links: { sign_put: { href: string } }
    }
    expect(_links.sign_put.href).toContain('made/here/?sign=PUT')
    expect((await content.ask('PUT', 'made/here/')).status).toBe(200)
    expect(await content.api.stat('assets', 'made/here/')).toMatchObject({ isFolder: true })
    expect(await codeOf(await put('made/there/', 'x'))).toEqual([400, 'InvalidArgument'])
  })
})

describe('a public bucket', () => {
  it('is readable without a signature, and writable only with one', async () => {
    await content.api.put('public', 'page.html', bytes('<p>'), { contentType: 'text/html' })
    const link = (
      content.api.show(await content.api.stat('public', 'page.html'), content.origin)['_links'] as {
        get: { href: string }
      }
    ).get.href
    const read = await fetch(link)
    expect([read.status, await read.text(), read.headers.get('content-type')]).toEqual([200, '<p>', 'text/html'])
    expect((await fetch(link, { method: 'HEAD' })).headers.get('content-length')).toBe('3')
    expect(await codeOf(await fetch(link, { method: 'PUT', body: 'x' }))).toEqual([403, 'AccessDenied'])
    expect(await codeOf(await fetch(link.replace('-acme', '-nobody')))).toEqual([403, 'AccessDenied'])
  })
})

describe('a browser of another page', () => {
  it('can send a preflight request', async () => {
    const { href } = await content.api.sign('assets', 'x', { method: 'PUT', origin: content.origin })
    const answer = await fetch(href, {
      method: 'OPTIONS',
      headers: {
        origin: 'http://page.test',
        'access-control-request-method': 'PUT',
        'access-control-request-headers': 'content-type',
      },
    })
    expect(answer.status).toBe(204)
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'GET, HEAD, PUT, POST, DELETE, OPTIONS',
      'access-control-allow-headers': 'content-type',
    })
  })
})

describe('an interrupted upload', () => {
  it('leaves neither an object nor a content, nor an error in the log', async () => {
    const before = await content.contents()
    const logged = (text: string) => content.logged.filter((line) => line.includes(text)).length
    const errors = logged('"level":50')
    const { href } = await content.api.sign('assets', 'half', { method: 'PUT', origin: content.origin })
    await new Promise<void>((resolve) => {
      const { hostname, port } = new URL(content.origin)
      const path = href.slice(content.origin.length)
      const sending = httpRequest({ hostname, port, method: 'PUT', path, headers: { 'content-length': '1000000' } })
      sending.once('error', () => undefined).once('close', () => resolve())
      sending.write(bytes('x'.repeat(100_000)), () => sending.destroy())
    })
    await expect.poll(() => logged('an upload was interrupted')).toBe(1)
    expect(logged('"level":50')).toBe(errors)
    await content.service.settled()
    await expect(content.api.stat('assets', 'half')).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect(await content.contents()).toEqual(before)
  })

  it('because of a full disk is reported, and leaves nothing', async () => {
    const full = await contentApp({
      contents: (own) =>
        otherwise(own, {
          put: (id, pieces, options) =>
            options.contentType === 'full/disk'
              ? Promise.reject(
                  new AppError('STORE', 'no', { cause: Object.assign(new Error('no'), { code: 'ENOSPC' }) }),
                )
              : own.put(id, pieces, options),
        }),
    })
    const answer = await full.ask('PUT', 'x', { body: 'x', headers: { 'content-type': 'full/disk' } })
    expect(await codeOf(answer)).toEqual([507, 'StorageFull'])
    expect(await pathsIn(full.api, 'assets')).toEqual([])
    await full.close()
  })
})
