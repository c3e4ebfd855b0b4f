/** The store as it is shipped: built JavaScript, whose threads begin with built files. */
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { root } from '../../support/repository.ts'
import { mustRun } from '../../support/run-command.ts'
import { temporaryFolder } from './sqlite-medium.ts'

let folder = ''
beforeAll(() => {
  folder = temporaryFolder()
})
afterAll(() => rmSync(folder, { recursive: true }))

it('writes, finds and reads again from a build without sources', () => {
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  const out = join(folder, 'dist')
  mkdirSync(out)
  mustRun(process.execPath, [compiler, '-p', join(root, 'src', 'tsconfig.json'), '--outDir', out, '--noCheck'], root)
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  writeFileSync(
    join(folder, 'use.js'),
    `
    import { openMemoryBlobs } from './dist/src/storage/memory/memory-objects.js'
    import { openSqlite } from './dist/src/storage/sqlite/open-sqlite.js'
    const storage = await openSqlite({ folder: process.argv[2], blobs: openMemoryBlobs() })
    const store = storage.tenant('acme')
    const notes = store.collection({ name: 'notes', version: 1, fields: { text: { type: 'text', of: (note) => note.text } } })
    await notes.put('a', { text: 'built' })
    await store.series.append({ samples: [{ resource: 'r', metric: 'm', time: 1, value: 2 }] })
    const found = await notes.find({ where: [{ field: 'text', op: 'contains', value: 'UIL' }] })
    console.log(JSON.stringify([found, await store.series.latest('r')]))
    await storage.close()`,
  )
  const printed = mustRun(process.execPath, [join(folder, 'use.js'), join(folder, 'data')], folder)
  expect(JSON.parse(printed)).toEqual([
    [{ id: 'a', version: 1, value: { text: 'built' } }],
    [{ resource: 'r', metric: 'm', time: 1, value: 2 }],
  ])
})
