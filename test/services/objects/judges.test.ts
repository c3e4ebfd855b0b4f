/**
 * Tests that this host accepts signatures of independent clients, and that its own addresses work with them, as on S3.
 */
import { GetObjectCommand, HeadObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { createPresignedPost } from '@aws-sdk/s3-presigned-post'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import { Client as MinioClient } from 'minio'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ObjectRecord } from '../../../src/services/objects/contract.ts'
import { BUCKET, codeOf, contentApp, type ContentApp } from './content-app.ts'
import { textOf } from './support.ts'

const KEYS = ['plain.txt', "a b/ü+(*)!~'%&=?;:@$,.txt", '😀/日本', 'a/b/c/d']

let content: ContentApp
let aws: S3Client
let minio: MinioClient
beforeAll(async () => {
  content = await contentApp()
  // these clients sign with the machine's clock
  content.clock.now = Date.now()
  const { id: accessKeyId, secret: secretAccessKey } = content.key
  aws = new S3Client({
    endpoint: content.origin,
    region: 'eu-central-1',
    forcePathStyle: true,
    credentials: { accessKeyId, secretAccessKey },
    requestChecksumCalculation: 'WHEN_REQUIRED',
  })
  const { hostname, port } = new URL(content.origin)
  minio = new MinioClient({
    endPoint: hostname,
    port: Number(port),
    useSSL: false,
    accessKey: accessKeyId,
    secretKey: secretAccessKey,
    region: 'us-east-1',
  })
})
afterAll(async () => {
  aws.destroy()
  await content.close()
})

const textAt = async (path: string) =>
  textOf(await content.api.read((await content.api.stat('assets', path)) as ObjectRecord))

describe('the client of AWS', () => {
  it.each(KEYS)('writes and reads %j with URLs that it signed', async (Key) => {
    const write = await getSignedUrl(aws, new PutObjectCommand({ Bucket: BUCKET, Key, ContentType: 'text/csv' }), {
      signableHeaders: new Set(['content-type']),
      expiresIn: 600,
    })
    expect(
      await codeOf(await fetch(write, { method: 'PUT', body: 'x', headers: { 'content-type': 'text/html' } })),
    ).toEqual([403, 'SignatureDoesNotMatch'])
    expect((await fetch(write, { method: 'PUT', body: Key, headers: { 'content-type': 'text/csv' } })).status).toBe(200)
    expect(await textAt(Key)).toBe(Key)
    const read = await getSignedUrl(
      aws,
      new GetObjectCommand({
        Bucket: BUCKET,
        Key,
        ResponseContentDisposition: 'inline',
        ResponseContentType: 'text/plain',
      }),
    )
    const answer = await fetch(read)
    expect([
      answer.status,
      await answer.text(),
      answer.headers.get('content-disposition'),
      answer.headers.get('content-type'),
    ]).toEqual([200, Key, 'inline', 'text/plain'])
    const head = await getSignedUrl(aws, new HeadObjectCommand({ Bucket: BUCKET, Key }))
    const looked = await fetch(head, { method: 'HEAD' })
    expect([looked.status, Number(looked.headers.get('content-length'))]).toEqual([200, Buffer.byteLength(Key)])
    expect((await fetch(read.replace(/X-Amz-Signature=./, 'X-Amz-Signature=g'))).status).toBe(403)
  })

  it('writes with forms that it signed', async () => {
    const { url, fields } = await createPresignedPost(aws, {
      Bucket: BUCKET,
      Key: 'forms/${filename}',
      Conditions: [
        ['content-length-range', 1, 5],
        ['starts-with', '$key', 'forms/'],
      ],
      Fields: { success_action_status: '201' },
    })
    const post = (text: string) => {
      const form = new FormData()
      for (const [name, value] of Object.entries(fields)) form.append(name, value)
      form.append('file', new Blob([text]), 'a.txt')
      return fetch(url, { method: 'POST', body: form })
    }
    expect((await post('abc')).status).toBe(201)
    expect(await textAt('forms/a.txt')).toBe('abc')
    expect(await codeOf(await post('abcdef'))).toEqual([400, 'EntityTooLarge'])
  })

  it('reads and writes with URLs of this host', async () => {
    expect((await content.ask('PUT', 'ours', { body: 'abc' })).status).toBe(200)
    const read = await getSignedUrl(aws, new GetObjectCommand({ Bucket: BUCKET, Key: 'ours' }))
    expect(await (await fetch(read)).text()).toBe('abc')
  })
})

describe('the client of MinIO', () => {
  it.each(KEYS)('writes and reads %j with URLs that it signed', async (key) => {
    expect((await fetch(await minio.presignedPutObject(BUCKET, key, 600), { method: 'PUT', body: key })).status).toBe(
      200,
    )
    expect(await textAt(key)).toBe(key)
    expect(await (await fetch(await minio.presignedGetObject(BUCKET, key, 600))).text()).toBe(key)
  })

  it('writes with forms that it signed', async () => {
    const policy = minio.newPostPolicy()
    policy.setBucket(BUCKET)
    policy.setKeyStartsWith('minio/')
    policy.setExpires(new Date(Date.now() + 600_000))
    policy.setContentLengthRange(1, 5)
    const { formData } = await minio.presignedPostPolicy(policy)
    const form = new FormData()
    for (const [name, value] of Object.entries({ ...formData, key: 'minio/a' })) form.append(name, value)
    form.append('file', new Blob(['abc']), 'a')
    expect((await fetch(`${content.origin}/${BUCKET}`, { method: 'POST', body: form })).status).toBe(204)
    expect(await textAt('minio/a')).toBe('abc')
  })
})
