import { describe, expect, it } from 'vitest'
import {
  attachment,
  readSigningTime,
  signedAddress,
  signedForm,
  signingTime,
} from '../../../../src/services/objects/signing/sign-address.ts'
import { policySignature, requestSignature } from '../../../../src/services/objects/signing/sigv4.ts'
import { SigningKeys } from '../../../../src/services/objects/signing/signing-keys.ts'

const AT = '20250101T000000Z'
const KEY = { id: 'AK', secret: 'SK', date: '20250101', region: 'eu-west-1' }
const ORDER = {
  origin: 'http://object-store.local:9000',
  bucket: 'b1',
  path: 'my folder/a+b.txt',
  time: AT,
  expiry: 300,
  key: KEY,
}
const signatureOf = (href: string) => new URL(href).searchParams.get('X-Amz-Signature')

describe('a signature', () => {
  it('equals the sample of AWS', () => {
    const query = [
      ['X-Amz-Algorithm', 'AWS4-HMAC-SHA256'],
      ['X-Amz-Credential', 'AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request'],
      ['X-Amz-Date', '20130524T000000Z'],
      ['X-Amz-Expires', '86400'],
      ['X-Amz-SignedHeaders', 'host'],
    ] as const
    const request = {
      method: 'GET',
      path: '/test.txt',
      query,
      headers: [['host', 'examplebucket.s3.amazonaws.com']] as const,
    }
    const key = { secret: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY', date: '20130524', region: 'us-east-1' }
    expect(requestSignature(request, '20130524T000000Z', key)).toBe(
      'aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404',
    )
  })

  it('of an upload and of a download as an attachment equals values computed elsewhere', () => {
    expect(signatureOf(signedAddress({ ...ORDER, method: 'PUT' }))).toBe(
      'ed001e0b33bde86a2efb1b0d40a4c53f03cd913622a73aec606b7f86fba51bbe',
    )
    const more = [['response-content-disposition', attachment('my folder/a+b.txt')]] as const
    const href = signedAddress({ ...ORDER, method: 'GET', more })
    expect(signatureOf(href)).toBe('e75d71da5fa274bf2cdffb68868673286efc718623e8d828fb3d0e62f302a5c6')
    expect(href).toMatch(
      /^http:\/\/object-store\.local:9000\/b1\/my%20folder\/a%2Bb\.txt\?.*&X-Amz-Signature=[0-9a-f]{64}$/,
    )
  })

  it('of a form is that of its policy, with the fields of the platform in order', () => {
    const until = Date.UTC(2025, 0, 1, 0, 5)
    const form = signedForm({ bucket: 'b1', path: 'demo/', time: AT, until, key: KEY })
    expect(form['x-amz-signature']).toBe('321b1a15c264f17781ba29831464689877731f5bf6b0446670e49d330bc6636d')
    expect(policySignature(form['policy'] ?? '', KEY)).toBe(form['x-amz-signature'])
    expect(Object.keys(form)).toEqual([
      'x-amz-algorithm',
      'x-amz-credential',
      'x-amz-date',
      'policy',
      'x-amz-signature',
      'bucket',
      'key',
    ])
  })
})

describe('a time', () => {
  it('survives a round trip to the second', () => {
    const ms = Date.UTC(2026, 1, 3, 4, 5, 6)
    expect(signingTime(ms + 789)).toBe('20260203T040506Z')
    expect(readSigningTime('20260203T040506Z')).toBe(ms)
    for (const text of ['', '2026-02-03T04:05:06Z', '20261303T040506Z', '20260203T040506']) {
      expect([text, readSigningTime(text)]).toEqual([text, undefined])
    }
  })
})

describe('the name of an attachment', () => {
  it('is that of the object, in a form that every browser reads', () => {
    expect(attachment('a/b c.txt')).toBe('attachment; filename="b c.txt"')
    expect(attachment('ü"\\.txt')).toBe(`attachment; filename="___.txt"; filename*=UTF-8''%C3%BC%22%5C.txt`)
  })
})

describe('a signing key', () => {
  const keys = new SigningKeys(new Uint8Array(32).fill(1))
  it('names its owner and purpose, and has a secret of its own', () => {
    const key = keys.of({ tenant: 'a.b_c', bucket: 'etl-import', rights: ['delete', 'read', 'write'] })
    expect(key.id).toBe('a.b_c.etl-import_readwritedelete')
    expect(keys.read(key.id)).toEqual({
      tenant: 'a.b_c',
      bucket: 'etl-import',
      rights: ['read', 'write', 'delete'],
      secret: key.secret,
    })
    const others = [
      keys.of({ tenant: 'a.b_c', bucket: 'etl-import', rights: ['read'] }),
      keys.of({ tenant: 'a.b', bucket: 'etl-import', rights: ['read', 'write', 'delete'] }),
      new SigningKeys(new Uint8Array(32)).of({
        tenant: 'a.b_c',
        bucket: 'etl-import',
        rights: ['read', 'write', 'delete'],
      }),
    ]
    expect(new Set([key, ...others].map(({ secret }) => secret)).size).toBe(4)
    for (const id of ['', 'AK', 'a.assets_', 'a.assets_writeread', '.assets_read'])
      expect([id, keys.read(id)]).toEqual([id, undefined])
  })
})
