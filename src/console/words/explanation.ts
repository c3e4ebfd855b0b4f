/** The sentences of an explanation, as the host writes them. */

export interface ExplanationText {
  readonly sentence: string
  readonly chain: readonly { readonly kind: string; readonly node?: string; readonly text: string }[]
  readonly whyNot: readonly {
    readonly source: string
    readonly sentence: string
    readonly reasons: readonly { readonly sentence: string; readonly rule: string; readonly until?: number }[]
    readonly needs?: string
  }[]
  readonly others?: readonly { readonly state: string; readonly needs: string }[]
  readonly notes: readonly string[]
}
