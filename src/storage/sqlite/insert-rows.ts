/** Inserts many rows with few statements, since a statement's cost depends little on its number of rows. */
import type { Database, SqlValue } from './database.ts'

/** numbers of rows per statement, largest first */
const SIZES = [64, 16, 4, 1] as const
export const MAX_ROWS = SIZES[0]

interface Insert {
  readonly rows: number
  readonly sql: string
  /** parameters of all rows; the array is reused */
  readonly values: SqlValue[]
}

export class InsertRows {
  readonly #db: Database
  readonly #width: number
  readonly #inserts: readonly Insert[]

  /** `insert`: the statement up to `VALUES`; `width`: its number of columns; `rest`: the text after the rows. */
  constructor(db: Database, insert: string, width: number, rest = '') {
    const row = `(${Array.from({ length: width }, () => '?').join(', ')})`
    this.#db = db
    this.#width = width
    this.#inserts = SIZES.map((rows) => {
      const list = Array.from({ length: rows }, () => row).join(', ')
      return { rows, sql: `${insert} ${list} ${rest}`, values: Array.from({ length: rows * width }, () => null) }
    })
  }

  /** Inserts `count` rows. `fill` writes the values of a row into `values`, starting at `at`. */
  run(count: number, fill: (row: number, values: SqlValue[], at: number) => void): void {
    let row = 0
    for (const { rows, sql, values } of this.#inserts) {
      for (; row + rows <= count; row += rows) {
        for (let i = 0; i < rows; i += 1) fill(row + i, values, i * this.#width)
        this.#db.run(sql, ...values)
      }
      // release long texts
      values.fill(null)
    }
  }
}
