/** Invariants stand in the heads of files, and tests say which of them they hold. */
import { describe, expect, it } from 'vitest'
import { citedAlone, citedByPath, declaredIn, readInvariants } from '../.ci/docs/invariants.ts'

/** Invariants that no test names yet. The list only ever gets shorter: a new invariant comes with its test. */
const notNamed: readonly string[] = [
  'src/core/engine/timer-table.ts T3',
  'src/core/columnar/batch-shape.ts Q5',
  'src/core/schedule/wall-clock-schedule.ts I3',
  'src/kernel/feed.ts F2',
  'src/services/broker/mqtt/listener.ts Q3',
  'src/services/broker/posting/series-projector.ts F3',
  'src/services/broker/routes/streams/sockets.ts W4',
  'src/services/rules/durable/recovery.ts V2',
  'src/services/rules/tasks/task-event-history.ts T2',
]

const { all, lost } = readInvariants()

describe('invariants', () => {
  it('are read from the heads of files', () => {
    expect(all.length).toBeGreaterThan(100)
  })

  it('are declared once in their file', () => {
    const keys = all.map(({ path, id }) => `${path} ${id}`)
    expect(keys.filter((key, index) => keys.indexOf(key) !== index)).toEqual([])
  })

  it('are there where a test says that it holds them', () => {
    expect(lost).toEqual([])
  })

  it('are each named by a test that holds them, but those that are still open', () => {
    const open = all.filter(({ heldBy }) => heldBy.length === 0).map(({ path, id }) => `${path} ${id}`)
    expect(open.filter((key) => !notNamed.includes(key))).toEqual([])
    expect(notNamed.filter((key) => !open.includes(key))).toEqual([])
  })
})

describe('an invariant of a head', () => {
  it('begins with its id and goes on in lines that stand further in', () => {
    const source = [
      '/**',
      ' * What the file is.',
      ' *',
      ' *  N1 the first.',
      ' *  N2 the second',
      ' *     goes on',
      ' * This is not part of it: N3 is none.',
      ' */',
      '/** N4 stands elsewhere */',
    ].join('\n')
    expect(declaredIn(source)).toEqual([
      ['N1', 'the first'],
      ['N2', 'the second goes on'],
    ])
  })
})

describe('a citation', () => {
  it('by path has one id, some, or a range', () => {
    const source = '// Holds src/a/b.ts N1, N3 to N5,\n// src/c.ts A1\ndescribe()'
    expect(citedByPath(source)).toEqual([
      'src/a/b.ts N1',
      'src/a/b.ts N3',
      'src/a/b.ts N4',
      'src/a/b.ts N5',
      'src/c.ts A1',
    ])
  })

  it('by id alone stands in the first comment or in a title', () => {
    const source =
      "/** What holds (S1, S2). */\nconst S9 = 1\ndescribe('S4: after a crash', () => {\n  it('S5: a fact', () => {})\n})"
    expect(citedAlone(source)).toEqual(['S1', 'S2', 'S4', 'S5'])
  })

  it('by path is none by id alone', () => {
    expect(citedAlone('/** Holds src/a.ts N1 to N3. */')).toEqual([])
  })
})
