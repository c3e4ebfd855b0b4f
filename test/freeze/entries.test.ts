/** What the entries of the package export, and their plugs, as files; `vitest -u` writes them. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { builtins } from '../../plugins/index.ts'
import type { InputField, OutputField } from '../../src/index.ts'
import { readText } from '../support/repository.ts'
import { ExportedTypes } from './exported-types.ts'

const { exports } = JSON.parse(readText('package.json')) as { exports: Record<string, string | { types: string }> }
/** source files by the names of the entries */
const ENTRIES = Object.entries(exports).flatMap(([name, entry]) =>
  typeof entry === 'string' ? [] : [[name, entry.types.replace('./dist/types/', '').replace('.d.ts', '.ts')] as const],
)
/** for tests of the host: its parameters are the inside */
const INSIDE = 'mountHost'

/** A declared field in one line. */
const fieldLine = ([name, field]: [string, InputField | OutputField]) => {
  const { description: _words, example: _value, ...rest } = { example: undefined, ...field }
  return `  ${name} ${JSON.stringify(rest)}`
}

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

  it('have the plugs of the file', async () => {
    const plugs = builtins.map(({ kind, name, version, states, input, output, openOutput }) => {
      const inputs = Object.entries(input).map(fieldLine)
      const outputs = Object.entries(output).map(fieldLine)
      const open = openOutput ? ['  and others'] : []
      return [`${kind} ${name} ${version}: ${states.join(', ')}`, ...inputs, '  gives', ...outputs, ...open].join('\n')
    })
    await expectFile('plugs', plugs.toSorted())
  })
})
