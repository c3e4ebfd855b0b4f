/** A parsed template: texts, values and nested blocks, as in handlebars. */
import type { Operand } from './template-expression.ts'
import type { Strip } from './template-lexer.ts'

export type BlockKind = 'each' | 'if' | 'unless' | 'with' | 'section'

/** Plain text between tags; `value`: after whitespace control. */
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
  /** the content of `{{^x}}` is `inverse`, and `program` is then missing until an else */
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
  /** contains only the block of an `{{else if ...}}` */
  readonly chained: boolean
}
