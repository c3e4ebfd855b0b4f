/** Compiles the statements of a template. */
import { failed, Fault } from '../fault.ts'
import type { Block, Macro, Statement, Template } from '../syntax/nodes.ts'
import { parseTemplate } from '../syntax/statements.ts'
import { Collection, JavaIterator, JavaRange } from '../values/collections.ts'
import { JavaMap, MapView } from '../values/map.ts'
import { Scope } from '../values/scope.ts'
import { shownText } from '../values/text.ts'
import type { Compat, Value } from '../values/value.ts'
import { callMacro } from './calls.ts'
import { ExpressionCompiler, fromEnd, writePart } from './expressions.ts'
import { DefinedBlock, Leaving, type Eval, type Exec, type ReadyMacro, type Run } from './run.ts'
import { TEXT_WRITING, type Writing } from './writing.ts'

/** maximum recursion of a block */
const MAX_DEFINED = 2

export interface Ready {
  readonly exec: Exec
  readonly macros: ReadonlyMap<string, ReadyMacro>
}

export function makeReady(template: Template, compat: Compat, counts = true): Ready {
  const compiler = new StatementCompiler(compat, counts && compat === '1.7', TEXT_WRITING)
  const macros = new Map<string, ReadyMacro>()
  for (const [name, macro] of template.macros) macros.set(name, compiler.macro(macro))
  return { exec: compiler.block(template.block), macros }
}

export class StatementCompiler {
  readonly #compat: Compat
  readonly #counts: boolean
  readonly #writing: Writing
  readonly #expressions: ExpressionCompiler

  /** `counts`: whether loops set the counters of 1.7. `texts`: compiles texts within; default: this compiler */
  constructor(compat: Compat, counts: boolean, writing: Writing, texts?: StatementCompiler) {
    this.#compat = compat
    this.#counts = counts
    this.#writing = writing
    this.#expressions = new ExpressionCompiler(compat, (block) => (texts ?? this).block(block))
  }

  macro({ name, parameters, block }: Macro): ReadyMacro {
    return {
      name,
      parameters: parameters.map((one) => ({
        name: one.name,
        initial: one.initial && this.#expressions.value(one.initial),
      })),
      exec: this.block(block),
    }
  }

  block(block: Block): Exec {
    const all = block.flatMap((statement, i) => {
      if (statement.kind === 'text' && block[i + 1]?.kind === 'output') return []
      const before = block[i - 1]
      return this.#statement(statement, before?.kind === 'text' ? before.text : '')
    })
    const [only] = all
    if (block.length === 1 && only !== undefined) return only
    return (run) => {
      run.budget.spend(block.length)
      for (const exec of all) exec(run)
    }
  }

