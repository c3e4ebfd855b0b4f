/**
 * Invariants and the tests that hold them. An invariant is a line of a source file's first comment that begins with its
 * id (`N1 the next input ...`). A test cites one by the path of its file (`src/core/engine/task-lane.ts N1, N2`) in a
 * comment, or by the id alone in its first comment or in a title, when it lies where the source does or below the
 * contract that has the invariant.
 */
import { filesUnder, readText } from '../../test/support/repository.ts'
import { table } from '../../src/core/plug/plug-page.ts'

export interface Invariant {
  readonly path: string
  readonly id: string
  readonly text: string
  /** tests that cite it, sorted */
  readonly heldBy: readonly string[]
}

export interface Invariants {
  readonly all: readonly Invariant[]
  /** citations by path that lead nowhere, as `test: path id` */
  readonly lost: readonly string[]
}

/** It writes about invariants, and holds none. */
const OWN_TEST = 'test/invariants.test.ts'

const ID = '[A-Z]\\d{1,2}'
const LIST = `${ID}(?:(?:,| and| to) ${ID})*`

export function readInvariants(): Invariants {
  const declared = filesUnder(['src', 'plugins'], '.ts').flatMap((path) =>
    declaredIn(readText(path)).map(([id, text]) => ({ path, id, text })),
  )
  const known = new Set(declared.map(({ path, id }) => `${path} ${id}`))
  const tests = new Map<string, Set<string>>([...known].map((key) => [key, new Set()]))
  const lost: string[] = []
  for (const test of filesUnder(['test'], '.ts').filter((path) => path !== OWN_TEST)) {
    const source = readText(test)
    for (const key of citedByPath(source)) {
      if (known.has(key)) tests.get(key)?.add(test)
      else lost.push(`${test}: ${key}`)
    }
    for (const id of citedAlone(source)) {
      const path = sourcesOf(test).find((one) => known.has(`${one} ${id}`))
      if (path !== undefined) tests.get(`${path} ${id}`)?.add(test)
    }
  }
  const all = declared.map((one) => ({ ...one, heldBy: [...(tests.get(`${one.path} ${one.id}`) ?? [])].sort() }))
  return { all, lost }
}

/** Ids and texts of the invariants in the first comment of a source. */
export function declaredIn(source: string): readonly (readonly [string, string])[] {
  const lines = firstComment(source).split('\n')
  const found: (readonly [string, string])[] = []
  let open: { id: string; text: string; indent: number } | undefined
  const close = () => {
    if (open !== undefined) found.push([open.id, open.text.replace(/\.$/, '')])
    open = undefined
  }
  for (const line of lines) {
    const [, indent = '', rest = ''] = /^ ?\*?( *)(.*?)(?: ?\*\/)?$/.exec(line) ?? []
    const head = new RegExp(`^(${ID}):?\\s+(\\S.*)$`).exec(rest)
    if (head !== null) {
      close()
      open = { id: head[1] ?? '', text: head[2] ?? '', indent: indent.length }
    } else if (open !== undefined && rest !== '' && indent.length > open.indent) open.text += ` ${rest}`
    else close()
  }
  close()
  return found
}

function firstComment(source: string): string {
  return /^(?:#!.*\n)?\s*(\/\*\*[\s\S]*?\*\/)/.exec(source)?.[1] ?? ''
}

/** `src/a.ts N1, N2` and `src/a.ts N1 to N3` in comments, as `path id`. */
export function citedByPath(source: string): readonly string[] {
  const text = source.replaceAll(/\n\s*(?:\*|\/\/)\s?/g, ' ')
  return [...text.matchAll(new RegExp(`\\b((?:src|plugins)/[\\w./-]+\\.ts) (${LIST})`, 'g'))].flatMap((match) =>
    idsOf(match[2] ?? '').map((id) => `${match[1]} ${id}`),
  )
}

/** Ids in titles of tests and in the first comment. */
export function citedAlone(source: string): readonly string[] {
  const titles = [
    ...source.matchAll(/\b(?:it|fact|test|describe|suite\.\w+)(?:\.each\([\s\S]*?\n? *\]\))?\(\s*(['"`])(.*?)\1/g),
  ]
  const texts = [
    firstComment(source).replaceAll(new RegExp(`\\.ts ${LIST}`, 'g'), ''),
    ...titles.map((one) => one[2] ?? ''),
  ]
  return texts.flatMap((text) =>
    [...text.matchAll(new RegExp(`(?<![\\w/-])${LIST}(?![\\w-])`, 'g'))].flatMap((match) => idsOf(match[0])),
  )
}

/** `S1, S3` and `S1 to S4` as single ids. */
function idsOf(list: string): readonly string[] {
  const ids = list.split(/, | and /)
  return ids.flatMap((part) => {
    const [from = '', to] = part.split(' to ')
    if (to === undefined) return [from]
    const [letter, first, last] = [from.charAt(0), Number(from.slice(1)), Number(to.slice(1))]
    return Array.from({ length: last - first + 1 }, (_, index) => `${letter}${first + index}`)
  })
}

/** Where an id alone is looked for: the file that the test mirrors, then contracts of the folders above it. */
function sourcesOf(test: string): readonly string[] {
  const mirrored = test.replace(/^test\/(?:contracts\/)?/, 'src/')
  const own = mirrored.replace(/(?:\.property)?\.test\.ts$/, '.ts')
  const folders = mirrored.split('/').slice(0, -1)
  const contracts = folders.map((_, index) => `${folders.slice(0, folders.length - index).join('/')}/contract.ts`)
  return [own, own.replace(/^src\/plugins\//, 'plugins/'), ...contracts]
}

/** A row for each invariant. */
export function invariantTable(): string {
  const rows = readInvariants().all.map(({ path, id, text, heldBy }) => [
    `\`${path}\``,
    id,
    text,
    heldBy.map((test) => `\`${test}\``).join(', ') || 'no test names it',
  ])
  return table(['where', 'id', 'what must hold', 'held by'], rows)
}
