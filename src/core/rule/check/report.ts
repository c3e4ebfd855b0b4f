/** Collects all problems of one document, so that they are reported at once. */
import { type Fix, type Issue, nearest, renaming, replacing, shown } from '#kernel'
import type { IssueType } from './issue-types.ts'

/** Maximum number of searches for a similar name. Beyond it, wrong names are reported without a suggestion. */
const MAX_SEARCHES = 50
const MAX_CANDIDATES = 1000
const LISTED = 8
const MAX_ISSUES = 1000

export interface CheckOptions {
  /** default false; true: a property that its plug does not declare is an error instead of a warning */
  readonly strict?: boolean
  /** default false; true: also notes outcomes that changed now that rules are evaluated once per input */
  readonly evaluation?: boolean
}

export interface Hint {
  readonly text: string | undefined
  readonly fix: Fix | undefined
}

export type Suggestion = string | Hint | undefined
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

  /** Adds a warning, or in strict mode an error. */
  lenient(...found: Found): void {
    if (this.#strict) this.error(...found)
    else this.warning(...found)
  }

  /** Adds a remark that is worth knowing, but not a problem. */
  note(...found: Found): void {
    this.#add('INFO', ...found)
  }

  addAll(issues: readonly Issue[]): void {
    for (const issue of issues) {
      if (issue.severity === 'ERROR') this.#errors++
      this.#push(issue)
    }
  }

  suggest(text: string, candidates: Iterable<string>, plural: string): string | undefined {
    return this.#look(text, candidates, plural).text
  }

  /** Suggests a similar candidate; `fixOf` returns the correction with it, by default the candidate alone. */
  instead(
    text: string,
    candidates: Iterable<string>,
    plural: string,
    fixOf: (close: string) => Fix | undefined = replacing,
  ): Hint {
    const { text: hint, close } = this.#look(text, candidates, plural)
    return { text: hint, fix: close === undefined ? undefined : fixOf(close) }
  }

  /** Suggests a similar name that `owner` lacks; `otherwise`: the correction without one. */
  rename(name: string, candidates: Iterable<string>, plural: string, owner: object, otherwise?: Fix): Hint {
    const { text, close } = this.#look(name, candidates, plural)
    return { text, fix: close === undefined || Object.hasOwn(owner, close) ? otherwise : renaming(close) }
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
    // an error is never dropped in favor of a warning, since without the error the document would look valid
    if (this.#issues.length < MAX_ISSUES) this.#issues.push(issue)
    else if (issue.severity === 'ERROR' && !this.#issues.some((known) => known.severity === 'ERROR'))
      this.#issues.push(issue)
  }
}

/** Returns text such as `the states are "A", "B"`, with at most eight candidates; undefined without candidates. */
function listing(candidates: readonly string[], plural: string): string | undefined {
  if (candidates.length === 0) return undefined
  const first = candidates.slice(0, LISTED).map(shown).join(', ')
  return `the ${plural} are ${first}${candidates.length > LISTED ? ' ...' : ''}`
}

/** Stops the iteration after `count` items, since candidates are often created lazily. */
function take(candidates: Iterable<string>, count: number): string[] {
  const taken: string[] = []
  for (const candidate of candidates) {
    if (taken.length === count) break
    taken.push(candidate)
  }
  return taken
}

/** Finds the most similar candidate in portions, since `nearest` is limited to 200 names. */
function closest(text: string, candidates: readonly string[]): string | undefined {
  const best: string[] = []
  for (let from = 0; from < candidates.length; from += 200) {
    const close = nearest(text, candidates.slice(from, from + 200))
    if (close !== undefined) best.push(close)
  }
  return nearest(text, best)
}
