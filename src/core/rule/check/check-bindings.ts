/** Checks that the things that placeholders read exist. */
import { AppError, at, type Fix, type Issue, ownValue, replacing, shown, stepsOf } from '#kernel'
import { codeUses } from '../../language/expression/code-uses.ts'
import type { BindingUse } from '../../language/placeholders/binding.ts'
import { findBindingProblems, findBindings } from '../../language/placeholders/find-bindings.ts'
import { parseResource, type ResourceSpec } from '../../language/placeholders/resource.ts'
import type { VariableDeclaration } from '../rule.ts'
import { fieldOf, isUnresolved } from './check-properties.ts'
import type { IssueType } from './issue-types.ts'
import type { Report, Suggestion } from './report.ts'
import { naming, type PlugEntry, type RuleIndex } from './rule-index.ts'

export function checkBindings(
  index: RuleIndex,
  variables: readonly Partial<VariableDeclaration>[],
  report: Report,
): void {
  const declared = new Set(variables.flatMap(({ name }) => (name === undefined ? [] : [name])))
  for (const entry of index.plugNodes) {
    const check = (value: unknown, path: string, property: string, template: boolean): void => {
      for (const { pointer, message, suggestion } of findBindingProblems(value, { template })) {
        report.error('BINDING', path + pointer, `${naming(entry)}: ${message}`, suggestion, {
          nodeId: entry.label,
          property,
        })
      }
      for (const use of findBindings(value, { template })) {
        const written = stepsOf(use.pointer).reduce<unknown>(ownValue, value)
        checkUse({ use, entry, property, path: path + use.pointer, written }, index, declared, report)
      }
    }
    for (const [key, value] of Object.entries(entry.node.properties ?? {})) {
      const field = fieldOf(entry.plug, key)
      const path = at(entry.path, 'properties', key)
      if (!isUnresolved(field)) check(value, path, key, field?.format?.type === 'template')
      else {
        for (const use of codeUses(value)) {
          checkUse({ use, entry, property: key, path, written: value }, index, declared, report)
        }
      }
    }
    if (entry.node.loopDef !== undefined) check(entry.node.loopDef, at(entry.path, 'loopDef'), 'loopDef', false)
    if (entry.node.resource !== undefined) checkResource(entry, entry.node.resource, declared, report)
  }
}

export function labelsRead({ node, plug }: PlugEntry): ReadonlySet<string> {
  const uses = Object.entries(node.properties ?? {}).flatMap(([key, value]) => {
    const field = fieldOf(plug, key)
    return isUnresolved(field) ? codeUses(value) : findBindings(value, { template: field?.format?.type === 'template' })
  })
  const all = [...uses, ...findBindings(node.loopDef ?? '', { template: false })]
  return new Set(all.flatMap(({ root, segments: [label] }) => (root === 'nodes' && label !== undefined ? [label] : [])))
}

interface BindingInRule {
  readonly use: BindingUse
  readonly entry: PlugEntry
  readonly property: string
  readonly path: string
  /** the value at the path */
  readonly written: unknown
}

