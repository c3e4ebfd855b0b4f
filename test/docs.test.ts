/** Documents are true: links resolve, tables match the code. test/wide/ runs their programs and commands. */
import { existsSync, readdirSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { describe, expect, it } from 'vitest'
import { GENERATED, renewed } from '../.ci/docs.ts'
import { anchorsOf, proseOf, relativeLinks } from './support/read-markdown.ts'
import { filesUnder, readText, root } from './support/repository.ts'

const PAGES = [
  'README.md',
  ...filesUnder(['docs'], '.md'),
  ...['CONTRIBUTING.md', 'CHANGELOG.md', 'fixtures/README.md', 'bench/README.md'].filter((page) =>
    existsSync(join(root, page)),
  ),
]
describe('what is made of the code', () => {
  it.each(Object.keys(GENERATED))('is in %s as the code has it; `npm run docs` writes it again', async (page) => {
    expect(readText(page)).toBe(await renewed(page))
  })
})

describe.each(PAGES)('%s', (page) => {
  const text = readText(page)

  it('links only to files and headings that exist', () => {
    const lost = relativeLinks(text).filter((link) => {
      const [path = '', fragment] = link.split('#')
      const target = path === '' ? page : posix.join(dirname(page), path)
      if (!existsSync(join(root, target))) return true
      return fragment !== undefined && target.endsWith('.md') && !anchorsOf(readText(target)).has(fragment)
    })
    expect(lost).toEqual([])
  })

  it('names only paths that exist, unless they have a <part> to fill in', () => {
    const named = [...proseOf(text).matchAll(/`((?:src|plugins|test|fixtures|bench|docs|\.ci)\/[^`\s]*)`/g)]
    const paths = named.map((match) => match[1] ?? '').filter((path) => !/[<*]/.test(path))
    expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([])
  })

  it('names the commands of package.json as they are', () => {
    const { scripts } = JSON.parse(readText('package.json')) as { scripts: Record<string, string> }
    const named = [...text.matchAll(/\bnpm (?:run )?(start|test|(?<=run )[a-z:]+)\b/g)].map((match) => match[1] ?? '')
    expect(named.filter((name) => !(name in scripts))).toEqual([])
  })
})

describe('decisions', () => {
  const decisions = filesUnder(['docs/decisions'], '.md').filter((page) => page !== 'docs/decisions/README.md')

  it('are numbered without a gap', () => {
    const numbers = decisions.map((page) => Number(/\/(\d{3})-[a-z0-9-]+\.md$/.exec(page)?.[1]))
    expect(numbers).toEqual(decisions.map((_, index) => index + 1))
  })

  it.each(decisions)('%s has context, decision, consequence and tests, on one short page', (page) => {
    const text = readText(page)
    const parts = [...text.matchAll(/^\*\*(\w[\w ]*)(?:\.\*\*|\*\* )/gm)].map((match) => match[1])
    expect(parts).toEqual(['Context', 'Decision', 'Consequence', 'Held by'])
    expect(text).toMatch(new RegExp(`^# ${Number(/\/(\d{3})-/.exec(page)?.[1])}\\. `))
    expect(text.split('\n').length).toBeLessThanOrEqual(32)
  })
})

describe('the index', () => {
  it('links to every page', () => {
    const indexes = ['docs/README.md', 'docs/decisions/README.md'].filter((page) => existsSync(join(root, page)))
    const linked = indexes.flatMap((page) =>
      relativeLinks(readText(page)).map((link) => posix.join(dirname(page), link.replace(/#.*$/, ''))),
    )
    const pages = filesUnder(['docs'], '.md').filter((page) => page !== 'docs/README.md')
    expect(pages.filter((page) => !linked.includes(page))).toEqual([])
  })

  it('lists a folder that has only pages and pictures', () => {
    const other = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' }).filter((name) =>
      /\.(?!(?:md|png)$)[^./]+$/.test(name),
    )
    expect(other).toEqual([])
  })
})
