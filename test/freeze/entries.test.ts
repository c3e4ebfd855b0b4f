/** What the entries of the package export, as files; `vitest -u` writes them. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readText } from '../support/repository.ts'
import { ExportedTypes } from './exported-types.ts'

const { exports } = JSON.parse(readText('package.json')) as { exports: Record<string, string | { types: string }> }
/** source files by the names of the entries */
const ENTRIES = Object.entries(exports).flatMap(([name, entry]) =>
  typeof entry === 'string' ? [] : [[name, entry.types.replace('./dist/types/', '').replace('.d.ts', '.ts')] as const],
)
/** for tests of the host: its parameters are the inside */
const INSIDE = 'mountHost'

let types: ExportedTypes
beforeAll(() => {
  types = new ExportedTypes('src/tsconfig.json')
})
afterAll(() => types[Symbol.dispose]())

const expectFile = (name: string, lines: readonly string[]) =>
  expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(`golden/${name}.txt`)

describe('the entries', () => {
  it('export the names of the file', async () => {
    const lines = ENTRIES.flatMap(([name, path]) => [name, ...types.namesOf(types.exportsOf(path))])
    await expectFile('exports', lines)
  })

  it('lead to the types of the file', async () => {
    const exported = ENTRIES.flatMap(([, path]) => types.exportsOf(path))
    await expectFile('types', types.typesOf(exported.filter(([name]) => name !== INSIDE)))
  })
})
