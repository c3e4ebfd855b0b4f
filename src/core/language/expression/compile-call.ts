/** Compiles calls in expressions: functions from fixed tables, and methods of values. */
import type { CallExpression, Expression, SpreadElement } from 'acorn'
import { FORBIDDEN_KEYS, isKnown, nearest } from '#kernel'
import { NOTHING } from './compile-member.ts'
import type { CallbackMaker, Compiler } from './compiler.ts'
import { containsPart, FUNCTIONS, instantArg, LIBRARIES, readNumber } from './functions.ts'
import { itemsOf, TAKES_CALLBACK } from './list-methods.ts'
import { callMethod, METHOD_NAMES } from './methods.ts'
import { memberName } from './names.ts'
import { betweenSides, type Side } from './operators.ts'
import { INSTEAD } from './refused.ts'
import { spend, type Code, type Frame, type Run } from './run.ts'
import { findName, type Scope } from './scope.ts'
import { numberOf } from './values.ts'
import { calendarReader, isCalendarPart, similarFunction, WORD_FUNCTIONS, wrongCall } from './word-functions.ts'

export function compileCall(compiler: Compiler, node: CallExpression, scope: Scope | undefined): Side {
  const { callee, optional } = node
  const label = compiler.label(node)
  const library = libraryName(node, scope)
  if (library !== undefined) {
    const args = argumentsOf(compiler, node.arguments, scope, false)
    if (WORD_FUNCTIONS.has(library)) return compileWord(compiler, node, library, args, scope)
    const apply = library === 'Math.random' && !compiler.hasChance ? undefined : FUNCTIONS.get(library)
    if (apply) {
      const side = compiler.side(node, (run, frame) => apply({ run, args: args(run, frame), label }))
      if (library === 'String') return { ...side, isText: true }
      return library === 'Math.abs' ? { ...side, ...absOf(compiler, node, scope) } : side
    }
    const close = similarFunction(library, FUNCTIONS.keys())
    const hint =
      INSTEAD.get(library) ??
      (close === undefined ? 'use a function such as Math.max, Number or JSON.parse' : `did you mean ${close}?`)
    return compiler.wrong(callee, `unknown function "${library}"`, hint)
  }
  if (callee.type !== 'MemberExpression') {
    return compiler.wrong(
      callee,
      `"${compiler.label(callee)}" cannot be called`,
      'call a method of a value, such as name.includes("x")',
    )
  }
  const name = memberName(callee)
  if (name === undefined) {
    return compiler.wrong(
      callee.property,
      'the name of the method is computed',
      'write the name of the method literally',
    )
  }
  if (FORBIDDEN_KEYS.has(name) || !METHOD_NAMES.has(name)) {
    const hint =
      INSTEAD.get(name) ??
      didYouMean(name, METHOD_NAMES, 'methods of texts, lists and numbers that only read are allowed')
    return compiler.wrong(callee.property, `unknown method "${name}"`, hint)
  }
  const self = compiler.compile(callee.object, scope)
  const args = argumentsOf(compiler, node.arguments, scope, TAKES_CALLBACK.has(name))
  const { code, label: selfLabel } = self
  const mayLack = callee.optional
  return compiler.side(node, (run, frame) => {
    const value = code(run, frame)
    if (value === NOTHING || ((mayLack || optional) && (value === undefined || value === null))) return NOTHING
    spend(run, 1)
    return callMethod(value, name, { run, args: args(run, frame), label }, selfLabel)
  })
}

function compileWord(
  compiler: Compiler,
  node: CallExpression,
  name: string,
  args: Arguments,
  scope: Scope | undefined,
): Side {
  const wrong = wrongCall(name, node.arguments)
  if (wrong) return compiler.wrong(node, wrong.message, wrong.suggestion)
  const label = compiler.label(node)
  if (isCalendarPart(name)) {
    const zone = node.arguments[1]
    const read = calendarReader(name, zone?.type === 'Literal' ? String(zone.value) : undefined)
    return compiler.side(node, (run, frame) => read(instantArg({ run, args: args(run, frame), label })))
  }
  if (name === 'between') {
    const [value, low, high] = node.arguments.map((one) => compiler.compile(one as Expression, scope))
    if (value && low && high) return compiler.side(node, betweenSides(value, low, high))
  }
  if (name === 'isKnown') return compiler.side(node, (run, frame) => isKnown(args(run, frame)[0]))
  const apply = name === 'number' ? readNumber : containsPart
  return compiler.side(node, (run, frame) => apply({ run, args: args(run, frame), label }))
}

function absOf(compiler: Compiler, node: CallExpression, scope: Scope | undefined): Pick<Side, 'measured'> {
  const [callback, another] = node.arguments
  if (callback === undefined || another !== undefined || callback.type === 'SpreadElement') return {}
  const { measured, label } = compiler.compile(callback, scope)
  return measured ? { measured: (run, frame) => Math.abs(numberOf(measured(run, frame), label)) } : {}
}

type Arguments = (run: Run, frame: Frame | undefined) => readonly unknown[]

function argumentsOf(
  compiler: Compiler,
  nodes: readonly (Expression | SpreadElement)[],
  scope: Scope | undefined,
  callbacks: boolean,
): Arguments {
  if (nodes.some((arg) => arg.type === 'SpreadElement')) {
    const parts = nodes.map((arg) => {
      const spread = arg.type === 'SpreadElement'
      const { code, label } = compiler.compile(spread ? arg.argument : arg, scope)
      return { spread, code, label }
    })
    return (run, frame) =>
      parts.flatMap(({ spread, code, label }) => {
        const value = code(run, frame)
        return spread ? itemsOf(run, value, label) : [value]
      })
  }
  const codes = nodes.map((arg): Code | CallbackMaker => {
    if (arg.type === 'ArrowFunctionExpression' && callbacks) return compiler.callback(arg, scope)
    return compiler.compile(arg as Expression, scope).code
  })
  const [only] = codes
  if (codes.length === 1 && only) return (run, frame) => [only(run, frame)]
  return (run, frame) => codes.map((code) => code(run, frame))
}

/** Returns the name of a library function such as `Number` or `Math.max`; undefined for a method of a value. */
function libraryName({ callee }: CallExpression, scope: Scope | undefined): string | undefined {
  if (callee.type === 'Identifier') return findName(scope, callee.name) ? undefined : callee.name
  if (callee.type !== 'MemberExpression' || callee.object.type !== 'Identifier') return undefined
  const { name } = callee.object
  if (!LIBRARIES.has(name) || findName(scope, name)) return undefined
  return `${name}.${memberName(callee) ?? '?'}`
}

function didYouMean(name: string, known: Iterable<string>, all: string): string {
  const close = nearest(name, [...known])
  return close === undefined ? `use one of ${all}` : `did you mean ${close}?`
}