  #branch(block: Block): Exec {
    return this.#writing.branch(() => this.block(block))
  }

  #statement(statement: Statement, lead: string): Exec {
    this.#writing.check(statement)
    switch (statement.kind) {
      case 'text':
        return this.#writing.text(statement.text)
      case 'output': {
        const { reference, slashes, dollars } = statement
        return this.#writing.output(lead, this.#expressions.reference(reference), reference, slashes, dollars)
      }
      case 'set':
        return this.#set(statement)
      case 'if':
        return this.#if(statement)
      case 'foreach':
        return this.#foreach(statement)
      case 'define': {
        const exec = this.block(statement.block)
        const { name } = statement
        return (run) => run.context.set(name, new DefinedBlock(exec, run, MAX_DEFINED))
      }
      case 'call':
        return this.#call(statement)
      case 'evaluate':
        return this.#evaluate(statement)
      case 'stop':
        return () => {
          throw new Leaving('all')
        }
      case 'break':
        return this.#break(statement)
      case 'refused': {
        const { message, at } = statement
        return (run) => {
          run.at = at
          throw failed(message)
        }
      }
    }
  }

  #set({ target, value, at }: Extract<Statement, { kind: 'set' }>): Exec {
    const get = this.#expressions.value(value)
    const { name, parts } = target
    const last = parts.at(-1)
    const isOld = this.#compat === '1.7'
    if (last === undefined) {
      return (run) => {
        const result = get(run)
        // 1.7 leaves the variable unchanged
        if (result !== null || !isOld) run.context.set(name, result)
      }
    }
    const owner = this.#expressions.reference({ ...target, parts: parts.slice(0, -1) })
    const key: Eval | undefined =
      last.kind === 'index'
        ? this.#expressions.value(last.index)
        : last.kind === 'property'
          ? () => last.name
          : undefined
    return (run) => {
      run.at = at
      const result = get(run)
      const of = owner(run)
      if (key === undefined || of === null || (result === null && isOld)) return
      run.at = at
      if (of instanceof Scope) of.storage.put(key(run), result)
      else if (last.kind === 'index' || of instanceof JavaMap) writePart(of, fromEnd(of, key(run)), result, run)
    }
  }

  #if({ branches, otherwise }: Extract<Statement, { kind: 'if' }>): Exec {
    const ready = branches.map(({ test, block }) => ({ test: this.#expressions.test(test), exec: this.#branch(block) }))
    const last = otherwise && this.#branch(otherwise)
    const [first, second] = ready
    if (first !== undefined && second === undefined) {
      const { test, exec } = first
      return (run) => {
        run.budget.enter()
        if (test(run)) exec(run)
        else if (last !== undefined) last(run)
        run.budget.leave()
      }
    }
    return (run) => {
      run.budget.enter()
      let found = last
      for (const { test, exec } of ready) {
        if (!test(run)) continue
        found = exec
        break
      }
      found?.(run)
      run.budget.leave()
    }
  }

  #foreach(statement: Extract<Statement, { kind: 'foreach' }>): Exec {
    const { variable, at } = statement
    const items = this.#expressions.value(statement.items)
    const exec = this.#branch(statement.block)
    const otherwise = statement.otherwise && this.#branch(statement.otherwise)
    const isOld = this.#compat === '1.7'
    const counts = this.#counts
    return (run) => {
      run.at = at
      const value = items(run)
      const list = value instanceof JavaRange ? value : listOf(value, run)
      const length = lengthOf(list)
      if (list === undefined || (length === 0 && !isOld)) return otherwise?.(run)
      const { context } = run
      const before = counts ? COUNTERS.map((name) => context.get(name)) : NONE
      const element = context.get(variable)
      const scope = new Scope(statement, context.get(FOREACH))
      context.set(FOREACH, scope)
      run.budget.enter()
      const round = { index: -1, hasNext: false, position: statement.position }
      scope.loop = round
      try {
        // as in Java, a loop over a growing list continues and then fails
        for (let i = 0; i < lengthOf(list); i++) {
          run.budget.spend(1)
          round.index = i
          round.hasNext = i + 1 < lengthOf(list)
          const item = itemOf(list, i, length, run)
          if (counts) {
            context.set('velocityCount', i + 1)
            context.set('velocityHasNext', round.hasNext)
          }
          context.set(variable, item)
          exec(run)
        }
      } catch (error) {
        if (!(error instanceof Leaving) || !error.isFor(statement)) throw error
      } finally {
        run.budget.leave()
        restore(run, variable, element)
        if (counts) for (const [i, name] of COUNTERS.entries()) restore(run, name, before[i] ?? null)
        restore(run, FOREACH, scope.parent ?? scope.replaced)
      }
    }
  }

  #call({ name, args, body, source, at }: Extract<Statement, { kind: 'call' }>): Exec {
    const macroArgs = args.map((arg) => ({ expression: arg, value: this.#expressions.value(arg) }))
    const block = body && this.block(body)
    const hasWords = args.some(({ kind }) => kind === 'word')
    const found = this.#writing.macroName(name)
    return (run) => {
      const macro = run.macros.get(found)
      if (macro === undefined) return run.write(source)
      run.at = at
      if (hasWords) throw new Fault('syntax', `the macro #${name} does not accept words`)
      callMacro(run, macro, macroArgs, block, at)
    }
  }

  #evaluate({ text, at }: Extract<Statement, { kind: 'evaluate' }>): Exec {
    const get = this.#expressions.value(text)
    const compat = this.#compat
    return (run) => {
      const source = shownText(get(run) ?? '', run)
      run.budget.enter()
      run.budget.spend(source.length >> 2)
      run.at = at
      const template = parsed(source, compat, at)
      const { exec, macros } = makeReady(template, compat)
      for (const [name, macro] of macros) run.addMacro(name, macro)
      try {
        exec(run)
      } catch (error) {
        const isEnd =
          error instanceof Leaving && (error.isFor(template) || (compat === '1.7' && error.target === 'all'))
        if (!isEnd) throw error
      }
      run.budget.leave()
    }
  }

  #break({ scope, at }: Extract<Statement, { kind: 'break' }>): Exec {
    const get = scope && this.#expressions.value(scope)
    return (run) => {
      run.at = at
      const named = get?.(run)
      if (named === undefined) throw new Leaving('nearest')
      if (!(named instanceof Scope)) throw failed('#break needs a scope such as $foreach')
      throw new Leaving(named.owner)
    }
  }
}

const FOREACH = 'foreach'
const NONE: readonly Value[] = []
const COUNTERS = ['velocityCount', 'velocityHasNext']

type Items = JavaRange | readonly Value[] | undefined

function lengthOf(list: Items): number {
  return list instanceof JavaRange ? list.size : (list?.length ?? 0)
}

function itemOf(list: JavaRange | readonly Value[], i: number, length: number, run: Run): Value {
  if (list instanceof JavaRange) return list.at(i, run)
  if (list.length !== length) throw failed('ConcurrentModificationException')
  return list[i] ?? null
}

function listOf(value: Value, run: Run): readonly Value[] | undefined {
  if (value instanceof Collection) return value.items(run)
  if (value instanceof JavaMap) return new MapView(value, 'value').items(run)
  if (value instanceof Scope) return new MapView(value.storage, 'value').items(run)
  return value instanceof JavaIterator ? value.rest() : undefined
}

export function restore({ context }: Run, name: string, before: Value): void {
  if (before === null) context.remove(name)
  else context.set(name, before)
}

function parsed(source: string, compat: Compat, at: number): Template {
  try {
    return parseTemplate(source, compat, { at, position: { line: 1, column: 1 } })
  } catch (error) {
    throw error instanceof Fault ? new Fault('syntax', error.message) : error
  }
}
