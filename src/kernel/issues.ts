/** Collects the problems of a request and reports all of them in one error. */
import { AppError, type Issue, type PatchOperation } from './errors.ts'
import { isPlainObject } from './json.ts'
import { at, stepsOf } from './pointer.ts'

const MAX_TOLD = 20

const MAX_SHOWN = 80

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

export type Fix = (path: string) => PatchOperation

export const removing: Fix = (path) => ({ op: 'remove', path })

export function replacing(value: string | number | boolean): Fix {
  return (path) => ({ op: 'replace', path, value })
}

export function adding(value: string): Fix {
  return (path) => ({ op: 'add', path, value })
}

export function renaming(name: string): Fix {
  return (from) => ({ op: 'move', from, path: at(from.slice(0, from.lastIndexOf('/')), name) })
}

export function movedTo({ fix, ...issue }: Issue, path: string): Issue {
  const moved = fix?.map((operation): PatchOperation => {
    if (operation.op !== 'move') return { ...operation, path }
    return renaming(stepsOf(operation.path).at(-1) ?? '')(path)
  })
  return { ...issue, path, ...(moved && { fix: moved }) }
}

export class Issues {
  readonly #type: string
  readonly #most: number
  readonly #list: Issue[] = []
  #count = 0

  /** `type`: default type of the issues. Beyond `most`, issues are counted but not kept. */
  constructor(type: string, most = Number.POSITIVE_INFINITY) {
    this.#type = type
    this.#most = most
  }

  get count(): number {
    return this.#count
  }

  get list(): readonly Issue[] {
    return this.#list
  }

  wrong(path: string, message: string, suggestion?: string, type = this.#type): undefined {
    this.#count += 1
    if (this.#list.length < this.#most) this.#list.push(makeIssue(type, path, message, suggestion))
    return undefined
  }

  clear(): void {
    this.#count = 0
    this.#list.length = 0
  }

  /** Throws `VALIDATION` with all issues, if any. `subject`: the beginning of the message. */
  throwIfAny(subject: string): void {
    if (this.#count > 0) throw refuse(subject, this.#list)
  }
}

export function refuse(subject: string, issues: readonly Issue[]): AppError {
  return new AppError('VALIDATION', `${subject}: ${issuesText(issues)}`, { issues })
}

/** Formats up to 20 issues as `/path <- what is wrong; what would be right`. */
export function issuesText(issues: readonly Issue[]): string {
  const errors = issues.filter(({ severity }) => severity === 'ERROR')
  const reported = errors.length === 0 ? issues : errors
  const lines = reported.slice(0, MAX_TOLD).map(({ path, message, suggestion }) => {
    const hint = suggestion === undefined ? '' : ` (${suggestion})`
    return `${path === '' ? '' : `${path} <- `}${message}${hint}`
  })
  const more = reported.length - lines.length
  return lines.join('; ') + (more > 0 ? `; and ${more} more` : '')
}

/** Returns the issues of the AppError that `read` throws; rethrows other errors. */
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

export function shown(value: unknown): string {
  const text = shownWhole(value)
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}...` : text
}

function shownWhole(value: unknown): string {
  if (typeof value === 'function') return 'a function'
  if (typeof value === 'bigint' || typeof value === 'symbol' || typeof value === 'number') return String(value)
  try {
    // JSON.stringify rejects the bigints of payloads
    return JSON.stringify(value, (_key, part: unknown) => (typeof part === 'bigint' ? String(part) : part)) ?? 'nothing'
  } catch {
    return 'an object that is not JSON'
  }
}

/** Describes a value in words: `an array`, `null`, `the text "a"`, `the number 5`. */
export function kindOf(value: unknown): string {
  if (value === null) return 'null'
  if (value === undefined) return 'nothing'
  if (Array.isArray(value)) return 'an array'
  switch (typeof value) {
    case 'string':
      return `the text ${shown(value)}`
    case 'number':
      return `the number ${value}`
    case 'boolean':
      return `the value ${value}`
    case 'object':
      return isPlainObject(value) ? 'an object' : 'an instance of a class'
    default:
      return `a ${typeof value}`
  }
}
