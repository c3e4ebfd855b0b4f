import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BlobContents } from '../../../../src/services/objects/contents/blob-contents.ts'
import { openS3Contents, readS3Location } from '../../../../src/services/objects/contents/s3-contents.ts'
import { openFiles } from '../../../../src/storage/files/open-files.ts'
import { describeContentStore } from '../../../contracts/objects/content-store-suite.ts'
import { s3Server, type S3Server } from './s3-server.ts'

let server: S3Server
beforeAll(async () => {
  server = await s3Server()
  process.env['AWS_ACCESS_KEY_ID'] = 'key'
  process.env['AWS_SECRET_ACCESS_KEY'] = 'secret'
})
afterAll(async () => {
  delete process.env['AWS_ACCESS_KEY_ID']
  delete process.env['AWS_SECRET_ACCESS_KEY']
  await server.close()
})

describeContentStore('a folder', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'reflexarc-contents-'))
  const files = await openFiles({ folder })
  return {
    of: (tenant) => new BlobContents(files.tenant(tenant)),
    close: async () => {
      await files.close()
      await rm(folder, { recursive: true })
    },
  }
})

describeContentStore('S3', async () => {
  const place = `s3://bucket/some/prefix?endpoint=${encodeURIComponent(server.endpoint)}&region=eu-west-1`
  const shared = await openS3Contents(readS3Location(place))
  return { of: (tenant) => shared.of(tenant), close: async () => shared.close() }
})

describe('a store in S3', () => {
  it('keeps everything below its prefix, and nothing of interrupted uploads when it is removed', async () => {
    const place = `s3://bucket/own?endpoint=${encodeURIComponent(server.endpoint)}`
    const shared = await openS3Contents(readS3Location(place))
    const store = shared.of('acme')
    async function* broken(): AsyncIterable<Uint8Array> {
      yield new Uint8Array(17_000_000)
      throw new Error('the sender hung up')
    }
    const put = store.put('x', broken(), { contentType: 'text/plain' })
    await expect(put).rejects.toThrow('the sender hung up')
    expect([...server.uploads.values()]).toMatchObject([{ key: 'own/acme/x' }])
    await store.remove('x')
    expect(server.uploads.size).toBe(0)
    shared.close()
  })
})

describe('a location in S3', () => {
  it('is parsed from its URL', () => {
    expect(readS3Location('s3://bucket')).toEqual({ bucket: 'bucket', prefix: '', region: 'us-east-1' })
    expect(readS3Location('s3://bucket/a/b/?endpoint=http://s3.test:9000&region=x')).toEqual({
      bucket: 'bucket',
      prefix: 'a/b/',
      region: 'x',
      endpoint: 'http://s3.test:9000',
    })
    for (const text of ['s3://bucket?end=http://x', 's3://bucket?endpoint=x']) {
      expect(() => readS3Location(text)).toThrow(/^--objects/)
    }
  })

  it('that does not respond is UNAVAILABLE', async () => {
    const gone = await s3Server()
    const shared = await openS3Contents(readS3Location(`s3://bucket?endpoint=${gone.endpoint}`))
    await gone.close()
    await expect(shared.of('acme').open('x')).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    shared.close()
  }, 30_000)
})
