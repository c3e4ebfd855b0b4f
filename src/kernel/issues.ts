/** Problems of what was sent: how they are gathered, and the error that tells all of them at once. */
import { AppError, type Issue, type PatchOperation } from './errors.ts'
import { at, stepsOf } from './pointer.ts'

const MAX_TOLD = 20

const MAX_SHOWN = 80

/** A problem that refuses. `path` is a JSON pointer such as `/resources/0`. */
export function makeIssue(type: string, path: string, message: string, suggestion?: string, fix?: Fix): Issue {
  return {
    type,
    severity: 'ERROR',
    path,
    message,
    ...(suggestion !== undefined && { suggestion }),
    ...(fix !== undefined && { fix: [fix(path)] }),
  }
}

/** Corrects what is at the place of a problem. */
export type Fix = (path: string) => PatchOperation

export const removing: Fix = (path) => ({ op: 'remove', path })

export function replacing(value: string | number): Fix {
  return (path) => ({ op: 'replace', path, value })
}

/** Of a field in its object. */
export function renaming(name: string): Fix {
  return (from) => ({ op: 'move', from, path: at(from.slice(0, from.lastIndexOf('/')), name) })
}

/** The issue for a document in which its place has another path. */
export function movedTo({ fix, ...issue }: Issue, path: string): Issue {
  const moved = fix?.map((operation): PatchOperation => {
    if (operation.op !== 'move') return { ...operation, path }
    return renaming(stepsOf(operation.path).at(-1) ?? '')(path)
  })
  return { ...issue, path, ...(moved && { fix: moved }) }
}

/** The problems of one body or query, in the order in which they were found. */
export class Issues {
  readonly #type: string
  readonly #most: number
  readonly #list: Issue[] = []
  #count = 0

  /** `type` of those that have no other; above `most` they are counted and not kept */
  constructor(type: string, most = Number.POSITIVE_INFINITY) {
    this.#type = type
    this.#most = most
  }

  /** also of those that are not kept */
  get count(): number {
    return this.#count
  }

  get list(): readonly Issue[] {
    return this.#list
  }

  /** Gives undefined, so that a reader can end with it. */
  wrong(path: string, message: string, suggestion?: string, type = this.#type): undefined {
    this.#count += 1
    if (this.#list.length < this.#most) this.#list.push(makeIssue(type, path, message, suggestion))
    return undefined
  }

  clear(): void {
    this.#count = 0
    this.#list.length = 0
  }

  /** Throws `VALIDATION` with all of them, when there are any. `subject`: what was sent, at the beginning of a sentence. */
  throwIfAny(subject: string): void {
    if (this.#count > 0) throw refuse(subject, this.#list)
  }
}

/** Several problems of one body or query at once. */
export function refuse(subject: string, issues: readonly Issue[]): AppError {
  return new AppError('VALIDATION', `${subject}: ${issuesText(issues)}`, { issues })
}

/** `/path <- what is wrong; what would be right`, at most 20 of them. */
export function issuesText(issues: readonly Issue[]): string {
  const errors = issues.filter(({ severity }) => severity === 'ERROR')
  const told = errors.length === 0 ? issues : errors
  const lines = told.slice(0, MAX_TOLD).map(({ path, message, suggestion }) => {
    const hint = suggestion === undefined ? '' : ` (${suggestion})`
    return `${path === '' ? '' : `${path} <- `}${message}${hint}`
  })
  const more = told.length - lines.length
  return lines.join('; ') + (more > 0 ? `; and ${more} more` : '')
}

/** What `read` refuses, as issues; empty when it refuses nothing. Anything but an AppError is thrown on. */
export function refusedBy(read: () => unknown): readonly Issue[] {
  try {
    read()
    return []
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    if (error.issues.length > 0) return error.issues
    return [makeIssue('BODY', '', error.message)]
  }
}

/** A value from outside as a problem shows it: in JSON, not too long. */
export function shown(value: unknown): string {
  // payloads keep long whole numbers, which JSON.stringify does not take
  const text =
    JSON.stringify(value, (_key, part: unknown) => (typeof part === 'bigint' ? String(part) : part)) ?? 'nothing'
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}...` : text
}
