import { describe, expect, it } from 'vitest'
import { checkedContent } from '../../../../src/services/objects/routes/take-content.ts'

async function* pieces(...texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text)
}

async function read(header: string, wanted: string, ...texts: readonly string[]): Promise<string> {
  let all = ''
  for await (const piece of checkedContent(new Map([[header, wanted]]), pieces(...texts)))
    all += Buffer.from(piece).toString()
  return all
}

describe('a content with a checksum', () => {
  // checksums of "123456789" from their registries, and of "abc"
  it.each([
    ['content-md5', 'abc', 'kAFQmDzST7DWlj99KOF/cg=='],
    ['x-amz-checksum-crc32', '123456789', 'y/Q5Jg=='],
    ['x-amz-checksum-crc32c', '123456789', '4waSgw=='],
    ['x-amz-checksum-sha1', 'abc', 'qZk+NkcGgWq6PiVxeFDCbJzQ2J0='],
    ['x-amz-checksum-sha256', 'abc', 'ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0='],
  ])('of %s is returned as it was sent, or rejected at its end', async (header, text, right) => {
    const [first = '', ...rest] = text
    expect(await read(header, right, first, rest.join(''))).toBe(text)
    await expect(read(header, right, text, '!')).rejects.toMatchObject({ s3Code: 'BadDigest' })
    await expect(read(header, 'x', text)).rejects.toMatchObject({ s3Code: 'InvalidDigest' })
  })

  it('of an unsupported kind is rejected by the name of its header', async () => {
    await expect(read('x-amz-checksum-crc64nvme', 'AAAAAAAAAAA=', 'x')).rejects.toMatchObject({
      s3Code: 'NotImplemented',
      message: expect.stringContaining('x-amz-checksum-crc64nvme is not supported') as string,
    })
  })

  it('may declare how the checksum is computed', async () => {
    expect(await read('x-amz-checksum-type', 'FULL_OBJECT', 'x')).toBe('x')
  })
})
