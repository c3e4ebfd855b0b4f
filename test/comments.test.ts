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
    ['/** Routes of tasks (part 2, 4.1). */', true],
    ['/** What becomes of a post: the table of part 3, 4.1. */', true],
    ['/** A stored rule with a name (2.3). */', true],
    ['/** Why a destination fired last (promise 4). */', true],
    ['/** From local times to instants (design: `dst`). */', true],
    ['/** The days that the BY parts of a rule allow (RFC 5545, 3.3.10). */', false],
    ['/** one part 2 bytes long */', false],
    ['/** a promise 2 of them wait for */', false],
  ])('%s is refused: %s', (comment, expected) => {
    expect(citesElsewhere(comment)).toBe(expected)
  })
})

/** The first sentence of the comment that a source opens with; undefined when it opens with something else. */
function opening(source: string): string | undefined {
  const comment = /^(?:#!.*\n)?\/\*\*([\s\S]*?)\*\//.exec(source)?.[1]
  const text = comment?.replaceAll(/\s*\n\s*\*?\s*/g, ' ').trim()
  return text === undefined ? undefined : /^.*?(?:\.(?= |$)|$)/.exec(text)?.[0]
}

/** A sentence of some words that begins like one and is not the name of the file again. */
function isPlain(sentence: string, path: string): boolean {
  const words = sentence.match(/[\p{L}\d'-]+/gu) ?? []
  const name = (path.split('/').at(-1) ?? '').replace(/\.ts$/, '')
  const said = words.join('-').toLowerCase()
  return words.length >= 3 && /^[\p{Lu}`$]/u.test(sentence) && said !== name && said !== `the-${name}`
}

describe('a source file', () => {
  it('opens with a plain sentence about what it is for', () => {
    const found = filesUnder(['src', 'plugins'], '.ts').filter((path) => {
      const sentence = opening(readText(path))
      return sentence === undefined || !isPlain(sentence, path)
    })
    expect(found).toEqual([])
  })

  it.each([
    ['src/a/read-post.ts', '/** Reads the body of a post. */\nimport x', true],
    ['src/cli/main.ts', '#!/usr/bin/env node\n/** The command line and its commands. */\n', true],
    ['src/a/order.ts', '/**\n * The one order of text:\n * by code point.\n */\n', true],
    ['src/a/read-post.ts', "import x from 'y'\n/** Reads the body of a post. */", false],
    ['src/a/read-post.ts', '/** read post. */\n', false],
    ['src/a/read-the-post.ts', '/** Read the post */\n', false],
    ['src/a/words.ts', '/** bytes of a text that is kept */\n', false],
    ['src/a/number.ts', '/** `1,440`. */\n', false],
  ])('%s with %j does: %s', (path, source, expected) => {
    const sentence = opening(source)
    expect(sentence !== undefined && isPlain(sentence, path)).toBe(expected)
  })
})
