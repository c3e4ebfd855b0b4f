// Holds OBJECT-5
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ObjectRecord, SignOptions } from '../../../src/services/objects/contract.ts'
import { policySignature } from '../../../src/services/objects/signing/sigv4.ts'
import { BUCKET, codeOf, contentApp, type ContentApp } from './content-app.ts'
import { pathsIn, START, textOf } from './support.ts'

let content: ContentApp
beforeAll(async () => {
  content = await contentApp()
})
afterAll(() => content.close())

const NOBODY = 'AK/20260101/us-east-1/s3/aws4_request'
type Fields = Readonly<Record<string, string>>
const textAt = async (path: string) =>
  textOf(await content.api.read((await content.api.stat('assets', path)) as ObjectRecord))

const signed = async (path: string, options: Partial<SignOptions> = {}) => {
  const { href, formData = {} } = await content.api.sign('assets', path, {
    method: 'POST',
    origin: content.origin,
    ...options,
  })
  return { href, fields: formData }
}

async function send(
  href: string,
  fields: Fields,
  file: string | null = 'abc',
  after: Fields = {},
  name = 'abc.txt',
): Promise<Response> {
  const form = new FormData()
  for (const [field, value] of Object.entries(fields)) form.append(field, value)
  if (file !== null) form.append('file', new Blob([file], { type: 'text/plain' }), name)
  for (const [field, value] of Object.entries(after)) form.append(field, value)
  return fetch(href, { method: 'POST', body: form, redirect: 'manual' })
}

/** Builds a form with the test's own policy. */
function policed(conditions: readonly unknown[], more: Fields = {}, expiration = '2026-01-01T00:05:00.000Z'): Fields {
  const scope = { date: '20260101', region: 'eu-west-1' }
  const fields = {
    key: 'demo/x',
    'x-amz-algorithm': 'AWS4-HMAC-SHA256',
    'x-amz-credential': `${content.key.id}/20260101/eu-west-1/s3/aws4_request`,
    'x-amz-date': '20260101T000000Z',
    ...more,
  }
  const own = Object.entries(fields)
    .filter(([name]) => name.startsWith('x-amz-'))
    .map(([name, value]) => ({ [name]: value }))
  const policy = Buffer.from(JSON.stringify({ expiration, conditions: [...own, ...conditions] })).toString('base64')
  return { ...fields, policy, 'x-amz-signature': policySignature(policy, { ...scope, secret: content.key.secret }) }
}

