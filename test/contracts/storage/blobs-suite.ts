/**
 * Conformance of objects by path. `describeBlobs(name, medium)` takes a whole storage, or anything that gives tenants
 * their blobs.
 */
import { expect } from 'vitest'
import { blobFact, broken, bytes, etagOf, pieces, textAt, whole, type BlobHost } from './blob-kit.ts'
import { definesLists } from './blob-list-facts.ts'
import { describeMedium, expectCode, failureOf, START, type Medium, type Suite } from './medium.ts'

export function describeBlobs(name: string, medium: Medium<BlobHost>): void {
  describeMedium(`blobs on ${name}`, medium, (suite) => {
    definesObjects(suite)
    definesLists(suite)
    definesExpectations(suite)
    definesRefusals(suite)
  })
}

function definesObjects(suite: Suite<BlobHost>): void {
  const fact = blobFact(suite)

  fact('an object comes back with its size, SHA-256, type, time and metadata', async (blobs, { clock }) => {
    clock.now = START + 5
    const content = bytes('hällo')
    const info = await blobs.put('a/b.txt', content, { contentType: 'text/plain', metadata: { Owner: 'ä😀', b: '' } })
    const expected = {
      path: 'a/b.txt',
      size: 6,
      etag: etagOf(content),
      contentType: 'text/plain',
      modified: START + 5,
      metadata: { Owner: 'ä😀', b: '' },
    }
    expect(info).toEqual(expected)
    expect(await blobs.info('a/b.txt')).toEqual(expected)
    expect(await blobs.list({})).toEqual([expected])
    expect((await blobs.get('a/b.txt'))?.info).toEqual(expected)
    expect(await textAt(blobs, 'a/b.txt')).toBe('hällo')
  })

  fact('what does not exist is undefined', async (blobs) => {
    await blobs.put('a/b', bytes('x'))
    for (const path of ['a', 'a/b/c', 'b', 'A/b', 'a/B']) {
      expect([path, await blobs.info(path), await blobs.get(path)]).toEqual([path, undefined, undefined])
    }
  })

  fact('without a type it is application/octet-stream, without metadata it has none', async (blobs) => {
    expect(await blobs.put('x', bytes(''))).toMatchObject({
      size: 0,
      contentType: 'application/octet-stream',
      metadata: {},
    })
    expect(await textAt(blobs, 'x')).toBe('')
  })

  fact('the etag is MD5 where a put asks for that, and can be expected', async (blobs) => {
    const md5 = '900150983cd24fb0d6963f7d28e17f72'
    expect((await blobs.put('x', pieces('a', 'bc'), { digest: 'md5' })).etag).toBe(md5)
    expect((await blobs.info('x'))?.etag).toBe(md5)
    expect((await blobs.put('x', bytes('abc'), { expect: md5 })).etag).toBe(etagOf(bytes('abc')))
  })

  fact('content may come in pieces, empty ones among them', async (blobs) => {
    const info = await blobs.put('x', pieces('one ', '', 'two ', 'three'))
    expect(info).toMatchObject({ size: 13, etag: etagOf(bytes('one two three')) })
    expect(await textAt(blobs, 'x')).toBe('one two three')
  })

  fact('content is copied at the call', async (blobs) => {
    const content = bytes('before')
    const putting = blobs.put('x', content)
    content.fill(0)
    await putting
    expect(await textAt(blobs, 'x')).toBe('before')
    const found = await blobs.get('x')
    if (found) for await (const chunk of found.content) chunk.fill(0)
    expect(await textAt(blobs, 'x')).toBe('before')
  })

  fact('a megabyte of any bytes comes back, whole and in ranges', async (blobs) => {
    const content = new Uint8Array(1_100_000).map((_, i) => (i * 31 + (i >> 8)) & 255)
    const info = await blobs.put('big', content)
    expect(info.etag).toBe(etagOf(content))
    const read = await blobs.get('big')
    expect(read && etagOf(await whole(read.content))).toBe(info.etag)
    for (const [from, until] of [
      [0, 0],
      [65_535, 65_537],
      [1_000_000, 1_099_999],
    ] as const) {
      const part = await blobs.get('big', { from, until })
      expect(part && etagOf(await whole(part.content))).toBe(etagOf(content.subarray(from, until + 1)))
    }
  })

  fact('a range has both its ends, is cut at the end of the content, and may be empty', async (blobs) => {
    await blobs.put('x', bytes('0123456789'))
    expect(await textAt(blobs, 'x', { from: 2, until: 4 })).toBe('234')
    expect(await textAt(blobs, 'x', { from: 7 })).toBe('789')
    expect(await textAt(blobs, 'x', { from: 9, until: 99 })).toBe('9')
    expect(await textAt(blobs, 'x', { from: 10 })).toBe('')
    expect(await textAt(blobs, 'x', { from: 99, until: 100 })).toBe('')
    expect((await blobs.get('x', { from: 2, until: 4 }))?.info.size).toBe(10)
    for (const range of [
      { from: -1 },
      { from: 1.5 },
      { from: Number.NaN },
      { from: 3, until: 2 },
      { from: 0, until: 0.5 },
    ]) {
      await expectCode(() => blobs.get('x', range), 'VALIDATION', JSON.stringify(range))
    }
  })

  fact('a second put replaces content, type and metadata whole', async (blobs) => {
    await blobs.put('x', bytes('a long first one'), { contentType: 'text/plain', metadata: { a: '1' } })
    await blobs.put('x', bytes('second'))
    expect(await textAt(blobs, 'x')).toBe('second')
    expect(await blobs.info('x')).toMatchObject({ size: 6, contentType: 'application/octet-stream', metadata: {} })
    expect(await blobs.list({})).toHaveLength(1)
  })

  fact('content that breaks off leaves what was there', async (blobs) => {
    await expect(blobs.put('new', broken())).rejects.toThrow(/hung up/)
    expect(await blobs.info('new')).toBeUndefined()
    await blobs.put('old', bytes('old'))
    await expect(blobs.put('old', broken())).rejects.toThrow(/hung up/)
    expect(await textAt(blobs, 'old')).toBe('old')
    expect(await blobs.list({})).toHaveLength(1)
  })

  fact('a reader sees one content or another, never a mixture', async (blobs) => {
    const contents = ['a', 'b', 'c'].map((letter) => letter.repeat(300_000))
    await blobs.put('x', bytes(contents[0] ?? ''))
    const writing = (async () => {
      for (let i = 1; i <= 9; i += 1) await blobs.put('x', bytes(contents[i % 3] ?? ''))
    })()
    for (let i = 0; i < 15; i += 1) {
      const found = await blobs.get('x')
      if (found === undefined) throw new Error('the object is gone')
      const read = await whole(found.content).catch((thrown: unknown) => thrown)
      // A medium may refuse to go on with content that was replaced under it
      if (read instanceof Error) expect((await failureOf(() => Promise.reject(read))).code).toBe('CONFLICT')
      else expect(etagOf(read as Uint8Array)).toBe(found.info.etag)
    }
    await writing
  })

  fact('a copy has what its source has, and each goes its own way', async (blobs) => {
    const info = await blobs.put('a', bytes('same'), { contentType: 'text/plain', metadata: { k: 'v' } })
    await blobs.put('b', bytes('other'))
    expect([await blobs.copy('a', 'b'), await blobs.copy('a', 'c/d'), await blobs.copy('a', 'b')]).toEqual([
      true,
      true,
      true,
    ])
    expect(await blobs.list({})).toEqual(['a', 'b', 'c/d'].map((path) => ({ ...info, path })))
    await blobs.put('a', bytes('new'))
    await blobs.delete('b')
    expect([await textAt(blobs, 'a'), await textAt(blobs, 'c/d')]).toEqual(['new', 'same'])
    expect([await blobs.copy('b', 'c/d'), await blobs.copy('x/y', 'z'), await blobs.copy('a', 'a')]).toEqual([
      false,
      false,
      true,
    ])
    expect(await textAt(blobs, 'c/d')).toBe('same')
    await expectCode(() => blobs.copy('a', '../b'), 'VALIDATION')
    await expectCode(() => blobs.copy('../a', 'b'), 'VALIDATION')
  })

  fact('delete says whether there was one', async (blobs) => {
    await blobs.put('a', bytes('x'))
    await blobs.put('a/b', bytes('y'))
    expect(await blobs.delete('a')).toBe(true)
    expect(await blobs.delete('a')).toBe(false)
    expect(await blobs.delete('a/b/c')).toBe(false)
    expect(await blobs.info('a')).toBeUndefined()
    expect(await textAt(blobs, 'a/b')).toBe('y')
    await blobs.put('a', bytes('again'))
    expect(await textAt(blobs, 'a')).toBe('again')
  })

  suite.fact('two tenants do not meet, not even by case', async ({ storage, tenant }) => {
    const [one, two] = [storage.tenant(`${tenant}.A`).blobs, storage.tenant(`${tenant}.a`).blobs]
    await one.put('x', bytes('one'))
    expect([await two.info('x'), await two.list({}), await two.delete('x')]).toEqual([undefined, [], false])
    await two.put('x', bytes('two'))
    expect([await textAt(one, 'x'), await textAt(two, 'x')]).toEqual(['one', 'two'])
  })

  suite.alone('objects are there after opening again', async (opened) => {
    const { blobs } = opened.storage.tenant('acme')
    const info = await blobs.put('a/b', bytes('kept'), { contentType: 'text/plain', metadata: { k: 'v' } })
    await blobs.put('gone', bytes('x'))
    await blobs.delete('gone')
    const again = (await opened.reopen()).tenant('acme').blobs
    expect(await again.list({})).toEqual([info])
    expect(await textAt(again, 'a/b')).toBe('kept')
  })

  suite.alone('after close everything is CLOSED', async ({ storage }) => {
    const { blobs } = storage.tenant('acme')
    await storage.close()
    for (const act of [
      () => blobs.put('x', bytes('x')),
      () => blobs.get('x'),
      () => blobs.info('x'),
      () => blobs.list({}),
      () => blobs.copy('x', 'y'),
      () => blobs.delete('x'),
    ]) {
      await expectCode(act, 'CLOSED', String(act))
    }
  })
}

