/** Tests uploads in parts and removals with signed addresses, signed as by the AWS client. */
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  ListPartsCommand,
  S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ObjectRecord, SignOptions } from '../../../src/services/objects/contract.ts'
import { openMemory } from '../../../src/storage/memory/open-memory.ts'
import { BUCKET, codeOf, contentApp, type ContentApp } from './content-app.ts'
import { pathsIn, textOf } from './support.ts'

const DAY = 86_400_000
const clock = { now: Date.now() }
let content: ContentApp
let aws: S3Client
beforeAll(async () => {
  content = await contentApp({ storage: openMemory({ clock: () => clock.now }) })
  content.clock.now = clock.now
  aws = new S3Client({
    endpoint: content.origin,
    region: 'eu-central-1',
    forcePathStyle: true,
    credentials: { accessKeyId: content.key.id, secretAccessKey: content.key.secret },
    requestChecksumCalculation: 'WHEN_REQUIRED',
  })
})
afterAll(async () => {
  aws.destroy()
  await content.close()
})

const ask = async (method: string, address: Promise<string>, init: RequestInit = {}) =>
  fetch(await address, { method, ...init })
const tagIn = (text: string, name: string) => new RegExp(`<${name}>(.*?)</${name}>`).exec(text)?.[1] ?? ''
const textAt = async (path: string) =>
  textOf(await content.api.read((await content.api.stat('assets', path)) as ObjectRecord))

async function begun(Key: string, Metadata: Record<string, string> = {}): Promise<string> {
  const names = Object.keys(Metadata).map((name) => `x-amz-meta-${name}`)
  const address = await getSignedUrl(aws, new CreateMultipartUploadCommand({ Bucket: BUCKET, Key, Metadata }), {
    unhoistableHeaders: new Set(names),
  })
  const headers = new Headers({ 'content-type': 'text/csv' })
  for (const [name, value] of Object.entries(Metadata)) headers.set(`x-amz-meta-${name}`, value)
  const answer = await fetch(address, { method: 'POST', headers })
  const text = await answer.text()
  expect([answer.status, tagIn(text, 'Bucket'), tagIn(text, 'Key')]).toEqual([200, BUCKET, Key])
  return tagIn(text, 'UploadId')
}

async function sent(Key: string, UploadId: string, PartNumber: number, body: string): Promise<string> {
  const answer = await ask(
    'PUT',
    getSignedUrl(aws, new UploadPartCommand({ Bucket: BUCKET, Key, UploadId, PartNumber })),
    { body },
  )
  expect([answer.status, await answer.text()]).toEqual([200, ''])
  return answer.headers.get('etag') ?? ''
}

const listOf = (parts: readonly (readonly [number, string])[]) =>
  `<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${parts
    .map(
      ([number, etag]) =>
        `<Part><ETag>${etag.replaceAll('"', '&quot;')}</ETag><PartNumber>${number}</PartNumber></Part>`,
    )
    .join('')}</CompleteMultipartUpload>`

const completed = (Key: string, UploadId: string, body: string, headers: Record<string, string> = {}) =>
  ask('POST', getSignedUrl(aws, new CompleteMultipartUploadCommand({ Bucket: BUCKET, Key, UploadId })), {
    body,
    headers,
  })

