/** Collects every problem of one document, so that all are reported at once. */
import { type Fix, type Issue, nearest, renaming, replacing, shown } from '#kernel'
import type { IssueType } from './issue-types.ts'

/** Limit of searches for a close name. Beyond it, wrong names are reported without a suggestion. */
const MAX_SEARCHES = 50
const MAX_CANDIDATES = 1000
const LISTED = 8
const MAX_ISSUES = 1000

export interface CheckOptions {
  /** default false; true: a property that its plug does not declare is an error instead of a warning */
  readonly strict?: boolean
  /** default false; true: also notes decisions that differ from an evaluation per answer */
  readonly evaluation?: boolean
}

export interface Hint {
  readonly text: string | undefined
  readonly fix: Fix | undefined
}

type Suggestion = string | Hint | undefined
type Found = [
  type: IssueType,
  path: string,
  message: string,
  suggestion?: Suggestion,
  details?: Record<string, unknown>,
]

export class Report {
  readonly #strict: boolean
  readonly #issues: Issue[] = []
  #searches = 0
  #errors = 0

  constructor({ strict = false }: CheckOptions = {}) {
    this.#strict = strict
  }

  get issues(): Issue[] {
    return this.#issues
  }

  get errorCount(): number {
    return this.#errors
  }

  get hasErrors(): boolean {
    return this.#errors > 0
  }

  error(...found: Found): void {
    this.#errors++
    this.#add('ERROR', ...found)
  }

  warning(...found: Found): void {
    this.#add('WARNING', ...found)
  }

  /** A warning, or an error in strict mode. */
  lenient(...found: Found): void {
    if (this.#strict) this.error(...found)
    else this.warning(...found)
  }

  /** Not a problem, but worth knowing. */
  note(...found: Found): void {
    this.#add('INFO', ...found)
  }

  addAll(issues: readonly Issue[]): void {
    for (const issue of issues) {
      if (issue.severity === 'ERROR') this.#errors++
      this.#push(issue)
    }
  }

  /** A suggestion for `text`: the closest candidate, or else the first few. */
  suggest(text: string, candidates: Iterable<string>, plural: string): string | undefined {
    return this.#look(text, candidates, plural).text
  }

  /** The same for a value that is exactly `text`. */
  instead(text: string, candidates: Iterable<string>, plural: string): Hint {
    const { text: hint, close } = this.#look(text, candidates, plural)
    return { text: hint, fix: close === undefined ? undefined : replacing(close) }
  }

  /** The same for the name of a field in `owner`. */
  rename(name: string, candidates: Iterable<string>, plural: string, owner: object): Hint {
    const { text, close } = this.#look(name, candidates, plural)
    return { text, fix: close === undefined || Object.hasOwn(owner, close) ? undefined : renaming(close) }
  }

  #look(text: string, candidates: Iterable<string>, plural: string): { text: string | undefined; close?: string } {
    const searching = ++this.#searches <= MAX_SEARCHES
    const first = take(candidates, searching ? MAX_CANDIDATES : LISTED + 1)
    const close = searching ? closest(text, first) : undefined
    return close === undefined ? { text: listing(first, plural) } : { text: `did you mean ${shown(close)}?`, close }
  }

  #add(severity: Issue['severity'], ...[type, path, message, suggestion, details]: Found): void {
    const issue: Issue = { path, message, severity, type }
    const { text, fix } = typeof suggestion === 'object' ? suggestion : { text: suggestion, fix: undefined }
    if (text !== undefined) issue.suggestion = text
    if (fix !== undefined) issue.fix = [fix(path)]
    if (details !== undefined) issue.details = details
    this.#push(issue)
  }

  #push(issue: Issue): void {
    // an error is never dropped for a warning: without it the document would look valid
    if (this.#issues.length < MAX_ISSUES) this.#issues.push(issue)
    else if (issue.severity === 'ERROR' && !this.#issues.some((known) => known.severity === 'ERROR'))
      this.#issues.push(issue)
  }
}

/** `the states are "A", "B"`, at most eight; undefined without any. */
function listing(candidates: readonly string[], plural: string): string | undefined {
  if (candidates.length === 0) return undefined
  const first = candidates.slice(0, LISTED).map(shown).join(', ')
  return `the ${plural} are ${first}${candidates.length > LISTED ? ' ...' : ''}`
}

/** Stops the iteration after `count`: candidates are often created lazily. */
function take(candidates: Iterable<string>, count: number): string[] {
  const taken: string[] = []
  for (const candidate of candidates) {
    if (taken.length === count) break
    taken.push(candidate)
  }
  return taken
}

/** The closest of all, in portions, since `nearest` is limited to 200 names. */
function closest(text: string, candidates: readonly string[]): string | undefined {
  const best: string[] = []
  for (let from = 0; from < candidates.length; from += 200) {
    const close = nearest(text, candidates.slice(from, from + 200))
    if (close !== undefined) best.push(close)
  }
  return nearest(text, best)
}
