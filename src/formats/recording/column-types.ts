/** Infers the types of CSV columns: number or boolean when every cell is one, otherwise text. */
import { kindOf, looksNumeric, type CellKind } from './csv-cells.ts'
import type { ValueType } from './value-types.ts'

export const MAX_METRICS = 10_000

export interface MixedColumn {
  readonly metric: string
  readonly cell: string
  readonly line: number
}

const MAX_SHOWN = 60

export function mixedText({ metric, cell }: MixedColumn): string {
  const shown = JSON.stringify(cell.length > MAX_SHOWN ? `${cell.slice(0, MAX_SHOWN)}...` : cell)
  return `${metric} is read as text, because ${shown} is not a plain decimal; --types ${metric}=number reads numbers`
}

export interface CellLook {
  readonly cell: string
  readonly kind: CellKind
  readonly isNumeric: boolean
}

export function lookAt(cell: string): CellLook {
  const kind = kindOf(cell)
  return { cell, kind, isNumeric: kind === 'number' || (kind === 'text' && looksNumeric(cell)) }
}

export class ColumnLook {
  #hasNumber = false
  #hasBoolean = false
  #hasText = false
  #isNumeric = false
  #odd: { readonly cell: string; readonly line: number } | undefined

  get isDecided(): boolean {
    return this.#isNumeric && this.#odd !== undefined && this.type === 'text'
  }

  takeNumber(): void {
    this.#hasNumber = true
    this.#isNumeric = true
  }

  take({ cell, kind, isNumeric }: CellLook, line: number): void {
    if (kind === 'none') return
    if (isNumeric) this.#isNumeric = true
    if (kind === 'number') this.#hasNumber = true
    else {
      if (kind === 'boolean') this.#hasBoolean = true
      else this.#hasText = true
      this.#odd ??= { cell, line }
    }
  }

  get type(): ValueType {
    if (this.#hasText || (this.#hasBoolean && this.#hasNumber)) return 'text'
    return this.#hasBoolean ? 'boolean' : 'number'
  }

  get mixed(): Omit<MixedColumn, 'metric'> | undefined {
    return this.type === 'text' && this.#isNumeric ? this.#odd : undefined
  }
}

export class ColumnTypes {
  readonly #columns = new Map<string, ColumnLook>()
  readonly #declared = new Set<string>()

  addDeclared(metric: string): void {
    this.#declared.add(metric)
  }

  has(metric: string): boolean {
    return this.#declared.has(metric)
  }

  get names(): readonly string[] {
    return [...this.#declared, ...this.#columns.keys()]
  }

  /** Returns undefined above the limit of metrics. */
  of(metric: string): ColumnLook | undefined {
    let look = this.#columns.get(metric)
    if (look === undefined && this.#columns.size < MAX_METRICS) this.#columns.set(metric, (look = new ColumnLook()))
    return look
  }

  get types(): ReadonlyMap<string, ValueType> {
    return new Map([...this.#columns].map(([metric, { type }]) => [metric, type]))
  }

  get mixed(): readonly MixedColumn[] {
    return [...this.#columns].flatMap(([metric, { mixed }]) => (mixed === undefined ? [] : [{ metric, ...mixed }]))
  }
}
