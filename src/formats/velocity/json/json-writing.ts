/** Compiles a template's output to parts of JSON before rendering. */
import type { Macro, Reference, Statement } from '../syntax/nodes.ts'
import { textOf } from '../values/text.ts'
import { DefinedBlock, type Eval, type Exec } from '../render/run.ts'
import type { Writing } from '../render/writing.ts'
import { NotDirect } from './not-direct.ts'
import { tokensOf, type Token } from './tokens.ts'

export interface CalledMacro {
  readonly macro: Macro
  readonly isInString: boolean
}

/** Statements that interrupt output, or whose output is known only while rendering. */
const NOT_TAKEN: ReadonlySet<Statement['kind']> = new Set(['define', 'evaluate', 'stop', 'break', 'refused'])

export function checkTaken({ kind }: Statement): void {
  if (NOT_TAKEN.has(kind)) throw new NotDirect()
}

/** Compiles one template; call `text` and `output` in text order. */
export class JsonWriting implements Writing {
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
