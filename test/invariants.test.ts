/** Invariants stand in the heads of files, and tests say which of them they hold. */
import { describe, expect, it } from 'vitest'
import { citedIn, declaredIn, readInvariants } from '../.ci/docs/invariants.ts'
import { filesUnder, readText } from './support/repository.ts'

const { all, lost } = readInvariants()

describe('invariants', () => {
  it('are read from the heads of files', () => {
    expect(all.length).toBeGreaterThan(100)
  })

  it('have a word and a number for an id, not a letter, which every file would have', () => {
    const heads = filesUnder(['src', 'plugins'], '.ts').map((path) => ({ path, source: readText(path) }))
    expect(heads.filter(({ source }) => /^ \* [A-Z]{1,3}\d+ +\S/m.test(source)).map(({ path }) => path)).toEqual([])
  })

  it('have ids that are theirs alone', () => {
    const ids = all.map(({ id }) => id)
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([])
  })

  it('share the word of their ids with those of their file, and with no others', () => {
    const owners = new Map(all.map(({ id, path }) => [id.split('-')[0], path]))
    expect(all.filter(({ id, path }) => owners.get(id.split('-')[0]) !== path)).toEqual([])
    expect(owners.size).toBe(new Set(all.map(({ path }) => path)).size)
  })

  it('are each in the table of invariants', () => {
    const rows = readText('docs/reference/invariants.md').split('\n')
    expect(all.filter(({ id, path }) => !rows.some((row) => row.startsWith(`| \`${path}\` | ${id} |`)))).toEqual([])
  })

  it('exist where they are cited', () => {
    expect(lost).toEqual([])
  })

  it('are each named by a test that holds them', () => {
    expect(all.filter(({ heldBy }) => heldBy.length === 0).map(({ path, id }) => `${path} ${id}`)).toEqual([])
  })
})

describe('an invariant of a head', () => {
  it('begins with its id and goes on in lines that stand further in', () => {
    const source = [
      '/**',
      ' * What the file is.',
      ' *',
      ' * LANE-1 the first.',
      ' * LANE-2 the second',
      ' *   goes on',
      ' * This is not part of it: LANE-3 is none.',
      ' */',
      '/** LANE-4 stands elsewhere */',
    ].join('\n')
    expect(declaredIn(source)).toEqual([
      ['LANE-1', 'the first'],
      ['LANE-2', 'the second goes on'],
    ])
  })
})

describe('a citation', () => {
  it('is one id, some, or a range, also over two lines', () => {
    expect(citedIn('// Holds LANE-1, LANE-3 to LANE-5,\n  // TIMER-1\ndescribe()')).toEqual([
      'LANE-1',
      'LANE-3',
      'LANE-4',
      'LANE-5',
      'TIMER-1',
    ])
  })

  it('stands in comments and titles alike', () => {
    const source = "/** What holds (STORE-1). */\ndescribe('STORE-4: after a crash', () => {})"
    expect(citedIn(source)).toEqual(['STORE-1', 'STORE-4'])
  })

  it('is not what only looks like one', () => {
    expect(citedIn('UTF-8, SHA-256, BSD-2-Clause, THE-LANE-1')).toEqual([])
  })
})
