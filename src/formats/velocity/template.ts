/** Renders Velocity templates over plain JSON with the same output as Apache's engine. */
import { Budget, LIMITS, type VelocityLimits } from './budget.ts'
import { asAppError, Fault, positionOf } from './fault.ts'
import { JsonBuilder, type ReadJson } from './json/json-builder.ts'
import { NotDirect, type Token, tokensOf } from './json/tokens.ts'
import { DefinedBlock, type Eval, type Exec, type ReadyMacro, RootContext, Run } from './render/run.ts'
import { makeReady, type Ready, StatementCompiler } from './render/statements.ts'
import { TEXT_WRITING, type Writing } from './render/writing.ts'
import type { Macro, Reference, Statement, Template } from './syntax/nodes.ts'
import { parseTemplate } from './syntax/statements.ts'
import { textOf } from './values/text.ts'
import type { Compat } from './values/value.ts'

interface CalledMacro {
  readonly macro: Macro
  readonly isInString: boolean
}

/** Statements that interrupt output, or whose output is known only while rendering. */
const NOT_TAKEN: ReadonlySet<Statement['kind']> = new Set(['define', 'evaluate', 'stop', 'break', 'refused'])

function checkTaken({ kind }: Statement): void {
  if (NOT_TAKEN.has(kind)) throw new NotDirect()
}

/** Compiles one template; call `text` and `output` in text order. */
class JsonWriting implements Writing {
  readonly #macros: ReadonlyMap<string, Macro>
  readonly called = new Map<string, CalledMacro>()
  isInString = false

  constructor(macros: ReadonlyMap<string, Macro>) {
    this.#macros = macros
  }

  check(statement: Statement): void {
    checkTaken(statement)
    if (statement.kind !== 'call') return
    if (statement.body !== undefined || !this.#macros.has(statement.name)) throw new NotDirect()
  }

  text(text: string): Exec {
    const tokens = this.#tokens(text)
    const { length } = text
    return (run) => run.json?.take(tokens, length)
  }

  output(lead: string, get: Eval, { source, isQuiet }: Reference, slashes: number): Exec {
    if (slashes > 0) throw new NotDirect()
    const tokens = this.#tokens(lead)
    const { length } = lead
    const { isInString } = this
    const missing = isQuiet ? '' : source
    return (run) => {
      const { json } = run
      if (json === undefined) return
      if (length > 0) json.take(tokens, length)
      const value = get(run)
      if (!isInString) {
        if (typeof value === 'number') return json.number(value)
        if (typeof value === 'boolean') return json.bool(value)
      } else if (typeof value === 'string') return json.within(value)
      if (value instanceof DefinedBlock) throw new NotDirect()
      const text = textOf(value, run) ?? run.context.written(missing) ?? missing
      if (isInString) json.within(text)
      else json.any(text)
    }
  }

  /** Compiles a branch, which must leave the string state unchanged whether it runs or not. */
  branch(make: () => Exec): Exec {
    const { isInString } = this
    const made = make()
    if (this.isInString !== isInString) throw new NotDirect()
    return made
  }

  macroName(name: string): string {
    const { isInString } = this
    // no macro name begins with these
    const key = `${isInString ? '"' : '{'}${name}`
    const macro = this.#macros.get(name)
    if (macro !== undefined && !this.called.has(key)) this.called.set(key, { macro, isInString })
    return key
  }

  #tokens(text: string): readonly Token[] {
    const { tokens, isInString } = tokensOf(text, this.isInString)
    this.isInString = isInString
    return tokens
  }
}

const TEXT_WITHIN: Writing = { ...TEXT_WRITING, check: checkTaken }

