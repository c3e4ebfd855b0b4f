/** Defines the rows of tables in memory. */
import type { Stored } from '../contract.ts'
import type { FieldValue } from '../spec.ts'

/** A document in memory. Each id has one mutable object, which the table changes in place. */
export interface Row {
  readonly id: string
  version: number
  /** the document as JSON; parsing it makes a copy */
  text: string
  /** values by index of the field */
  fields: readonly FieldValue[]
}

/** Returns a row as callers receive it, with a copy of the document. */
export function storedOf<D extends object>(row: Row): Stored<D> {
  // the collection's type applies to both writing and reading
  return { id: row.id, version: row.version, value: JSON.parse(row.text) as D }
}