function definesExpectations(suite: Suite<BlobHost>): void {
  const fact = blobFact(suite)

  fact('an expected etag that does not exist is a CONFLICT and changes nothing', async (blobs) => {
    const first = await blobs.put('x', bytes('first'), { expect: 'absent' })
    const failure = await failureOf(() => blobs.put('x', bytes('late'), { expect: 'absent' }))
    expect(failure.code).toBe('CONFLICT')
    expect(failure.message).toContain('x')
    const second = await blobs.put('x', bytes('second'), { expect: first.etag })
    await expectCode(() => blobs.put('x', bytes('late'), { expect: first.etag }), 'CONFLICT')
    await expectCode(() => blobs.put('y', bytes('late'), { expect: first.etag }), 'CONFLICT')
    expect(await textAt(blobs, 'x')).toBe('second')
    expect(await blobs.info('y')).toBeUndefined()
    await blobs.put('x', pieces('third'), { expect: second.etag })
    await blobs.delete('x')
    await expectCode(() => blobs.put('x', bytes('late'), { expect: second.etag }), 'CONFLICT')
    await blobs.put('x', bytes('fourth'), { expect: 'absent' })
  })

  fact('of many that create the same object at once one wins', async (blobs) => {
    const tries = await Promise.allSettled(
      Array.from({ length: 12 }, (_, i) => blobs.put('x', bytes(`writer ${i}`), { expect: 'absent' })),
    )
    expect(tries.filter((one) => one.status === 'fulfilled')).toHaveLength(1)
    expect(await textAt(blobs, 'x')).toBe(`writer ${tries.findIndex((one) => one.status === 'fulfilled')}`)
  })

  fact('of many that replace the same content at once one wins', async (blobs) => {
    const { etag } = await blobs.put('x', bytes('first'))
    const tries = await Promise.allSettled(
      Array.from({ length: 12 }, (_, i) => blobs.put('x', bytes(`writer ${i}`), { expect: etag })),
    )
    expect(tries.filter((one) => one.status === 'fulfilled')).toHaveLength(1)
  })
}

