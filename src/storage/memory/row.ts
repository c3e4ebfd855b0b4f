/** A document as it lies in memory. */
import type { Stored } from '../contract.ts'
import type { FieldValue } from '../spec.ts'

/** A document as it lies in memory. One object an id for as long as the id is there; its owner changes it in place. */
export interface Row {
  readonly id: string
  version: number
  /** the document as JSON: a copy is made by parsing */
  text: string
  /** by the index of the field */
  fields: readonly FieldValue[]
}

/** The same for whoever asked, with a copy of the document. */
export function storedOf<D extends object>(row: Row): Stored<D> {
  // What was put under the collection's type is read under it
  return { id: row.id, version: row.version, value: JSON.parse(row.text) as D }
}
