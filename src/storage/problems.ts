/** Collects the problems of a write or a query, so that all are reported at once. */
import { AppError, describeIssue, Issues, validationError } from '#kernel'

/** maximum number of problems that are reported; further ones are only counted */
const MAX_ISSUES = 100

export class Problems {
  readonly #issues = new Issues('STORAGE', MAX_ISSUES)
  #large = 0

  /** Adds a problem that makes the input invalid (`VALIDATION`). `path` is a JSON pointer into the input. */
  wrong(path: string, message: string, suggestion?: string): void {
    this.#issues.wrong(path, message, suggestion)
  }

  /** Adds a problem that makes the input `TOO_LARGE`, unless something is invalid as well. */
  tooLarge(path: string, message: string, suggestion?: string): void {
    this.#large += 1
    this.#issues.wrong(path, message, suggestion, 'SIZE')
  }

  get count(): number {
    return this.#issues.count
  }

  throwIfAny(subject: string): void {
    const { count, list } = this.#issues
    if (count === 0) return
    const issues = [...list]
    if (this.#large < count) throw validationError(subject, issues)
    const lines = issues.map((issue) => `  ${describeIssue(issue)}`)
    throw new AppError('TOO_LARGE', `${subject} is too large:\n${lines.join('\n')}`, { issues })
  }
}
