/** Lets go of what expired, in slices, so that nothing is locked for long. */
import type { Database } from './database.ts'

/** Samples or messages that one statement deletes. */
const SLICE = 5_000

export class SeriesExpiry {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  /** How many samples and messages went. */
  async expire(tenant: string, now: number): Promise<number> {
    const { schema } = this.#database
    const samples = await this.#inSlices(
      `delete from ${schema}.samples as s using (
         select s.series, s.time from ${schema}.samples as s join ${schema}.series as n on n.series = s.series
         where n.tenant = $1 and s.expires <= $2 limit ${SLICE} for update of s skip locked) as gone
       where s.series = gone.series and s.time = gone.time`,
      [tenant, now],
    )
    const messages = await this.#inSlices(
      `delete from ${schema}.messages as m using (
         select arrival from ${schema}.messages where tenant = $1 and expires <= $2
         limit ${SLICE} for update skip locked) as gone
       where m.arrival = gone.arrival`,
      [tenant, now],
    )
    return samples + messages
  }

  async #inSlices(text: string, values: unknown[]): Promise<number> {
    let total = 0
    for (;;) {
      const { count } = await this.#database.query({ text, values })
      total += count
      if (count < SLICE) return total
    }
  }
}
