/** Calls macros: 1.7 evaluates arguments at each use, 2.4 once before the call. */
import { Fault } from '../fault.ts'
import type { Expression } from '../syntax/nodes.ts'
import type { Value } from '../values/value.ts'
import {
  type Argument,
  type Context,
  DefinedBlock,
  type Eval,
  type Exec,
  Leaving,
  MacroContext,
  type ReadyMacro,
  type Run,
} from './run.ts'

/** maximum nesting of macros in Apache's engine */
const MAX_CALLS = 20
const BODY = 'bodyContent'

export interface MacroArgument {
  readonly expression: Expression
  readonly value: Eval
}

/** Expressions that 1.7 evaluates at each use. */
const LAZY = new Set<Expression['kind']>(['reference', 'template', 'list', 'map', 'range'])

export function callMacro(
  run: Run,
  macro: ReadyMacro,
  args: readonly MacroArgument[],
  body: Exec | undefined,
  at: number,
): void {
  if (run.calls.length >= MAX_CALLS) {
    throw new Fault(
      'limit',
      `macros call each other more than ${MAX_CALLS} deep: ${[...run.calls, macro.name].join(' > ')}`,
    )
  }
  const block = body && new DefinedBlock(body, run, MAX_CALLS)
  run.budget.enter()
  run.budget.spend(1)
  run.calls.push(macro.name)
  try {
    if (run.compat === '1.7') callOld(run, macro, args, block)
    else callNew(run, macro, args, block)
  } catch (error) {
    if (!(error instanceof Leaving) || !error.isFor(macro)) throw error
  } finally {
    run.calls.pop()
    run.budget.leave()
    run.at = at
  }
}

function callOld(run: Run, macro: ReadyMacro, args: readonly MacroArgument[], body: DefinedBlock | undefined): void {
  const outer = run.context
  const lazy: Argument[] = []
  const context = new MacroContext(outer, lazy)
  for (const [i, { name }] of macro.parameters.entries()) {
    const arg = args[i]
    if (arg === undefined) break
    const { expression, value } = arg
    if (isLazy(expression)) lazy.push({ name, source: expression.source, value: () => within(run, outer, value) })
    else context.setLocal(name, value(run))
  }
  if (body !== undefined) context.setLocal(BODY, body)
  run.within(context, macro.exec)
}

function within(run: Run, outer: Context, value: Eval): Value {
  const before = run.context
  run.context = outer
  try {
    run.budget.spend(1)
    return value(run)
  } finally {
    run.context = before
  }
}

function isLazy(expression: Expression): boolean {
  return LAZY.has(expression.kind) || (expression.kind === 'literal' && typeof expression.value === 'string')
}

function callNew(run: Run, macro: ReadyMacro, args: readonly MacroArgument[], body: DefinedBlock | undefined): void {
  const { context } = run
  const bodyBefore = context.get(BODY)
  context.remove(BODY)
  if (body !== undefined) context.set(BODY, body)
  const frame = macro.parameters.map(({ name, initial }, i) => ({
    name,
    had: context.has(name),
    before: context.get(name),
    value: (args[i]?.value ?? initial)?.(run) ?? null,
  }))
  for (const { name, value: argument } of frame) context.set(name, argument)
  try {
    macro.exec(run)
  } finally {
    if (context.get(BODY) === (body ?? null)) {
      if (bodyBefore === null) context.remove(BODY)
      else context.set(BODY, bodyBefore)
    }
    // keeps values that the macro itself has set
    for (const { name, had, before, value: argument } of frame) {
      if (context.get(name) !== argument) continue
      if (had) context.set(name, before)
      else context.remove(name)
    }
  }
}
