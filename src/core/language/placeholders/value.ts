/** Compiles JSON values whose texts contain placeholders. */
import { at, FORBIDDEN_KEYS, ownValue } from '#kernel'
import { parseText, useOf, type BindingUse } from './binding.ts'
import { brokenBindings, emptyFindings, type Findings } from './findings.ts'
import { planTemplate } from './handlebars.ts'
import { metaFault, metaPath } from './meta.ts'
import { descend } from './read-path.ts'
import type { Scope } from './scope.ts'
import { planText, type Plan } from './text.ts'

export interface CompileOptions {
  readonly template?: boolean
}

export interface CompiledValue {
  readonly constant: boolean
  readonly uses: readonly BindingUse[]
  /** Returns the resolved value. Throws `BINDING` for a missing value, `TOO_LARGE` for an endless template. */
  evaluate(scope: Scope): unknown
}

const MAX_VALUE_DEPTH = 64

/** Keys of objects are never placeholders. Throws `BINDING` with one issue for each broken placeholder. */
export function compileValue(value: unknown, options: CompileOptions = {}): CompiledValue {
  const findings = emptyFindings()
  const plan = planValue(value, '', options.template === true, findings)
  if (findings.problems.length > 0) throw brokenBindings(findings.problems)
  if (!plan.constant) return { constant: false, uses: findings.uses, evaluate: plan.evaluate }
  return { constant: true, uses: findings.uses, evaluate: () => plan.value }
}

/** Faults are added to `findings`, and the plan then returns the value unchanged. */
export function planValue(value: unknown, pointer: string, template: boolean, findings: Findings, depth = 0): Plan {
  if (typeof value === 'string') return planString(value, pointer, template, findings)
  if (typeof value !== 'object' || value === null) return { constant: true, value }
  if (depth >= MAX_VALUE_DEPTH) {
    findings.problems.push({
      pointer,
      message: `the value nests deeper than ${MAX_VALUE_DEPTH} levels`,
      suggestion: 'use a flatter value',
    })
    return { constant: true, value }
  }
  return Array.isArray(value)
    ? planArray(value, pointer, template, findings, depth)
    : planObject(value, pointer, template, findings, depth)
}

function planString(text: string, pointer: string, template: boolean, findings: Findings): Plan {
  const meta = metaPath(text)
  if (meta) return planMeta(text, meta, pointer, findings)
  if (template && text.includes('{{')) return planTemplate(text, pointer, findings)
  if (!text.includes('${')) return { constant: true, value: text }
  const parsed = parseText(text)
  for (const fault of parsed.faults) findings.problems.push({ pointer, ...fault })
  for (const part of parsed.parts) if (typeof part === 'object') findings.uses.push(useOf(part, pointer))
  return planText(parsed, pointer)
}

function planMeta(text: string, segments: readonly string[], pointer: string, findings: Findings): Plan {
  const fault = metaFault(text, segments)
  if (fault) {
    findings.problems.push({ pointer, ...fault })
    return { constant: true, value: text }
  }
  findings.uses.push({ text, root: 'node', segments: ['resource', 'meta', ...segments], optional: true, pointer })
  return { constant: false, evaluate: (scope) => descend(scope.nodeMetadata(), segments, 0) }
}

function planArray(
  values: readonly unknown[],
  pointer: string,
  template: boolean,
  findings: Findings,
  depth: number,
): Plan {
  const plans = values.map((item, index) => planValue(item, `${pointer}/${index}`, template, findings, depth + 1))
  if (plans.every((plan, index) => plan.constant && plan.value === values[index]))
    return { constant: true, value: values }
  // a missing item becomes null, since omission would shift the other items
  return join(plans, (items) => items.map((item) => item ?? null))
}

function planObject(value: object, pointer: string, template: boolean, findings: Findings, depth: number): Plan {
  const keys = Object.keys(value).filter((key) => !refusedKey(key, pointer, findings))
  const plans = keys.map((key) => planValue(ownValue(value, key), at(pointer, key), template, findings, depth + 1))
  if (plans.every((plan, index) => plan.constant && plan.value === ownValue(value, keys[index] ?? ''))) {
    return { constant: true, value }
  }
  return join(plans, (items) => {
    const result: Record<string, unknown> = {}
    keys.forEach((key, index) => {
      if (items[index] !== undefined) result[key] = items[index]
    })
    return result
  })
}

export function refusedKey(key: string, pointer: string, findings: Findings): boolean {
  if (!FORBIDDEN_KEYS.has(key)) return false
  findings.problems.push({
    pointer: at(pointer, key),
    message: `the key "${key}" is reserved`,
    suggestion: 'use another key',
  })
  return true
}

function join(plans: readonly Plan[], build: (items: readonly unknown[]) => unknown): Plan {
  if (plans.every((plan) => plan.constant)) return { constant: true, value: build(plans.map((plan) => plan.value)) }
  return {
    constant: false,
    evaluate: (scope) => build(plans.map((plan) => (plan.constant ? plan.value : plan.evaluate(scope)))),
  }
}
