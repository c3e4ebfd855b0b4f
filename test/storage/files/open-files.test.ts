import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import type { Blobs } from '../../../src/storage/blobs.ts'
import { DamageWatch } from '../../../src/storage/damage.ts'
import { openFiles } from '../../../src/storage/files/open-files.ts'
import { bytes, textAt, whole } from '../../contracts/storage/blob-kit.ts'
import { expectCode, failureOf } from '../../contracts/storage/medium.ts'

async function inFolder(check: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'reflexarc-files-'))
  try {
    await check(folder)
  } finally {
    await rm(folder, { recursive: true })
  }
}

const objectAt = (folder: string, name: string) => join(folder, 'objects', 't-acme', name)
const temporaries = (folder: string) => readdir(join(folder, 'temporary'))

/** Counts open files where the system reports them; elsewhere always 0. */
const openFds = async () => (await readdir('/proc/self/fd').catch(() => [])).length

async function etagAt(blobs: Blobs, path: string): Promise<string | undefined> {
  const found = await blobs.get(path)
  return (
    found &&
    createHash('sha256')
      .update(await whole(found.content))
      .digest('hex')
  )
}

describe('a folder of objects', () => {
  it('has one file an object, which begins with the content', () =>
    inFolder(async (folder) => {
      const blobs = (await openFiles({ folder })).tenant('acme')
      await blobs.put('reports/Ä.csv', bytes('one,two'))
      expect(await readdir(objectAt(folder, ''))).toEqual(['reports+%c3%84.csv.o'])
      expect(await readFile(objectAt(folder, 'reports+%c3%84.csv.o'), 'latin1')).toMatch(/^one,two\{"size":7,/)
      expect(await temporaries(folder)).toEqual([])
    }))

  it('loses what was never finished when it is opened, and nothing else', () =>
    inFolder(async (folder) => {
      const first = await openFiles({ folder })
      await first.tenant('acme').put('x', bytes('kept'))
      await first.close()
      await writeFile(join(folder, 'temporary', 'left'), 'half of something')
      await mkdir(join(folder, 'temporary', 'odd'))
      const again = await openFiles({ folder })
      expect(await temporaries(folder)).toEqual([])
      expect(await textAt(again.tenant('acme'), 'x')).toBe('kept')
    }))

  it('keeps nothing of content that breaks off or is rejected', () =>
    inFolder(async (folder) => {
      const blobs = (await openFiles({ folder })).tenant('acme')
      const reset = Object.assign(new Error('the line broke'), { code: 'ECONNRESET', syscall: 'read' })
      async function* broken(): AsyncIterable<Uint8Array> {
        yield bytes('half')
        throw reset
      }
      await expect(blobs.put('x', broken())).rejects.toBe(reset)
      await expectCode(() => blobs.put('x', bytes('x'), { expect: '0'.repeat(64) }), 'CONFLICT')
      expect(await temporaries(folder)).toEqual([])
    }))

  it('names its files so that no path is a way out, and files of others are not objects', () =>
    inFolder(async (folder) => {
      const blobs = (await openFiles({ folder })).tenant('acme')
      await blobs.put('x', bytes('x'))
      for (const name of ['README', 'y', '.o', '%zz.o', 'UPPER.o', 'short.d'])
        await writeFile(objectAt(folder, name), 'mine')
      expect((await blobs.list({})).map((info) => info.path)).toEqual(['x'])
      for (const path of ['README', 'y', 'UPPER']) expect(await blobs.info(path)).toBeUndefined()
    }))

  it('follows no symbolic link, neither to a file nor to a folder', () =>
    inFolder(async (folder) => {
      const medium = await openFiles({ folder })
      const blobs = medium.tenant('acme')
      await blobs.put('real', bytes('real'))
      await mkdir(join(folder, 'elsewhere'))
      await symlink(objectAt(folder, 'real.o'), objectAt(folder, 'link.o'))
      await symlink(join(folder, 'elsewhere'), join(folder, 'objects', 't-evil'))
      await symlink(join(folder, 'elsewhere'), objectAt(folder, `${'x'.repeat(60)}.d`))

      await expectCode(() => blobs.get('link'), 'STORE')
      expect((await blobs.list({})).map((info) => info.path)).toEqual(['real'])
      for (const act of [
        () => medium.tenant('evil').put('y', bytes('y')),
        () => medium.tenant('evil').info('y'),
        () => medium.tenant('evil').list({}),
        () => blobs.put('x'.repeat(70), bytes('y')),
        () => blobs.get('x'.repeat(70)),
        () => blobs.delete('x'.repeat(70)),
      ]) {
        expect((await failureOf(act)).message).toMatch(/a link or a file instead of a folder/)
      }
      expect(await readdir(join(folder, 'elsewhere'))).toEqual([])
      await blobs.put('link', bytes('mine now'))
      expect([await textAt(blobs, 'link'), await textAt(blobs, 'real')]).toEqual(['mine now', 'real'])
    }))

  it('names which object is damaged, and takes a new one in its place', () =>
    inFolder(async (folder) => {
      const blobs = (await openFiles({ folder })).tenant('acme')
      for (const length of [0, 5, 100]) {
        await blobs.put('x', bytes('content'.repeat(10)))
        await truncate(objectAt(folder, 'x.o'), length)
        const failure = await failureOf(() => blobs.get('x'))
        expect([failure.code, failure.message]).toEqual([
          'DAMAGED',
          expect.stringContaining('The file of the object x is damaged') as string,
        ])
      }
      await writeFile(
        objectAt(folder, 'x.o'),
        Buffer.concat([bytes('{"size":1}'), Buffer.alloc(7), Buffer.from([99]), bytes('reflexo2')]),
      )
      await expectCode(() => blobs.info('x'), 'DAMAGED')
      await writeFile(objectAt(folder, 'x.o'), bytes('content{"size":7}0000reflexo1'))
      await expectCode(() => blobs.info('x'), 'STORE')
      await blobs.put('x', bytes('new'))
      expect(await textAt(blobs, 'x')).toBe('new')
    }))

  it.each([
    ['of one read', 5_000, 'sha256', 100],
    ['of one read with an MD5', 5_000, 'md5', 4_999],
    ['that is streamed', 1_000_000, 'sha256', 0],
    ['that is streamed with an MD5', 1_000_000, 'md5', 999_999],
    ['whose metadata changed', 5_000, 'sha256', 5_030],
  ] as const)('is never read whole: a content %s of which a bit is another', (_what, size, digest, place) =>
    inFolder(async (folder) => {
      const lines: string[] = []
      const damage = new DamageWatch({ error: (line) => void lines.push(line) })
      const blobs = (await openFiles({ folder, damage })).tenant('acme')
      const read = async (path: string) => {
        const found = await blobs.get(path)
        return found && (await whole(found.content)).length
      }
      const content = Buffer.alloc(size, 'content ')
      await blobs.put('x', content, { digest, metadata: { of: 'the boiler' } })
      await blobs.put('y', content, { digest })
      expect([await read('x'), damage.count]).toEqual([size, 0])
      const file = await readFile(objectAt(folder, 'x.o'))
      file[place] = (file[place] ?? 0) ^ 16
      await writeFile(objectAt(folder, 'x.o'), file)
      await expectCode(() => read('x'), 'DAMAGED')
      expect([await read('y'), damage.count, lines.length]).toEqual([size, 1, 1])
    }),
  )

  it('takes metadata up to its bound, whatever that is as JSON', () =>
    inFolder(async (folder) => {
      const blobs = (await openFiles({ folder })).tenant('acme')
      const metadata = { a: '"'.repeat(4_000), b: 'ä'.repeat(2_000) }
      await blobs.put('x', bytes('x'), { metadata })
      expect((await blobs.info('x'))?.metadata).toEqual(metadata)
    }))

  it('keeps no file open for content without a reader, and reports when it was replaced meanwhile', () =>
    inFolder(async (folder) => {
      const blobs = (await openFiles({ folder })).tenant('acme')
      await blobs.put('big', new Uint8Array(400_000).fill(1))
      const before = await openFds()
      const found = await Promise.all(Array.from({ length: 30 }, () => blobs.get('big')))
      expect(await openFds()).toBeLessThan(before + 20)
      await blobs.put('big', new Uint8Array(400_000).fill(1))
      expect(found[0] && (await whole(found[0].content)).length).toBe(400_000)
      await blobs.put('big', new Uint8Array(400_000).fill(2))
      await expectCode(() => found[1] && whole(found[1].content), 'CONFLICT')
      await blobs.delete('big')
      await expectCode(() => found[2] && whole(found[2].content), 'CONFLICT')
    }))

  it('reads on with what it began, when that is replaced', () =>
    inFolder(async (folder) => {
      const blobs = (await openFiles({ folder })).tenant('acme')
      const { etag } = await blobs.put('big', new Uint8Array(400_000).fill(1))
      const found = await blobs.get('big')
      const hash = createHash('sha256')
      let replaced = false
      for await (const chunk of found?.content ?? []) {
        if (!replaced) await blobs.put('big', new Uint8Array(400_000).fill(2))
        replaced = true
        hash.update(chunk)
      }
      expect(hash.digest('hex')).toBe(etag)
    }))

  it.each([
    ['a file stands where the folder should be', async (folder: string) => writeFile(join(folder, 'data'), 'x')],
    [
      'a link stands where its objects should be',
      async (folder: string) => {
        await mkdir(join(folder, 'data'))
        await symlink(folder, join(folder, 'data', 'objects'))
      },
    ],
  ])('cannot be opened when %s, and reports it', (_, prepare) =>
    inFolder(async (folder) => {
      await prepare(folder)
      const failure = await failureOf(() => openFiles({ folder: join(folder, 'data') }))
      expect(failure.code).toBe('STORE')
      expect(failure.message).toContain(join(folder, 'data'))
    }),
  )

  it('lists what is put and deleted while it is listed for the first time', () =>
    inFolder(async (folder) => {
      const first = await openFiles({ folder })
      for (let i = 0; i < 30; i += 1) await first.tenant('acme').put(`o${i}`, bytes('x'))
      await first.close()
      const blobs = (await openFiles({ folder })).tenant('acme')
      const listing = blobs.list({})
      await Promise.all([blobs.put('new', bytes('x')), blobs.delete('o3'), blobs.put('o4', bytes('y'))])
      await listing
      const paths = (await blobs.list({})).map((info) => info.path)
      expect(paths).toHaveLength(30)
      expect([paths.includes('new'), paths.includes('o3'), paths.includes('o4')]).toEqual([true, false, true])
    }))
})

describe('STORE-4: after kill -9', () => {
  it.each([1, 20, 45])('every object that was answered is there whole, and none is half (killed after %i)', (answers) =>
    inFolder(async (folder) => {
      const answered = await killedWriter(folder, answers)
      const medium = await openFiles({ folder })
      expect(await temporaries(folder)).toEqual([])
      const blobs = medium.tenant('acme')
      const listed = await blobs.list({})
      for (const info of listed) expect(await etagAt(blobs, info.path)).toBe(info.etag)
      const there = new Map(listed.map((info) => [info.path, info.etag]))
      for (const [path, etags] of answered) {
        // A newer content may have been written after the last acknowledged one, but an older one must not return
        const at = etags.indexOf(there.get(path) ?? '')
        expect([path, there.has(path), at === -1 || at === etags.length - 1]).toEqual([path, true, true])
      }
    }),
  )
})

/** Returns, for each path, the etags that were acknowledged in order before the writer was killed. */
async function killedWriter(folder: string, answers: number): Promise<ReadonlyMap<string, readonly string[]>> {
  const script = fileURLToPath(new URL('object-writer.ts', import.meta.url))
  const child = spawn(process.execPath, [script, folder], { stdio: ['ignore', 'pipe', 'inherit'] })
  const answered = new Map<string, string[]>()
  let count = 0
  for await (const line of createInterface({ input: child.stdout })) {
    const [path = '', etag = ''] = line.split(' ')
    if (etag.length !== 64) continue
    answered.set(path, [...(answered.get(path) ?? []), etag])
    count += 1
    if (count === answers) child.kill('SIGKILL')
  }
  expect(count).toBeGreaterThanOrEqual(answers)
  return answered
}
