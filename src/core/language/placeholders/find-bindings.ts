/** The valid and the broken placeholders in a JSON value. */
import type { BindingProblem, BindingUse } from './binding.ts'
import { emptyFindings, type Findings } from './findings.ts'
import { planValue, type CompileOptions } from './value.ts'

/**
 * Every placeholder in a JSON value, in order; with `template` those of `{{}}` too. Broken ones are omitted. A whole
 * `META.$.<key>` text counts as an optional `node.resource.meta.<key>`. Never throws.
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
