/**
 * Invariants and the tests that hold them. An invariant is a line of a source file's first comment that begins with its
 * id (`LANE-1 the next input ...`), which no other has. Who speaks of one cites the id, alone, in a list or in a range;
 * a test that cites one in a title or a comment says that it holds it.
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
  /** citations of what no head declares, as `file: id` */
  readonly lost: readonly string[]
}

/** They write about invariants, and hold none. */
const OWN = ['.ci/docs/invariants.ts', 'test/invariants.test.ts']

/** What looks like an id and is none. */
const NO_IDS = new Set(['UTF-8', 'UTF-16', 'UTC-11', 'ISA-18'])

const ID = '[A-Z]{3,}-\\d{1,2}'
const LIST = `${ID}(?:(?:,| and| to) ${ID})*`

export function readInvariants(): Invariants {
  const declared = filesUnder(['src', 'plugins'], '.ts').flatMap((path) =>
    declaredIn(readText(path)).map(([id, text]) => ({ path, id, text })),
  )
  const known = new Set(declared.map(({ id }) => id))
  const citations = ['.ts', '.md']
    .flatMap((ending) => filesUnder(['src', 'plugins', 'test', 'docs', '.ci'], ending))
    .filter((path) => !OWN.includes(path))
    .flatMap((path) => citedIn(readText(path)).map((id) => ({ path, id })))
  const heldBy = (id: string) => [
    ...new Set(citations.filter((one) => one.id === id && one.path.startsWith('test/')).map(({ path }) => path)),
  ]
  return {
    all: declared.map((one) => ({ ...one, heldBy: heldBy(one.id).sort() })),
    lost: citations.filter(({ id }) => !known.has(id)).map(({ path, id }) => `${path}: ${id}`),
  }
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

/** Ids in a text, `TIMER-1, TIMER-3` and `TIMER-1 to TIMER-3` among them, also over lines of a comment. */
export function citedIn(source: string): readonly string[] {
  const text = source.replaceAll(/\n\s*(?:\*|\/\/)?\s*/g, ' ')
  return [...text.matchAll(new RegExp(`(?<![\\w-])${LIST}(?![\\w-])`, 'g'))].flatMap(([list]) =>
    list
      .split(/, | and /)
      .flatMap(idsFrom)
      .filter((id) => !NO_IDS.has(id)),
  )
}

/** An id, or those of a range. */
function idsFrom(part: string): readonly string[] {
  const [from = '', to] = part.split(' to ')
  if (to === undefined) return [from]
  const [prefix = '', first] = from.split('-')
  const length = Number(to.slice(prefix.length + 1)) - Number(first) + 1
  return Array.from({ length }, (_, index) => `${prefix}-${Number(first) + index}`)
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
