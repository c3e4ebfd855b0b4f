/** Makes a template ready to give the value that its text is JSON of, where what it writes shows the parts of that JSON. */
import { StatementCompiler, type Ready } from '../render/statements.ts'
import type { ReadyMacro } from '../render/run.ts'
import { TEXT_WRITING, type Writing } from '../render/writing.ts'
import type { Template } from '../syntax/nodes.ts'
import type { Compat } from '../values/value.ts'
import { checkTaken, JsonWriting } from './json-writing.ts'
import { NotDirect } from './not-direct.ts'

/** What is a text on its way into the JSON. */
const TEXT_WITHIN: Writing = { ...TEXT_WRITING, check: checkTaken }

/** Undefined where only the text can tell. `counts`: whether loops set the counters of 1.7. */
export function makeDirect(template: Template, compat: Compat, counts: boolean): Ready | undefined {
  const texts = new StatementCompiler(compat, counts, TEXT_WITHIN)
  const writing = new JsonWriting(template.macros)
  const compiler = new StatementCompiler(compat, counts, writing, texts)
  const macros = new Map<string, ReadyMacro>()
  try {
    for (const [name, macro] of template.macros) macros.set(name, texts.macro(macro))
    const exec = compiler.block(template.block)
    if (writing.isInString) return undefined
    // those that are called by these come behind them
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