describe('a signed form', () => {
  it('writes a file, below a folder too, and returns 204 without a body', async () => {
    const { href, fields } = await signed('demo/test')
    expect(href).toBe(`${content.origin}/${BUCKET}/`)
    const answer = await send(href, fields)
    expect([answer.status, answer.headers.get('etag'), await answer.text()]).toEqual([
      204,
      '"900150983cd24fb0d6963f7d28e17f72"',
      '',
    ])
    const folder = await signed('demo/')
    expect((await send(href, { ...folder.fields, key: 'demo/test/longer' }, 'longer')).status).toBe(204)
    expect((await send(href, { ...folder.fields, key: 'demo/test-${filename}' }, 'named')).status).toBe(204)
    expect([await textAt('demo/test'), await textAt('demo/test/longer'), await textAt('demo/test-abc.txt')]).toEqual([
      'abc',
      'longer',
      'named',
    ])
    expect(await content.api.stat('assets', 'demo/test')).toMatchObject({ contentType: 'text/plain' })
  })

  it('returns the status or redirect that its fields request', async () => {
    const conditions = [
      ['starts-with', '$key', 'demo/'],
      ['starts-with', '$success_action_status', ''],
      ['starts-with', '$success_action_redirect', ''],
    ]
    const href = `${content.origin}/${BUCKET}`
    const answered = (more: Fields) =>
      send(href, policed(conditions, { success_action_status: '', success_action_redirect: '', ...more }))
    const created = await answered({ success_action_status: '201' })
    expect([created.status, created.headers.get('content-type')]).toEqual([201, 'application/xml'])
    expect(await created.text()).toContain(
      `<PostResponse><Location>${href}/demo/x</Location><Bucket>${BUCKET}</Bucket><Key>demo/x</Key><ETag>&quot;900150983cd24fb0d6963f7d28e17f72&quot;</ETag></PostResponse>`,
    )
    expect((await answered({ success_action_status: '200' })).status).toBe(200)
    expect((await answered({ success_action_status: '500' })).status).toBe(204)
    const seen = await answered({ success_action_redirect: 'http://page.test/done?a=b' })
    expect([seen.status, seen.headers.get('location')]).toEqual([
      303,
      `http://page.test/done?a=b&bucket=${BUCKET}&key=demo%2Fx&etag=%22900150983cd24fb0d6963f7d28e17f72%22`,
    ])
    expect((await answered({ success_action_redirect: 'javascript:alert(1)' })).status).toBe(204)
  })

  it('restricts a file to its type and length', async () => {
    const { href, fields } = await signed('limited/', { contentType: 'text/csv', contentLength: { min: 2, max: 4 } })
    expect(fields).toMatchObject({ 'content-type': 'text/csv' })
    expect((await send(href, { ...fields, key: 'limited/a' })).status).toBe(204)
    expect(await codeOf(await send(href, { ...fields, key: 'limited/b', 'content-type': 'text/html' }))).toEqual([
      403,
      'AccessDenied',
    ])
    expect(await codeOf(await send(href, { ...fields, key: 'limited/b' }, 'abcde'))).toEqual([400, 'EntityTooLarge'])
    expect(await codeOf(await send(href, { ...fields, key: 'limited/b' }, 'a'))).toEqual([400, 'EntityTooSmall'])
    expect(await content.api.list('assets', 'limited/')).toMatchObject({
      entries: [{ path: 'limited/a', contentType: 'text/csv' }],
    })
  })

  const many = Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`x-ignore-${i}`, 'x']))
  const NO_FORM = [400, 'MalformedPOSTRequest'] as const
  const TOO_LONG = [400, 'MaxPostPreDataLengthExceeded'] as const
  const DENIED = [403, 'AccessDenied'] as const
  const UNSIGNED = [403, 'SignatureDoesNotMatch'] as const
  it.each<[string, (fields: Fields) => Fields, readonly [number, string], string | null, Fields]>([
    ['with another key', (fields) => ({ ...fields, key: 'demo' }), DENIED, 'abc', {}],
    ['with a longer key', (fields) => ({ ...fields, key: 'demo/y.more' }), DENIED, 'abc', {}],
    ['below its key', (fields) => ({ ...fields, key: 'demo/y/more' }), DENIED, 'abc', {}],
    ['with another policy', (fields) => ({ ...fields, policy: btoa('{}') }), UNSIGNED, 'abc', {}],
    ['with another signature', (fields) => ({ ...fields, 'x-amz-signature': '0'.repeat(64) }), UNSIGNED, 'abc', {}],
    ['of another bucket', (fields) => ({ ...fields, bucket: 'reflexarc-ws-public-acme' }), DENIED, 'abc', {}],
    ['of nobody', (fields) => ({ ...fields, 'x-amz-credential': NOBODY }), [403, 'InvalidAccessKeyId'], 'abc', {}],
    ['with a field more', (fields) => ({ ...fields, acl: 'public-read' }), DENIED, 'abc', {}],
    ['without a key', ({ key: _key, ...fields }) => fields, [400, 'InvalidArgument'], 'abc', {}],
    ['without a policy', ({ policy: _policy, ...fields }) => fields, DENIED, 'abc', {}],
    ['without a file', (fields) => fields, NO_FORM, null, {}],
    ['with a field after the file', (fields) => fields, NO_FORM, 'abc', { late: 'x' }],
    ['with two files', (fields) => fields, NO_FORM, 'abc', { file: 'x' }],
    ['with too long a field', (fields) => ({ 'x-ignore-a': 'x'.repeat(21_000), ...fields }), TOO_LONG, 'abc', {}],
    ['with too many fields', (fields) => ({ ...many, ...fields }), TOO_LONG, 'abc', {}],
  ])('with %s writes nothing', async (_name, change, refusal, file, after) => {
    const { href, fields } = await signed('demo/y')
    const before = [await pathsIn(content.api, 'assets'), await content.contents()]
    expect(await codeOf(await send(href, change(fields), file, after))).toEqual(refusal)
    await content.service.settled()
    expect([await pathsIn(content.api, 'assets'), await content.contents()]).toEqual(before)
  })

  it('expires with its policy, or with the week of its key', async () => {
    const href = `${content.origin}/${BUCKET}`
    const key = ['starts-with', '$key', '']
    const at = async (seconds: number, fields: Fields) => {
      content.clock.now = START + seconds * 1_000
      const answer = await send(href, fields)
      content.clock.now = START
      return codeOf(answer)
    }
    expect(await at(300, policed([key]))).toEqual([204, undefined])
    expect(await at(301, policed([key]))).toEqual([403, 'AccessDenied'])
    const years = policed([key], {}, '2036-01-01T00:00:00.000Z')
    expect(await at(604_800, years)).toEqual([204, undefined])
    expect(await at(604_801, years)).toEqual([403, 'AccessDenied'])
  })

  it.each([
    ['2026-01-01T00:05:00Z', 204],
    ['2026-01-01T00:05:00.5Z', 204],
    ['2026-01-01T00:05:00.123456Z', 204],
    ['2026-01-01T02:05:00+02:00', 400],
    ['2026-01-01T00:05:00', 400],
    ['2026-01-01', 400],
    ['2026-02-30T00:00:00Z', 400],
    ['Thu, 01 Jan 2026 00:05:00 GMT', 400],
    ['', 400],
  ])('whose policy expires at %s returns %i', async (expiration, status) => {
    const answer = await send(`${content.origin}/${BUCKET}`, policed([['starts-with', '$key', '']], {}, expiration))
    expect(await codeOf(answer)).toEqual([status, status === 204 ? undefined : 'InvalidPolicyDocument'])
  })

  it('that is interrupted or malformed writes nothing', async () => {
    const { href, fields } = await signed('demo/z')
    const head = Object.entries(fields).map(
      ([name, value]) => `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
    )
    const file = '--b\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\nhalf'
    const post = (body: string, type: string) =>
      fetch(href, { method: 'POST', body, headers: { 'content-type': type } })
    expect(await codeOf(await post(`${head.join('')}${file}`, 'multipart/form-data; boundary=b'))).toEqual([
      400,
      'MalformedPOSTRequest',
    ])
    expect(await codeOf(await post(`${head.join('')}${file}\r\n--b--\r\n`, 'multipart/form-data'))).toEqual([
      400,
      'MalformedPOSTRequest',
    ])
    expect(await codeOf(await post('{}', 'application/json'))).toEqual([400, 'MalformedPOSTRequest'])
    await expect(content.api.stat('assets', 'demo/z')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })
})
