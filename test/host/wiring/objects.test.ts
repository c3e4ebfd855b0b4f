import { describe, expect, it } from 'vitest'
import { objectForwarding, objectPort } from '../../../src/host/wiring/objects.ts'
import type { ObjectChange } from '../../../src/services/objects/contract.ts'
import { SubscriptionsWorld, TENANT } from '../../services/objects/subscriptions/world.ts'

const cause = { task: 't', node: 'n', effect: 't/1/1/0', hops: 1, root: 'r' }

describe('the port of objects', () => {
  it('reads text of the tenant, reports what does not exist, and rejects what is too large or no text', async () => {
    const host = await new SubscriptionsWorld().host()
    const port = objectPort(TENANT, () => host.objects)
    await host.put('a/b.json', '{"most":5}')
    await host.put('image', new Uint8Array([0xff, 0xd8]))
    await host.put('empty', new Uint8Array())
    expect(await port.get('assets', 'a/b.json', 10)).toMatchObject({
      text: '{"most":5}',
      object: { bucket: 'assets', path: 'a/b.json', size: 10, contentType: 'binary/octet-stream' },
    })
    expect(await port.get('assets', 'empty', 10)).toMatchObject({ text: '' })
    for (const path of ['none', 'a/']) expect(await port.get('assets', path, 10)).toBeUndefined()
    await expect(port.get('assets', 'a/b.json', 9)).rejects.toMatchObject({ code: 'TOO_LARGE' })
    await expect(port.get('assets', 'image', 10)).rejects.toThrow('not text in UTF-8')
    await expect(port.get('none', 'x', 10)).resolves.toBeUndefined()
    await host.stop()
  })

  it('writes in the name of a rule, with the rights of users, and ends rings of rules', async () => {
    const host = await new SubscriptionsWorld().host()
    const port = objectPort(TENANT, () => host.objects)
    const put = (bucket: string, more: object = {}) =>
      port.put(bucket, 'x', 'text', { contentType: 'text/plain' }, { ...cause, ...more })
    expect(await put('assets')).toMatchObject({ path: 'x', size: 4, contentType: 'text/plain' })
    const [change] = await host.objects.changes.read(0)
    expect(change?.cause).toMatchObject({ task: 't', effect: 't/1/1/0', hops: 1, root: 'r' })
    await expect(put('etl-export')).rejects.toMatchObject({ code: 'FORBIDDEN' })
    await expect(put('assets', { hops: 17 })).rejects.toMatchObject({ code: 'TOO_LARGE' })
    await expect(objectPort(TENANT, () => undefined).get('assets', 'x', 1)).rejects.toMatchObject({ code: 'CLOSED' })
    await host.stop()
  })
})

it('a change wakes sensors of its bucket, with the hops that led to it', async () => {
  const received: unknown[] = []
  const forwarding = objectForwarding({ receive: async (...args) => void received.push(args) })
  const object = { bucket: 'assets', path: 'x', etag: 'e', size: 1, contentType: 't', modified: 5, content: 'hidden' }
  const change: ObjectChange = { position: 1, event: 'delete', object, time: 7, cause }
  await forwarding.receive(change, [])
  const { content: _content, ...shown } = object
  expect(received).toEqual([
    [
      [
        {
          messages: { resource: 'assets', timestamp: 7, event: 'delete', object: shown },
          hops: 1,
          root: 'r',
          channel: 'object',
        },
      ],
      [],
    ],
  ])
})
