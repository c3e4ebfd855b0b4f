/** Inserts many rows with few statements: most of a statement's cost is not its rows'. */
import type { Database, SqlValue } from './database.ts'

/** rows of one statement, the largest first */
const SIZES = [64, 16, 4, 1] as const

export class InsertRows {
  readonly #db: Database
  readonly #width: number
  readonly #statements: readonly (readonly [rows: number, sql: string])[]

  /** `insert`: the statement up to `VALUES`; `width`: its columns; `rest`: what follows its rows. */
  constructor(db: Database, insert: string, width: number, rest = '') {
    const row = `(${Array.from({ length: width }, () => '?').join(', ')})`
    this.#db = db
    this.#width = width
    this.#statements = SIZES.map((rows) => {
      const list = Array.from({ length: rows }, () => row).join(', ')
      return [rows, `${insert} ${list} ${rest}`]
    })
  }

  /** `values`: those of all rows, one row after the other. They are written in that order. */
  run(values: readonly SqlValue[]): void {
    let at = 0
    for (const [rows, sql] of this.#statements) {
      const step = rows * this.#width
      for (; at + step <= values.length; at += step) this.#db.run(sql, ...values.slice(at, at + step))
    }
  }
}
