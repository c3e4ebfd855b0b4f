/**
 * Renders templates of handlebars (`{{}}`) without generated code. The output equals that of the package handlebars for
 * the same text and data, except for the deviations below, which test/properties/handlebars.test.ts verifies. The
 * package itself is not used: its compiler generates code, its parser stops at the first mistake, and neither has
 * limits.
 *
 * 1. Escaping: `{{x}}` is escaped for HTML, `{{{x}}}` and `{{&x}}` are not. `${}` in the same text is never escaped.
 * 2. Extensions: the helpers in template-expression.ts; `a[0]`, `a.0` and `a["b c"]` in addition to `a.[0]` and
 *    `a.[b c]`; the names in OWN_NAMES, which every block can read. The top-level names are the nodes, each with its
 *    raw data, `state` and `collectedTime`. They can only be read by name: a loop over all of them has no rounds.
 * 3. Rejected, with a fault: partials, decorators, raw blocks, unknown helpers, `log`, hashes other than
 *    `includeZero=`, keys that reach a prototype, unknown `@` names, and everything above the limits in this file,
 *    template-lexer.ts and template-parse.ts. Reading and rendering take time at most proportional to these limits.
 * 4. Inserted values are never parsed as template or binding.
 */
import { AppError } from '#kernel'
import { useOf, parseText } from './binding.ts'
import type { Findings } from './findings.ts'
import type { Path, Scope } from './scope.ts'
import {
  enter,
  enterRound,
  withParameters,
  lookedUp,
  OWN_NAMES,
  readReference,
  rootFrame,
  stay,
  type Frame,
} from './template-data.ts'
import type { Operand } from './template-expression.ts'
import { parseTemplate, type FoundReference } from './template-parse.ts'
import { escaped, printed } from './template-print.ts'
import type { Block, Content, Program } from './template-tree.ts'
import { plainText, planText, type Plan } from './text.ts'

const MAX_ROUNDS = 10_000
const MAX_STEPS = 100_000
/** Cost of a call of a helper: dates are slow. */
const CALL_STEPS = 20
const MAX_OUTPUT = 1_000_000

/** Returns the plan of a template within a bigger value; faults are added to `findings`. */
export function planTemplate(text: string, pointer: string, findings: Findings): Plan {
  const parsed = parseTemplate(text)
  for (const fault of parsed.faults) findings.problems.push({ pointer, ...fault })
  for (const reference of parsed.references) {
    const path = pathOf(reference)
    if (path) findings.uses.push({ text: reference.text, ...path, optional: true, pointer })
  }
  for (const { value } of parsed.texts) {
    const { parts, faults } = parseText(value)
    for (const fault of faults) findings.problems.push({ pointer, ...fault })
    for (const part of parts) if (typeof part === 'object') findings.uses.push(useOf(part, pointer))
  }
  if (parsed.faults.length > 0) return { constant: true, value: text }
  const program = compileProgram(parsed.program, pointer)
  if (program.fixed !== undefined) return { constant: true, value: program.fixed }
  return {
    constant: false,
    evaluate: (scope) => program.write({ scope, pointer, length: 0, steps: 0, rounds: 0 }, rootFrame(scope)),
  }
}

interface Run {
  readonly scope: Scope
  readonly pointer: string
  length: number
  steps: number
  rounds: number
}

interface Step {
  readonly fixed?: string
  write(run: Run, frame: Frame): string
}

function compileProgram({ body }: Program, pointer: string): Step {
  const steps: Step[] = []
  for (const node of body) {
    if (node.kind === 'comment' || (node.kind === 'text' && node.value === '')) continue
    if (node.kind === 'text') steps.push(compileText(node, pointer))
    else if (node.kind === 'value') steps.push(compileValue(node.operand, node.escaped))
    else steps.push(compileBlock(node, pointer))
  }
  const fixed = steps.map((step) => step.fixed)
  if (fixed.every((part) => part !== undefined)) {
    const text = fixed.join('')
    return { fixed: text, write: (run) => counted(run, text) }
  }
  const [only] = steps
  if (only && body.length === 1) return only
  return {
    write(run, frame) {
      let text = ''
      for (const part of steps) {
        step(run, 1)
        text += part.write(run, frame)
      }
      return text
    },
  }
}

function compileText({ value }: Content, pointer: string): Step {
  const plan = planText(parseText(value), pointer)
  if (plan.constant) {
    const fixed = plainText(plan.value)
    return { fixed, write: (run) => counted(run, fixed) }
  }
  return {
    write(run) {
      const found = plan.evaluate(run.scope)
      return counted(run, found === undefined ? '' : plainText(found))
    },
  }
}

function compileValue(operand: Operand, isEscaped: boolean): Step {
  return {
    write(run, frame) {
      const text = printed(valueOf(operand, run, frame), MAX_OUTPUT)
      return counted(run, isEscaped ? escaped(text) : text)
    },
  }
}

