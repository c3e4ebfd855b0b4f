/** Converts documents in the `bn` form to the simplified form before they are checked. */
import type { Issue } from '#kernel'
import type { Report } from '../check/report.ts'
import type { BnGraph } from './bn-graph.ts'
import { fromBn } from './from-bn.ts'

/** Whether a document is in the `bn` form: it has `nodes` instead of `sensors`. */
export function isBnDocument(document: Readonly<Record<string, unknown>>): boolean {
  return Array.isArray(document['nodes']) && document['sensors'] === undefined
}

export interface Simplified {
  readonly document: Readonly<Record<string, unknown>>
  readonly toOriginal: (issue: Issue) => Issue
}

/** Fields outside the graph stay the same. Undefined for an invalid document. */
export function readBn(document: Readonly<Record<string, unknown>>, report: Report): Simplified | undefined {
  const { nodes, posterior = [], metadata, ...others } = document
  const { graph, issues, origins } = fromBn({
    nodes,
    posterior,
    ...(metadata === undefined ? {} : { metadata }),
  } as BnGraph)
  const taken = new Set(issues)
  report.addAll(issues)
  if (graph === undefined) return undefined
  const toOriginal = (issue: Issue): Issue => {
    const path = origins.of(issue.path)
    if (taken.has(issue) || path === issue.path) return issue
    // automatic fixes do not apply to a table
    const { fix: _fix, ...kept } = issue
    return { ...kept, path }
  }
  return { document: { ...others, ...graph }, toOriginal }
}
