/** Gathers what is wrong with a query of series. */
import type { Issue } from '../../../kernel/errors.ts'
import { refuse } from '../../../kernel/refusal.ts'

/** What is wrong with a body or query, gathered so that all of it is told at once. */
export class Complaints {
  readonly #subject: string
  readonly #issues: Issue[] = []

  constructor(subject: string) {
    this.#subject = subject
  }

  /** `path` is a JSON pointer such as `/resources/0`. Gives undefined, so that a reader can end with it. */
  wrong(path: string, message: string, suggestion?: string): undefined {
    this.#issues.push({ type: 'QUERY', severity: 'ERROR', path, message, ...(suggestion && { suggestion }) })
    return undefined
  }

  /** Throws `VALIDATION` with all of them, when there are any. */
  throwIfAny(): void {
    if (this.#issues.length > 0) throw refuse(this.#subject, this.#issues)
  }
}

/** A value from outside as an error shows it: in JSON, not too long. */
export function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}...` : text
}

const MOST_SHOWN = 80
