/** Comments are for whoever reads the code here: they cite what is here, and each file says what it is. */
import { describe, expect, it } from 'vitest'
import { filesUnder, readText } from './support/repository.ts'

const OWN = 'test/comments.test.ts'
const files = [
  ...filesUnder(['src', 'plugins', 'test', 'bench', '.ci'], '.ts'),
  ...filesUnder(['.ci', 'fixtures', 'bench'], '.mjs'),
].filter((path) => path !== OWN && !path.startsWith('bench/node_modules/'))

/** Chapters of texts that are not in the checkout. RFCs are: anybody can open them. */
const ELSEWHERE = [
  /\bpart [1-9](?:,? \d|\b[^.\n]*\d\.\d)/,
  /\(\d\.\d(?:,? (?:to|and)? ?\d\.\d)*\)(?=.*\*\/|$)/,
  /\((?:promise|law|chapter) [1-9]\)/,
  /\(design\b/,
]

/** Comments of a source, each on one line. */
function commentsOf(source: string): readonly string[] {
  const blocks = [...source.matchAll(/\/\*\*?([\s\S]*?)\*\//g)].map((match) =>
    match[0].replaceAll(/\s*\n\s*\*?\s*/g, ' '),
  )
  const lines = [...source.matchAll(/^\s*\/\/ .*$/gm)].map((match) => match[0].trim())
  return [...blocks, ...lines]
}

function citesElsewhere(comment: string): boolean {
  return ELSEWHERE.some((pattern) => pattern.test(comment))
}

describe('comments', () => {
  it('cite nothing that is not in the checkout', () => {
    const found = files.flatMap((path) =>
      commentsOf(readText(path))
        .filter(citesElsewhere)
        .map((comment) => `${path}: ${comment.slice(0, 120)}`),
    )
    expect(found).toEqual([])
  })

  it.each([
    ['/** Routes of tasks. */', true],
    ['/** What becomes of a post. */', true],
    ['/** A stored rule with a name (2.3). */', true],
    ['/** Why a destination fired last. */', true],
    ['/** From local times to instants. */', true],
    ['/** The days that the BY parts of a rule allow (RFC 5545, 3.3.10). */', false],
    ['/** one part 2 bytes long */', false],
    ['/** a promise 2 of them wait for */', false],
  ])('%s is refused: %s', (comment, expected) => {
    expect(citesElsewhere(comment)).toBe(expected)
  })
})
