/** Finds the valid and the broken placeholders in a JSON value. */
import type { BindingProblem, BindingUse } from './binding.ts'
import { emptyFindings, type Findings } from './findings.ts'
import { planValue, type CompileOptions } from './value.ts'

/**
 * In order; with `template`, also those in `{{}}`. A whole `META.$.<key>` is an optional `node.resource.meta.<key>`.
 */
export function findBindings(value: unknown, options: CompileOptions = {}): BindingUse[] {
  return search(value, options).uses
}

export function findBindingProblems(value: unknown, options: CompileOptions = {}): BindingProblem[] {
  return search(value, options).problems
}

function search(value: unknown, options: CompileOptions): Findings {
  const findings = emptyFindings()
  planValue(value, '', options.template === true, findings)
  return findings
}
