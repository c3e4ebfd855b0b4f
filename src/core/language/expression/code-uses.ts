/** Finds what a piece of code in a property reads, in any of the supported languages. */
import { AppError } from '#kernel'
import { compileLogic } from '../logic/json-logic.ts'
import type { LogicPath } from '../logic/run.ts'
import type { BindingUse } from '../placeholders/binding.ts'
import { findBindings } from '../placeholders/find-bindings.ts'
import { printPath } from '../placeholders/path.ts'
import { compileExpression } from './expression.ts'
import { logicOfText } from './condition.ts'
import { sandboxedUses } from '../script/compile-code.ts'
import { compileScript } from '../script/script-source.ts'

/** Invalid code reads nothing, since the plug's own check reports it. Never throws. */
export function codeUses(code: unknown): readonly BindingUse[] {
  const logic = typeof code === 'string' ? logicOfText(code) : code
  if (typeof logic === 'object' && logic !== null) return usesOf(() => compileLogic(logic).uses) ?? []
  if (typeof code !== 'string') return []
  return (
    usesOf(() => compileExpression(code, { chance: true }).uses) ??
    usesOf(() => sandboxedUses(code)) ??
    usesOf(() => compileScript(code).uses) ??
    findBindings(code)
  )
}

function usesOf(compile: () => readonly LogicPath[] | undefined): readonly BindingUse[] | undefined {
  try {
    return compile()?.map((path) => ({
      text: printPath(path),
      root: path.root,
      segments: path.segments,
      optional: true,
      pointer: '',
    }))
  } catch (error) {
    if (error instanceof AppError) return undefined
    throw error
  }
}
