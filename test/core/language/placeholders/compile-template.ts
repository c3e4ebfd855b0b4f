import { brokenBindings, emptyFindings } from '../../../../src/core/language/placeholders/findings.ts'
import { planTemplate } from '../../../../src/core/language/placeholders/handlebars.ts'
import { needsOf } from '../../../../src/core/language/placeholders/needs.ts'
import type { Needs, Scope } from '../../../../src/core/language/placeholders/scope.ts'
import { plainText } from '../../../../src/core/language/placeholders/text.ts'

interface CompiledTemplate {
  readonly constant: boolean
  readonly needs: Needs
  render(scope: Scope): string
}

/** A text with `{{}}` and `${}`, treated as in a property. */
export function compileTemplate(text: string): CompiledTemplate {
  const findings = emptyFindings()
  const plan = planTemplate(text, '', findings)
  if (findings.problems.length > 0) throw brokenBindings(findings.problems)
  return {
    constant: plan.constant,
    needs: needsOf(findings.uses),
    render: (scope) => plainText(plan.constant ? plan.value : plan.evaluate(scope)),
  }
}
