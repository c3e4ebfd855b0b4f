/** A template that was read: texts, values and blocks inside each other, the way handlebars has them. */
import type { Operand } from './template-expression.ts'
import type { Strip } from './template-lexer.ts'

export type BlockKind = 'each' | 'if' | 'unless' | 'with' | 'section'

/** Plain text between tags; `value` is what whitespace control leaves of it. */
export interface Content {
  readonly kind: 'text'
  readonly original: string
  value: string
  leftStripped: boolean
  rightStripped: boolean
}

export interface Block {
  readonly kind: BlockKind
  readonly subject: Operand
  readonly includeZero: Operand | undefined
  readonly names: readonly string[]
  /** what stands behind `{{^x}}` is `inverse`, and `program` is then missing until an else */
  program: Program | undefined
  inverse: Program | undefined
  readonly openStrip: Strip
  inverseStrip: Strip | undefined
  closeStrip: Strip
}

export type TemplateNode =
  | Content
  | { readonly kind: 'value'; readonly operand: Operand; readonly escaped: boolean; readonly strip: Strip }
  | { readonly kind: 'comment'; readonly strip: Strip }
  | Block

export interface Program {
  readonly body: TemplateNode[]
  /** holds nothing but the block of an `{{else if ...}}` */
  readonly chained: boolean
}