function checkUse(binding: BindingInRule, index: RuleIndex, declared: ReadonlySet<string>, report: Report): void {
  const { use, entry } = binding
  const [name = '', part, field] = use.segments
  if (use.root === 'variables') checkVariable(name, { ...binding, text: use.text }, declared, report)
  if (use.root !== 'nodes') return
  const target = index.nodes.get(name)
  // unknown names in `{{}}` render as empty text, so they are only a warning
  const severity = use.text.startsWith('{{') ? 'WARNING' : 'ERROR'
  if (target?.kind === 'actuator' && part !== 'state' && name !== entry.label) {
    const hint = 'read the input of the actuator, or make the call in a sensor'
    const text = `the result of ${shown(name)} arrives later, so the outcome depends on the duration of the call`
    found(binding, 'WARNING', text, hint, report, 'LATENCY')
  }
  if (name === '') {
    found(
      binding,
      severity,
      '"" is not a node',
      'write the label of a node; write streamdata.<name> for a value of the message',
      report,
    )
  } else if (target === undefined) {
    const dotted = dottedLabel(use, index)
    if (dotted !== undefined) {
      const text = `unknown node ${shown(name)}; the label ${shown(dotted.label)} contains a dot`
      found(binding, 'ERROR', text, `write ${dotted.instead}`, report)
    } else {
      const root = use.text.startsWith('{{') ? '{{' : 'nodes.'
      const hint = report.instead(name, index.nodes.keys(), 'nodes', (close) =>
        corrected(use.text, binding.written, [root, name, close]),
      )
      found(binding, severity, `unknown node ${shown(name)}`, hint, report)
    }
  } else if (target.kind === 'relation') {
    if (part !== 'state')
      found(
        binding,
        'WARNING',
        `the relation ${shown(name)} has no ${part}`,
        `read nodes.${name}.state, or a sensor`,
        report,
      )
  } else if (part === 'state' && target.kind === 'actuator') {
    found(
      binding,
      severity,
      `the actuator ${shown(name)} has no state`,
      `read nodes.${name}.rawData, or a sensor`,
      report,
    )
  } else if (part === 'state' && target.plug?.states.length === 0) {
    found(binding, 'WARNING', `the sensor ${shown(name)} has no states`, `read nodes.${name}.rawData`, report)
  } else if (part === 'rawData' && field !== undefined && target.plug?.openOutput === false) {
    if (Object.hasOwn(target.plug.output, field)) return
    found(
      binding,
      'WARNING',
      `rawData of ${shown(name)} has no field ${shown(field)}`,
      report.instead(field, Object.keys(target.plug.output), 'fields', (close) =>
        corrected(use.text, binding.written, ['rawData.', field, close]),
      ),
      report,
    )
  }
}

/** The longest dotted label, and how to write it. Such placeholders used to be rejected. */
function dottedLabel({ segments, text }: BindingUse, index: RuleIndex): { label: string; instead: string } | undefined {
  if (!text.startsWith('{{')) return undefined
  const [first = '', ...rest] = segments
  const steps = [first, ...(rest[0] === 'rawData' ? rest.slice(1) : rest)]
  for (let count = steps.length; count > 1; count--) {
    const label = steps.slice(0, count).join('.')
    const [part = 'state', ...fields] = steps.slice(count)
    if (index.nodes.has(label)) return { label, instead: `[${label}].${[part, ...fields].join('.')}` }
  }
  return undefined
}

function found(
  binding: BindingInRule,
  severity: Issue['severity'],
  message: string,
  suggestion: Suggestion,
  report: Report,
  type: IssueType = 'BINDING',
): void {
  const { use, entry, property, path } = binding
  const details = { nodeId: entry.label, property, binding: use.text }
  const text = `${naming(entry)}: ${use.text}: ${message}`
  if (severity === 'ERROR') report.error(type, path, text, suggestion, details)
  else report.warning(type, path, text, suggestion, details)
}

/** Corrects a name in all equal placeholders of a text; undefined if the name is written in another form. */
function corrected(
  placeholder: string,
  written: unknown,
  [root, name, close]: readonly [root: string, name: string, close: string],
): Fix | undefined {
  const better = placeholder.replace(root + name, () => root + close)
  if (typeof written !== 'string' || better === placeholder || !written.includes(placeholder)) return undefined
  return replacing(written.replaceAll(placeholder, () => better))
}

function checkVariable(
  name: string,
  { entry, path, written, text }: Pick<BindingInRule, 'entry' | 'path' | 'written'> & { readonly text: string },
  declared: ReadonlySet<string>,
  report: Report,
): void {
  if (declared.size === 0 || declared.has(name)) return
  report.warning(
    'VARIABLE',
    path,
    `${naming(entry)}: ${text}: the variable ${shown(name)} is not declared`,
    report.instead(name, declared, 'variables', (close) => corrected(text, written, ['variables.', name, close])),
    { variable: name },
  )
}

function checkResource(entry: PlugEntry, text: string, declared: ReadonlySet<string>, report: Report): void {
  const path = at(entry.path, 'resource')
  let spec: ResourceSpec
  try {
    spec = parseResource(text)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    for (const issue of error.issues)
      report.error('RESOURCE', path, `${naming(entry)}: ${issue.message}`, issue.suggestion)
    return
  }
  const written = { entry, path, written: text }
  if (spec.kind === 'variable') checkVariable(spec.name, { ...written, text }, declared, report)
  if (spec.kind !== 'text') return
  for (const { root, segments, text: binding } of spec.bindings) {
    if (root === 'variables') checkVariable(segments[0] ?? '', { ...written, text: binding }, declared, report)
  }
}