function compileBlock(block: Block, pointer: string): Step {
  const { subject, includeZero, names, kind } = block
  const body = block.program ? compileProgram(block.program, pointer) : EMPTY
  const otherwise = block.inverse ? compileProgram(block.inverse, pointer) : EMPTY
  switch (kind) {
    case 'if':
    case 'unless':
      return {
        write(run, frame) {
          const value = valueOf(subject, run, frame)
          const counts = Boolean(value) || (includeZero !== undefined && Boolean(valueOf(includeZero, run, frame)))
          const holds = counts && !isEmpty(value)
          return (holds === (kind === 'if') ? body : otherwise).write(run, stay(frame))
        },
      }
    case 'with':
      return {
        write(run, frame) {
          const value = valueOf(subject, run, frame)
          if (isEmpty(value)) return otherwise.write(run, stay(frame))
          return body.write(run, withParameters(enter(frame, value), names, [value]))
        },
      }
    case 'each':
      return {
        write: (run, frame) =>
          written(valueOf(subject, run, frame), block, body, run, frame) ?? otherwise.write(run, stay(frame)),
      }
    case 'section':
      return {
        write(run, frame) {
          const value = valueOf(subject, run, frame)
          if (value === true) return body.write(run, frame)
          if (value === false || value === undefined || value === null) return otherwise.write(run, frame)
          if (Array.isArray(value)) return written(value, block, body, run, frame) ?? otherwise.write(run, frame)
          return body.write(run, enter(frame, value))
        },
      }
  }
}

const EMPTY: Step = { fixed: '', write: () => '' }

function written(list: unknown, { names }: Block, body: Step, run: Run, outer: Frame): string | undefined {
  if (typeof list !== 'object' || list === null) return undefined
  const isList = Array.isArray(list)
  const entries = Object.entries(list)
  if (entries.length === 0) return undefined
  let text = ''
  for (const [index, [field, item]] of entries.entries()) {
    if (++run.rounds > MAX_ROUNDS)
      throw tooLarge(run, `the template loops more than ${MAX_ROUNDS} times; loop over fewer items`)
    const key = isList ? index : field
    const frame = enterRound(outer, item, { key, index, last: index === entries.length - 1 })
    text += body.write(run, withParameters(frame, names, [item, key]))
  }
  return text
}

function counted(run: Run, text: string): string {
  run.length += text.length
  if (run.length > MAX_OUTPUT) throw tooLarge(run, `the rendered text exceeds ${MAX_OUTPUT} characters; write less`)
  return text
}

function step(run: Run, steps: number): void {
  run.steps += steps
  if (run.steps > MAX_STEPS)
    throw tooLarge(run, `the template takes more than ${MAX_STEPS} steps; loop over fewer items`)
}

function tooLarge(run: Run, message: string): AppError {
  return new AppError('TOO_LARGE', `${run.pointer || '/'}: ${message}`)
}

function valueOf(operand: Operand, run: Run, frame: Frame): unknown {
  switch (operand.kind) {
    case 'reference':
      return readReference(operand.reference, frame)
    case 'literal':
      return operand.value
    case 'lookup':
      return lookedUp(valueOf(operand.from, run, frame), valueOf(operand.key, run, frame))
    case 'call':
      step(run, CALL_STEPS)
      return operand.helper(operand.operands.map((item) => valueOf(item, run, frame)))
  }
}

/** Whether `{{#with}}` and `{{#if}}` skip a value: falsy values except 0, and empty lists. */
function isEmpty(value: unknown): boolean {
  return Array.isArray(value) ? value.length === 0 : !value && value !== 0
}

/** Returns the binding path of a name; undefined if its meaning is only known when rendering. */
function pathOf({ name, contexts }: FoundReference): Path | undefined {
  const { segments, depth, data, scoped } = name
  const [first = '', ...rest] = data ? segments.slice(1) : segments
  const isOwn = !scoped && OWN_NAMES.has(first)
  // metadata is fetched if its name occurs
  if (data ? segments[0] !== 'root' : depth !== contexts && !isOwn && first !== 'META') return undefined
  switch (first) {
    case '':
      return undefined
    case 'GLOBAL':
      return rest.length === 0 ? undefined : { root: 'streamdata', segments: rest }
    case 'META':
      return { root: 'node', segments: ['resource', 'meta', ...rest.slice(1)] }
    case 'RESOURCE':
    case 'TASK_ID':
    case 'NODE_NAME':
      return { root: 'task', segments: [first] }
  }
  const [part] = rest
  const known = rest.length === 1 && (part === 'state' || part === 'collectedTime')
  return { root: 'nodes', segments: known ? [first, part] : [first, 'rawData', ...rest] }
}
