/** What the code of each kind of syntax node asks of the compiler of expressions. */
import type { AnyNode, ArrowFunctionExpression, Expression, Super } from 'acorn'
import type { LogicPath } from '../logic/run.ts'
import type { Fault } from '../placeholders/path.ts'
import type { Side } from './operators.ts'
import type { Callback, Frame, Run } from './run.ts'
import type { Scope } from './scope.ts'

/** Gives an arrow function for one call of a method. */
export type CallbackMaker = (run: Run, frame: Frame | undefined) => Callback

/** What the code of each kind of syntax node asks of the compiler. */
export interface Compiler {
  /** whether there is `Math.random()` */
  readonly hasChance: boolean
  /** The code of a node; a node that is wrong is noted and gives undefined. */
  compile(node: Expression | Super, scope: Scope | undefined): Side
  /** An arrow function that a method calls. */
  callback(node: ArrowFunctionExpression, scope: Scope | undefined): CallbackMaker
  /** The text of a node, for messages. */
  label(node: { readonly start: number; readonly end: number }): string
  side(node: AnyNode, code: Side['code']): Side
  constant(node: AnyNode, value: unknown): Side
  /** Notes what is wrong with a node. */
  wrong(node: AnyNode, message: string, suggestion: string): Side
  /** Notes that nodes of this kind cannot be used. */
  refuse(node: AnyNode): Side
  /** Reads a path through the lookup; each path is the very same object each time. */
  read(node: AnyNode, found: { readonly path: LogicPath } | { readonly fault: Fault }): Side
}
