/**
 * The small part of handlebars that messages need (reference to a node's raw data, loops, conditions, six helpers).
 * Values are not HTML-escaped: messages are plain text, and a mail or page that embeds one escapes it there.
 * Values that are inserted are never read as template or binding again.
 */
import { AppError } from '../../kernel/errors.ts'
import { useOf, type BindingUse } from './binding.ts'
import { brokenBindings, emptyFindings, type Findings } from './findings.ts'
import { needsOf } from './needs.ts'
import type { Needs, Path, Scope } from './scope.ts'
import { readReference, type Frame } from './template-data.ts'
import { parseTemplate, type Operand, type Reference, type TemplateNode } from './template-parse.ts'
import { plainText, planText, type Plan } from './text.ts'

export interface CompiledTemplate {
  /** true when the text is the same in every scope */
  readonly constant: boolean
  readonly uses: readonly BindingUse[]
  readonly needs: Needs
  /**
   * The finished text. An unknown `{{}}` path gives nothing; a missing `${}` throws `BINDING`. Throws `TOO_LARGE`
   * above 10000 loop rounds or a million characters.
   */
  render(scope: Scope): string
}

/** Loop rounds of one rendering, all loops together. */
const MAX_ROUNDS = 10_000
/** Characters of one rendering. */
const MAX_OUTPUT = 1_000_000

/** Compiles a text with `{{}}` and `${}` once. Throws `BINDING` with an issue for everything that cannot be read. */
export function compileTemplate(text: string): CompiledTemplate {
  const findings = emptyFindings()
  const plan = planTemplate(text, '', findings)
  if (findings.problems.length > 0) throw brokenBindings(findings.problems)
  return {
    constant: plan.constant,
    uses: findings.uses,
    needs: needsOf(findings.uses),
    render: (scope) => plainText(plan.constant ? plan.value : plan.evaluate(scope)),
  }
}

/** Plan of a template that is part of a bigger value; what is wrong goes to `findings`. */
export function planTemplate(text: string, pointer: string, findings: Findings): Plan {
  const parsed = parseTemplate(text)
  for (const fault of parsed.faults) findings.problems.push({ pointer, ...fault })
  for (const reference of parsed.references) {
    const path = pathOf(reference)
    if (path) findings.uses.push({ text: reference.text, ...path, optional: true, pointer })
  }
  const steps = compileNodes(parsed.nodes, pointer, findings)
  const fixed = steps.map((step) => step.fixed)
  if (fixed.every((part) => part !== undefined)) return { constant: true, value: fixed.join('') }
  return {
    constant: false,
    evaluate(scope) {
      const run: Run = { scope, pointer, text: '', rounds: 0 }
      writeAll(steps, run, undefined)
      return run.text
    },
  }
}

interface Run {
  readonly scope: Scope
  readonly pointer: string
  text: string
  rounds: number
}

interface Step {
  /** the text when it never changes */
  readonly fixed?: string
  write(run: Run, frame: Frame | undefined): void
}

function compileNodes(nodes: readonly TemplateNode[], pointer: string, findings: Findings): Step[] {
  return nodes.map((node) => compileNode(node, pointer, findings))
}

function compileNode(node: TemplateNode, pointer: string, findings: Findings): Step {
  switch (node.kind) {
    case 'text':
      return compileText(node, pointer, findings)
    case 'value':
      return { write: (run, frame) => put(run, shown(readReference(node.reference, run.scope, frame))) }
    case 'call':
      return {
        write: (run, frame) => put(run, node.helper(node.operands.map((item) => operandValue(item, run, frame)))),
      }
    case 'if':
    case 'each': {
      const { subject } = node
      const body = compileNodes(node.body, pointer, findings)
      const otherwise = compileNodes(node.otherwise, pointer, findings)
      return node.kind === 'if'
        ? {
            write: (run, frame) =>
              writeAll(isTrue(readReference(subject, run.scope, frame)) ? body : otherwise, run, frame),
          }
        : { write: (run, frame) => writeEach(readReference(subject, run.scope, frame), body, otherwise, run, frame) }
    }
  }
}

function compileText(node: TemplateNode & { kind: 'text' }, pointer: string, findings: Findings): Step {
  for (const part of node.parsed.parts) if (typeof part === 'object') findings.uses.push(useOf(part, pointer))
  const plan = planText(node.parsed, pointer)
  if (plan.constant) {
    const fixed = plainText(plan.value)
    return { fixed, write: (run) => put(run, fixed) }
  }
  return {
    write(run) {
      const value = plan.evaluate(run.scope)
      put(run, value === undefined ? '' : plainText(value))
    },
  }
}

function writeAll(steps: readonly Step[], run: Run, frame: Frame | undefined): void {
  for (const step of steps) step.write(run, frame)
}

function writeEach(
  list: unknown,
  body: readonly Step[],
  otherwise: readonly Step[],
  run: Run,
  outer: Frame | undefined,
): void {
  const entries = typeof list === 'object' && list !== null ? Object.entries(list) : []
  if (entries.length === 0) writeAll(otherwise, run, outer)
  let index = 0
  for (const [key, item] of entries) {
    if (++run.rounds > MAX_ROUNDS) {
      throw new AppError(
        'TOO_LARGE',
        `${run.pointer || '/'}: the template loops more than ${MAX_ROUNDS} times; loop over less`,
      )
    }
    writeAll(body, run, { item, index, key, outer })
    index++
  }
}

function put(run: Run, text: string): void {
  if (run.text.length + text.length > MAX_OUTPUT) {
    throw new AppError(
      'TOO_LARGE',
      `${run.pointer || '/'}: the rendered text is above ${MAX_OUTPUT} characters; write less`,
    )
  }
  run.text += text
}

function operandValue(operand: Operand, run: Run, frame: Frame | undefined): unknown {
  return operand.kind === 'literal' ? operand.value : readReference(operand.reference, run.scope, frame)
}

function shown(value: unknown): string {
  return value === undefined || value === null ? '' : plainText(value)
}

/** As handlebars has it: an empty list counts as false. */
function isTrue(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : Boolean(value)
}

/** The binding path that a reference amounts to; undefined for what only the loop knows. */
function pathOf(reference: Reference): Path | undefined {
  const [first = '', ...rest] = reference.segments
  switch (first) {
    case 'GLOBAL':
      return { root: 'streamdata', segments: rest }
    case 'META':
      return { root: 'node', segments: ['resource', 'meta', ...rest.slice(1)] }
    case 'RESOURCE':
    case 'TASK_ID':
    case 'NODE_NAME':
      return { root: 'task', segments: [first] }
  }
  if (reference.inLoop || first === 'this' || first.startsWith('@')) return undefined
  const [part] = rest
  const known = rest.length === 1 && (part === 'state' || part === 'collectedTime')
  return { root: 'nodes', segments: known ? [first, part] : [first, 'rawData', ...rest] }
}
