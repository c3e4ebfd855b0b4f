/** Creates issues of plug declarations. */
import { type Issue, makeIssue } from '#kernel'

export function problem(path: string, message: string, suggestion?: string): Issue {
  return makeIssue('PLUG', path, message, suggestion)
}
