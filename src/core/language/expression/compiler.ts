/** Declares the compiler's interface for the code that compiles single kinds of nodes. */
import type { AnyNode, ArrowFunctionExpression, Expression, Super } from 'acorn'
import type { LogicPath } from '../logic/run.ts'
import type { Fault } from '../placeholders/path.ts'
import type { Side } from './operators.ts'
import type { Callback, Frame, Run } from './run.ts'
import type { Scope } from './scope.ts'

export type CallbackMaker = (run: Run, frame: Frame | undefined) => Callback

export interface Compiler {
  readonly hasChance: boolean
  compile(node: Expression | Super, scope: Scope | undefined): Side
  callback(node: ArrowFunctionExpression, scope: Scope | undefined): CallbackMaker
  label(node: { readonly start: number; readonly end: number }): string
  side(node: AnyNode, code: Side['code']): Side
  constant(node: AnyNode, value: unknown): Side
  wrong(node: AnyNode, message: string, suggestion: string): Side
  refuse(node: AnyNode): Side
  /** Compiles the read of a path; equal paths become the same object. */
  read(node: AnyNode, found: { readonly path: LogicPath } | { readonly fault: Fault }): Side
}
