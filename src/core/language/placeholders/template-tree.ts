/** Defines the tree of a parsed template: texts, values and nested blocks, as in handlebars. */
import type { Operand } from './template-expression.ts'
import type { Strip } from './template-lexer.ts'

export type BlockKind = 'each' | 'if' | 'unless' | 'with' | 'section'

/** Plain text between tags. `value`: the text after whitespace control. */
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
  /** content of the block; for `{{^x}}` the content is `inverse`, and `program` is missing unless an else follows */
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
  /** true if the program contains only the block of an `{{else if ...}}` */
  readonly chained: boolean
}
