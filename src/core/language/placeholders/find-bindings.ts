/** Finds the valid and the broken placeholders in a JSON value. */
import type { BindingProblem, BindingUse } from './binding.ts'
import { emptyFindings, type Findings } from './findings.ts'
import { planValue, type CompileOptions } from './value.ts'

/**
 * Returns every placeholder in a JSON value, in order; with `template`, also those in `{{}}`. Broken placeholders are
 * omitted. A text that is `META.$.<key>` as a whole counts as an optional `node.resource.meta.<key>`. Never throws.
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
