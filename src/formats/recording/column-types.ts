/** Finds what the columns of a CSV are: numbers where each cell is one, true and false likewise, else texts. */
import { kindOf, looksNumeric, type CellKind } from './csv-cells.ts'
import type { ValueType } from './value-types.ts'

/** metrics of one file */
export const MAX_METRICS = 10_000

/** A column of texts that has numbers among them. */
export interface MixedColumn {
  readonly metric: string
  /** the first cell that is no number, as it stands; and where it is */
  readonly cell: string
  readonly line: number
}

const MAX_SHOWN = 60

/** For people: why it is a column of texts, and how it would be one of numbers. */
export function mixedText({ metric, cell }: MixedColumn): string {
  const shown = JSON.stringify(cell.length > MAX_SHOWN ? `${cell.slice(0, MAX_SHOWN)}...` : cell)
  return `${metric} is read as text, because ${shown} is not a plain decimal; --types ${metric}=number reads numbers`
}

/** What a cell says of its column. */
export interface CellLook {
  readonly cell: string
  readonly kind: CellKind
  /** somebody may have meant a number */
  readonly isNumeric: boolean
}

export function lookAt(cell: string): CellLook {
  const kind = kindOf(cell)
  return { cell, kind, isNumeric: kind === 'number' || (kind === 'text' && looksNumeric(cell)) }
}

/** What the cells of one column have said so far. */
export class ColumnLook {
  #hasNumber = false
  #hasBoolean = false
  #hasText = false
  #isNumeric = false
  /** the first cell that is no number */
  #odd: { readonly cell: string; readonly line: number } | undefined

  /** Whether no cell can change anything any more. */
  get isDecided(): boolean {
    return this.#isNumeric && this.#odd !== undefined && this.type === 'text'
  }

  /** As `take` of a plain decimal. */
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

  /** Undefined where nobody can have meant numbers. */
  get mixed(): Omit<MixedColumn, 'metric'> | undefined {
    return this.type === 'text' && this.#isNumeric ? this.#odd : undefined
  }
}

/** The columns of a file, by the names of their metrics. */
export class ColumnTypes {
  readonly #columns = new Map<string, ColumnLook>()
  readonly #given = new Set<string>()

  /** A metric whose type was given is in the file. */
  sawGiven(metric: string): void {
    this.#given.add(metric)
  }

  has(metric: string): boolean {
    return this.#given.has(metric)
  }

  get names(): readonly string[] {
    return [...this.#given, ...this.#columns.keys()]
  }

  /** Undefined: there are more metrics than are told apart. */
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