describe('an upload in parts', () => {
  it('joins its parts to one object, in any upload order, and leaves nothing else', async () => {
    const before = await content.contents()
    const key = 'large/ä b.bin'
    const id = await begun(key, { own: 'yes' })
    const two = await sent(key, id, 2, 'two')
    await sent(key, id, 1, 'first')
    const one = await sent(key, id, 1, 'one')
    await sent(key, id, 7, 'left out')
    const ten = await sent(key, id, 10, 'ten')
    await expect(content.api.stat('assets', key)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    const answer = await completed(
      key,
      id,
      listOf([
        [1, one],
        [2, two],
        [10, ten],
      ]),
    )
    const text = await answer.text()
    expect([answer.status, tagIn(text, 'Key'), tagIn(text, 'ETag')]).toEqual([
      200,
      key,
      answer.headers.get('etag')?.replaceAll('"', '&quot;'),
    ])
    expect(await textAt(key)).toBe('onetwoten')
    expect(await content.api.stat('assets', key)).toMatchObject({ contentType: 'text/csv', metadata: { own: 'yes' } })
    expect(await codeOf(await completed(key, id, listOf([[1, one]])))).toEqual([404, 'NoSuchUpload'])
    await content.service.settled()
    expect(await content.contents()).toHaveLength(before.length + 1)
  })

  it('lists its parts in pages, and is deleted with them when it is aborted', async () => {
    const before = await content.contents()
    const place = { Bucket: BUCKET, Key: 'listed' }
    const UploadId = await begun('listed')
    for (const number of [3, 1, 2]) await sent('listed', UploadId, number, 'x'.repeat(number))
    const page = async (after: string) =>
      (
        await ask(
          'GET',
          getSignedUrl(aws, new ListPartsCommand({ ...place, UploadId, MaxParts: 2, PartNumberMarker: after })),
        )
      ).text()
    const [first, second] = [await page('0'), await page('2')]
    const numbers = (text: string) =>
      [...text.matchAll(/<PartNumber>(\d+)<\/PartNumber>.*?<Size>(\d+)</g)].map(([, a, b]) => [a, b])
    expect([numbers(first), tagIn(first, 'IsTruncated'), tagIn(first, 'NextPartNumberMarker')]).toEqual([
      [
        ['1', '1'],
        ['2', '2'],
      ],
      'true',
      '2',
    ])
    expect([numbers(second), tagIn(second, 'IsTruncated')]).toEqual([[['3', '3']], 'false'])
    const abort = () => ask('DELETE', getSignedUrl(aws, new AbortMultipartUploadCommand({ ...place, UploadId })))
    expect((await abort()).status).toBe(204)
    expect(await codeOf(await abort())).toEqual([404, 'NoSuchUpload'])
    const late = await ask('PUT', getSignedUrl(aws, new UploadPartCommand({ ...place, UploadId, PartNumber: 1 })), {
      body: 'late',
    })
    expect(await codeOf(late)).toEqual([404, 'NoSuchUpload'])
    await content.service.settled()
    expect(await content.contents()).toEqual(before)
  })

  it('expires after a day, with its parts', async () => {
    const before = await content.contents()
    const id = await begun('slow')
    const etag = await sent('slow', id, 1, 'x')
    clock.now += DAY
    content.clock.now = clock.now
    try {
      const other = await content.api.uploads.begin('assets', 'other')
      await expect(
        content.api.uploads.complete('assets', 'slow', id, [{ number: 1, etag: etag.replaceAll('"', '') }]),
      ).rejects.toMatchObject({ code: 'NOT_FOUND' })
      await content.api.uploads.abort('assets', 'other', other)
      await content.service.settled()
      expect(await content.contents()).toEqual(before)
    } finally {
      clock.now -= DAY
      content.clock.now = clock.now
    }
  })

  it('applies the conditions of its completion, and stays open when they fail', async () => {
    const id = await begun('held')
    const etag = await sent('held', id, 1, 'new')
    await content.api.put('assets', 'held', new TextEncoder().encode('old'))
    const only = await completed('held', id, listOf([[1, etag]]), { 'if-none-match': '*' })
    expect(await codeOf(only)).toEqual([412, 'PreconditionFailed'])
    expect(await textAt('held')).toBe('old')
    expect((await completed('held', id, listOf([[1, etag]]))).status).toBe(200)
    expect(await textAt('held')).toBe('new')
  })

  it('verifies the checksum of a part', async () => {
    const UploadId = await begun('summed')
    const command = getSignedUrl(aws, new UploadPartCommand({ Bucket: BUCKET, Key: 'summed', UploadId, PartNumber: 1 }))
    const wrong = await ask('PUT', command, { body: 'abc', headers: { 'content-md5': 'AAAAAAAAAAAAAAAAAAAAAA==' } })
    expect(await codeOf(wrong)).toEqual([400, 'BadDigest'])
    expect(await content.api.uploads.list('assets', 'summed', UploadId, { after: 0, limit: 9 })).toEqual([])
    await content.api.uploads.abort('assets', 'summed', UploadId)
  })

  const parts = (etag: string, ...numbers: readonly number[]) =>
    listOf(numbers.map((number) => [number, etag] as const))
  const UNNAMED = '<CompleteMultipartUpload><Part><PartNumber>1</PartNumber></Part>'
  it.each<[string, (etag: string) => string, string]>([
    ['a part that does not exist', (etag) => parts(etag, 1, 2), 'InvalidPart'],
    ['another ETag', () => parts('x', 1), 'InvalidPart'],
    ['parts out of order', (etag) => parts(etag, 2, 1), 'InvalidPart'],
    ['a part twice', (etag) => parts(etag, 1, 1), 'InvalidPartOrder'],
    ['no parts', () => listOf([]), 'MalformedXML'],
    ['a body other than a list', () => 'hello', 'MalformedXML'],
    ['an empty body', () => '', 'MalformedXML'],
    ['a part without an ETag', () => UNNAMED, 'MalformedXML'],
    ['part 0', (etag) => parts(etag, 0), 'InvalidArgument'],
  ])('cannot be completed by %s', async (_what, body, code) => {
    const id = await begun('wrong')
    const etag = await sent('wrong', id, 1, 'x')
    expect(await codeOf(await completed('wrong', id, body(etag)))).toEqual([400, code])
    await expect(content.api.stat('assets', 'wrong')).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await content.api.uploads.abort('assets', 'wrong', id)
  })

  it('belongs to its key', async () => {
    const id = await begun('mine')
    const etag = await sent('mine', id, 1, 'x')
    expect(await codeOf(await completed('theirs', id, listOf([[1, etag]])))).toEqual([404, 'NoSuchUpload'])
    await content.api.uploads.abort('assets', 'mine', id)
  })

  it('also works with URLs of this host', async () => {
    const sign = async (options: SignOptions) =>
      (await content.api.sign('assets', 'ours', { ...options, origin: content.origin })).href
    const asked = async (options: SignOptions, body?: string) =>
      fetch(await sign(options), { method: options.method, ...(body !== undefined && { body }) })
    const upload = tagIn(await (await asked({ method: 'POST', upload: 'new' })).text(), 'UploadId')
    const etag = (await asked({ method: 'PUT', upload, part: 1 }, 'abc')).headers.get('etag') ?? ''
    expect(await (await asked({ method: 'GET', upload })).text()).toContain('<PartNumber>1</PartNumber>')
    expect((await asked({ method: 'POST', upload }, listOf([[1, etag]]))).status).toBe(200)
    expect(await textAt('ours')).toBe('abc')
    expect((await asked({ method: 'DELETE' })).status).toBe(204)
    const other = tagIn(await (await asked({ method: 'POST', upload: 'new' })).text(), 'UploadId')
    expect((await asked({ method: 'DELETE', upload: other })).status).toBe(204)
  })

  it.each<SignOptions>([
    { method: 'PUT', upload: 'u' },
    { method: 'PUT', upload: 'u', part: 0 },
    { method: 'PUT', upload: 'u', part: 10_001 },
    { method: 'PUT', upload: 'new', part: 1 },
    { method: 'GET', upload: 'new' },
    { method: 'POST', upload: 'u', part: 1 },
  ])('has no URL for %j', async (options) => {
    await expect(content.api.sign('assets', 'x', options)).rejects.toMatchObject({ code: 'VALIDATION' })
  })
})

describe('a signed deletion', () => {
  const removal = (Key: string) => ask('DELETE', getSignedUrl(aws, new DeleteObjectCommand({ Bucket: BUCKET, Key })))

  it('deletes an object, and returns the same when it does not exist', async () => {
    await content.api.put('assets', 'gone/a', new TextEncoder().encode('x'))
    expect((await removal('gone/a')).status).toBe(204)
    expect((await removal('gone/a')).status).toBe(204)
    expect(await pathsIn(content.api, 'assets')).not.toContain('gone/a')
  })

  it('is signed for deletion only', async () => {
    await content.api.put('assets', 'kept', new TextEncoder().encode('x'))
    const read = await getSignedUrl(aws, new GetObjectCommand({ Bucket: BUCKET, Key: 'kept' }))
    expect(await codeOf(await fetch(read, { method: 'DELETE' }))).toEqual([403, 'SignatureDoesNotMatch'])
    const conditional = await ask(
      'DELETE',
      getSignedUrl(aws, new DeleteObjectCommand({ Bucket: BUCKET, Key: 'kept' })),
      {
        headers: { 'if-match': '"x"' },
      },
    )
    expect(await codeOf(conditional)).toEqual([501, 'NotImplemented'])
    expect((await fetch(`${content.origin}/${BUCKET}/kept`, { method: 'DELETE' })).status).toBe(403)
    expect(await textAt('kept')).toBe('x')
    await expect(content.api.sign('etl-export', 'kept', { method: 'DELETE' })).rejects.toMatchObject({
      code: 'FORBIDDEN',
    })
  })
})
