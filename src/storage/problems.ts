/** Gathers what is wrong with a write or a question, so that all of it is reported at once. */
import { AppError, describeIssue, validationError, type Issue } from '../kernel/errors.ts'

/** What a caller sees of more problems than anybody reads. */
const MAX_ISSUES = 100

export class Problems {
  readonly #issues: Issue[] = []
  #large = 0
  #count = 0

  /** `VALIDATION`; `path` is a JSON pointer into what was given. */
  wrong(path: string, message: string, suggestion?: string): void {
    this.#add(path, message, suggestion, 'STORAGE')
  }

  /** `TOO_LARGE`, unless something else is wrong as well. */
  tooLarge(path: string, message: string, suggestion?: string): void {
    this.#large += 1
    this.#add(path, message, suggestion, 'SIZE')
  }

  #add(path: string, message: string, suggestion: string | undefined, type: string): void {
    this.#count += 1
    if (this.#issues.length >= MAX_ISSUES) return
    this.#issues.push({ path, message, ...(suggestion !== undefined && { suggestion }), severity: 'ERROR', type })
  }

  get count(): number {
    return this.#count
  }

  /** `subject`: what was given, at the beginning of a sentence. */
  throwIfAny(subject: string): void {
    if (this.#count === 0) return
    const issues = [...this.#issues]
    if (this.#large < this.#count) throw validationError(subject, issues)
    const lines = issues.map((issue) => `  ${describeIssue(issue)}`)
    throw new AppError('TOO_LARGE', `${subject} is too large:\n${lines.join('\n')}`, { issues })
  }
}
