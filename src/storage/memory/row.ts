/** Rows of tables in memory. */
import type { Stored } from '../contract.ts'
import type { FieldValue } from '../spec.ts'

/** A document in memory: one mutable object per id, which its owner changes in place. */
export interface Row {
  readonly id: string
  version: number
  /** the document as JSON: parsing it makes a copy */
  text: string
  /** by index of the field */
  fields: readonly FieldValue[]
}

/** As callers receive it, with a copy of the document. */
export function storedOf<D extends object>(row: Row): Stored<D> {
  // put and read by the collection's type
  return { id: row.id, version: row.version, value: JSON.parse(row.text) as D }
}