const BAD_PATHS = [
  '',
  '/',
  '/a',
  'a/',
  'a//b',
  '.',
  '..',
  './a',
  'a/.',
  'a/..',
  '../a',
  'a/../b',
  'a\0b',
  '\ud800',
  '/etc/passwd',
  '../../x',
]

function definesRefusals(suite: Suite<BlobHost>): void {
  const fact = blobFact(suite)

  fact('a path that leads elsewhere is VALIDATION in every call, and nothing is written', async (blobs) => {
    for (const path of BAD_PATHS) {
      const name = JSON.stringify(path)
      await expectCode(() => blobs.put(path, bytes('x')), 'VALIDATION', name)
      await expectCode(() => blobs.get(path), 'VALIDATION', name)
      await expectCode(() => blobs.info(path), 'VALIDATION', name)
      await expectCode(() => blobs.delete(path), 'VALIDATION', name)
    }
    await expectCode(() => blobs.put('x'.repeat(1_025), bytes('x')), 'TOO_LARGE')
    await expectCode(() => blobs.put('é'.repeat(513), bytes('x')), 'TOO_LARGE')
    expect(await blobs.list({})).toEqual([])
  })

  fact('bad types, metadata and expectations are refused', async (blobs) => {
    const bad: readonly Record<string, unknown>[] = [
      { contentType: '' },
      { contentType: 'text/plain\r\nX-Evil: 1' },
      { metadata: JSON.parse('{"__proto__":"x"}') },
      { metadata: { '': 'x' } },
      { metadata: { 'a\nb': 'x' } },
      { expect: '' },
      { expect: 'no etag' },
    ]
    for (const options of bad) {
      await expectCode(() => blobs.put('x', bytes('x'), options), 'VALIDATION', JSON.stringify(options))
    }
    await expectCode(() => blobs.put('x', bytes('x'), { contentType: 'x'.repeat(256) }), 'TOO_LARGE')
    await expectCode(() => blobs.put('x', bytes('x'), { metadata: { a: 'x'.repeat(8_193) } }), 'TOO_LARGE')
    expect(await blobs.list({})).toEqual([])
  })
}