/** Returns undefined if it needs the text. `counts`: whether loops set the counters of 1.7. */
function makeDirect(template: Template, compat: Compat, counts: boolean): Ready | undefined {
  const texts = new StatementCompiler(compat, counts, TEXT_WITHIN)
  const writing = new JsonWriting(template.macros)
  const compiler = new StatementCompiler(compat, counts, writing, texts)
  const macros = new Map<string, ReadyMacro>()
  try {
    for (const [name, macro] of template.macros) macros.set(name, texts.macro(macro))
    const exec = compiler.block(template.block)
    if (writing.isInString) return undefined
    // called macros append to the list
    for (const [key, { macro, isInString }] of writing.called) {
      writing.isInString = isInString
      macros.set(key, compiler.macro(macro))
      if (writing.isInString !== isInString) return undefined
    }
    return { exec, macros }
  } catch (error) {
    if (error instanceof NotDirect) return undefined
    throw error
  }
}

export interface TemplateOptions {
  /** version to follow; default `1.7` */
  readonly compat?: Compat
  readonly limits?: Partial<VelocityLimits>
  /** returns ms, for the time limit */
  readonly now: () => number
}

/** number by which failed direct renderings may exceed successful ones before direct rendering stops */
const MAX_FAILED = 8

export class VelocityTemplate {
  readonly #source: string
  readonly #ready: Ready
  /** null: always renders the text */
  #direct: Ready | null
  #failed = 0
  readonly #options: TemplateOptions
  readonly #limits: VelocityLimits

  /** Throws `TEMPLATE` with the position of a syntax error. */
  constructor(source: string, options: TemplateOptions) {
    this.#source = source
    this.#options = options
    this.#limits = { ...LIMITS, ...options.limits }
    const { compat = '1.7' } = options
    const counts = /velocity(?:Count|HasNext)|evaluate/.test(source)
    try {
      const template = parseTemplate(source, compat)
      this.#ready = makeReady(template, compat, counts)
      this.#direct = makeDirect(template, compat, counts && compat === '1.7') ?? null
    } catch (error) {
      throw this.#errorFor(error, 0)
    }
  }

  /**
   * Variables are JSON, which is never changed, or objects of the host. Throws `CONVERSION` where Apache's engine fails
   * or a limit is exceeded, `TEMPLATE` when `#evaluate` gets a malformed template.
   */
  render(variables: Readonly<Record<string, unknown>>, limits?: Partial<VelocityLimits>): string {
    const run = this.#run(variables, this.#ready, limits)
    try {
      return run.whole(this.#ready.exec)
    } catch (error) {
      throw this.#errorFor(error, run.at)
    }
  }

  /** Returns undefined if that needs the text, or the text is not JSON. Throws the errors of `render`. */
  renderJson(
    variables: Readonly<Record<string, unknown>>,
    levels: number,
    read: ReadJson,
    limits?: Partial<VelocityLimits>,
  ): unknown {
    const direct = this.#direct
    if (direct === null) return undefined
    const { characters } = this.#limits
    const json = new JsonBuilder({ characters, levels }, read)
    const run = this.#run(variables, direct, limits, json)
    try {
      direct.exec(run)
      const value = json.end()
      if (this.#failed > 0) this.#failed--
      return value
    } catch (error) {
      if (!(error instanceof NotDirect)) throw this.#errorFor(error, run.at)
      if (++this.#failed >= MAX_FAILED) this.#direct = null
      return undefined
    }
  }

  #run(
    variables: Readonly<Record<string, unknown>>,
    { macros }: Ready,
    limits: Partial<VelocityLimits> | undefined,
    json?: JsonBuilder,
  ): Run {
    const { compat = '1.7', now } = this.#options
    const all = limits === undefined ? this.#limits : { ...this.#limits, ...limits }
    return new Run(compat, new Budget(all, now), new RootContext(variables), macros, json)
  }

  #errorFor(error: unknown, at: number): unknown {
    // the runtime's call stack is the last limit
    const fault = error instanceof RangeError ? new Fault('limit', 'it nests too deep') : error
    if (!(fault instanceof Fault)) return error
    fault.position ??= positionOf(this.#source, at)
    return asAppError(fault, this.#source)
  }
}
