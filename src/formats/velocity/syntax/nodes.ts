/** Defines the syntax tree of a template. `at` is the offset for faults. */
import type { Position } from '../fault.ts'
import type { Operator } from '../values/arithmetic.ts'
import type { Value } from '../values/value.ts'

export interface Reference {
  readonly kind: 'reference'
  readonly name: string
  readonly parts: readonly Part[]
  /** `$!`: prints nothing when the value is missing */
  readonly isQuiet: boolean
  readonly source: string
  readonly alternate: Expression | undefined
  readonly at: number
}

export type Part =
  | { readonly kind: 'property'; readonly name: string; readonly at: number }
  | { readonly kind: 'index'; readonly index: Expression; readonly at: number }
  | { readonly kind: 'method'; readonly name: string; readonly args: readonly Expression[]; readonly at: number }

export type Comparison = '==' | '!=' | '<' | '>' | '<=' | '>='

export type Expression =
  | Reference
  | { readonly kind: 'literal'; readonly value: Value; readonly source: string }
  | { readonly kind: 'template'; readonly block: Block; readonly drops: boolean; readonly source: string }
  | { readonly kind: 'word'; readonly source: string }
  | { readonly kind: 'list'; readonly items: readonly Expression[]; readonly source: string }
  | { readonly kind: 'map'; readonly entries: readonly (readonly [Expression, Expression])[]; readonly source: string }
  | { readonly kind: 'range'; readonly from: Expression; readonly to: Expression; readonly source: string }
  | { readonly kind: 'not' | 'negate'; readonly of: Expression; readonly source: string }
  | { readonly kind: 'and' | 'or'; readonly left: Expression; readonly right: Expression; readonly source: string }
  | {
      readonly kind: 'compare'
      readonly operator: Comparison
      readonly left: Expression
      readonly right: Expression
      readonly source: string
    }
  | {
      readonly kind: 'calculate'
      readonly operator: Operator
      readonly left: Expression
      readonly right: Expression
      readonly source: string
    }

export type Block = readonly Statement[]

export type Statement =
  | { readonly kind: 'text'; readonly text: string }
  /** includes the preceding backslashes and dollars */
  | { readonly kind: 'output'; readonly reference: Reference; readonly slashes: number; readonly dollars: string }
  | { readonly kind: 'set'; readonly target: Reference; readonly value: Expression; readonly at: number }
  | {
      readonly kind: 'if'
      readonly branches: readonly { readonly test: Expression; readonly block: Block }[]
      readonly otherwise: Block | undefined
      readonly at: number
    }
  | {
      readonly kind: 'foreach'
      readonly variable: string
      readonly items: Expression
      readonly block: Block
      readonly otherwise: Block | undefined
      readonly at: number
      readonly position: () => Position
    }
  | { readonly kind: 'define'; readonly name: string; readonly block: Block; readonly at: number }
  | {
      readonly kind: 'call'
      readonly name: string
      readonly args: readonly Expression[]
      readonly body: Block | undefined
      readonly source: string
      readonly at: number
    }
  | { readonly kind: 'evaluate'; readonly text: Expression; readonly at: number }
  | { readonly kind: 'stop' }
  | { readonly kind: 'break'; readonly scope: Expression | undefined; readonly at: number }
  | { readonly kind: 'refused'; readonly message: string; readonly at: number }

export interface Macro {
  readonly name: string
  readonly parameters: readonly { readonly name: string; readonly initial: Expression | undefined }[]
  readonly block: Block
}

export interface Template {
  readonly block: Block
  readonly macros: ReadonlyMap<string, Macro>
}
