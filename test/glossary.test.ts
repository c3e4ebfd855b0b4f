/** Retired words stay retired: no class, exported type or constant is named by one of them (docs/glossary.md). */
import { describe, expect, it } from 'vitest'
import { filesUnder, readText } from './support/repository.ts'
import { scanSource } from './support/scan-source.ts'

/** The first column of the table of retired words. */
function retiredWords(glossary: string): readonly string[] {
  const table = glossary.split('| retired | instead |')[1] ?? ''
  return [...table.matchAll(/^\| (\S+) \| .+ \|$/gm)].map((match) => match[1] ?? '').filter((word) => word !== '---')
}

interface Named {
  readonly name: string
  readonly path: string
}

/** Classes, exported types, and constants in capitals. */
function namesOf(path: string, source: string): readonly Named[] {
  const { code } = scanSource(source)
  const types = code.matchAll(/^(?:export )?(?:abstract )?class (\w+)|^export (?:interface|type) (\w+)/gm)
  const constants = code.matchAll(/^(?:export )?const ([A-Z][A-Z\d_]+)\b/gm)
  return [...types, ...constants].map((match) => ({ name: match[1] ?? match[2] ?? '', path }))
}

/** Whether a name has the words of a retired one next to each other; a star stands for any words at that end, or none. */
function uses(name: string, retired: string): boolean {
  if (retired.endsWith('_*')) return name.startsWith(retired.slice(0, -1))
  // a constant may be an English word
  if (/^[A-Z\d_]+$/.test(name) && name.length > 1) return false
  const words = wordsOf(name)
  const wanted = wordsOf(retired.replaceAll('*', ''))
  return words.some((_, at) => {
    if (retired.startsWith('*') && at + wanted.length !== words.length) return false
    if (retired.endsWith('*') && at !== 0) return false
    return wanted.every((word, index) => words[at + index] === word)
  })
}

/** `AlarmDesk` and `MOST_READ` as lower-case words. */
function wordsOf(name: string): readonly string[] {
  return name
    .split(/_|(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/)
    .map((word) => word.toLowerCase())
    .filter((word) => word !== '')
}

const retired = retiredWords(readText('docs/glossary.md'))
const names = filesUnder(['src', 'plugins'], '.ts').flatMap((path) => namesOf(path, readText(path)))
const users = (word: string) =>
  names.filter(({ name }) => uses(name, word)).map(({ name, path }) => `${name} (${path})`)

describe('retired words', () => {
  it('are read from the glossary, and names from the code', () => {
    expect(retired.length).toBeGreaterThan(20)
    expect(names.length).toBeGreaterThan(500)
  })

  it('stand there once', () => {
    expect(retired.filter((word, index) => retired.indexOf(word) !== index)).toEqual([])
  })

  it.each(retired)('%s names nothing', (word) => {
    expect(users(word)).toEqual([])
  })
})

describe('a name', () => {
  it.each([
    ['AlarmDesk', 'AlarmDesk', true],
    ['AlarmDeskParts', 'AlarmDesk', true],
    ['AlarmWriterDesk', 'AlarmDesk', false],
    ['Books', 'Books', true],
    ['Bookshelf', 'Books', false],
    ['QuietLane', 'Quiet', true],
    ['OfficeParts', '*Parts', true],
    ['Parts', '*Parts', true],
    ['PartsOfTask', '*Parts', false],
    ['LaterCalls', 'Later*', true],
    ['Later', 'Later*', true],
    ['CalledLater', 'Later*', false],
    ['MOST_WAITING', 'MOST_*', true],
    ['MAX_MOST_WAITING', 'MOST_*', false],
    ['QUIET', 'Quiet', false],
    ['Refolded', 'Fold', false],
  ])('%s uses %s: %s', (name, word, expected) => {
    expect(uses(name, word)).toBe(expected)
  })
})
